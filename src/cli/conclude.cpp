#include "cli/conclude.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

namespace sonictrace {

void conclude(const SessionEnd& end, bool failed) {
  if (failed) std::exit(1);
  if (end.killed_by) {
    // The command has left its core already; one of ours would only overwrite it.
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(*end.killed_by, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, *end.killed_by);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    std::raise(*end.killed_by);
    std::exit(128 + *end.killed_by); // a signal that does not kill by default
  }
  std::exit(end.exit_status.value_or(0));
}

} // namespace sonictrace
