#include "cli/conclude.hpp"

#include <sys/resource.h>
#include <sys/time.h>

#include <csignal>
#include <cstdlib>

namespace sonictrace {
namespace {

/// While it lives, a write that waits is interrupted: after a moment, and again and again, as there
/// may be several.
class ShortPatience {
public:
  ShortPatience() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval soon = {{0, 500'000}, {2, 0}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
  }
  ~ShortPatience() {
    const itimerval never = {};
    ::setitimer(ITIMER_REAL, &never, nullptr);
  }
  ShortPatience(const ShortPatience&) = delete;
  ShortPatience& operator=(const ShortPatience&) = delete;
};

} // namespace

Result<void> finish_log(Sink& sink, const SessionEnd& end) {
  if (!end.in_haste) return sink.finish(end.summary);
  const ShortPatience patience;
  return sink.finish(end.summary);
}

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
