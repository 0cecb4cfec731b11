#include "sink/signal_text.hpp"

#include <csignal>
#include <cstring>
#include <iterator>

namespace sonictrace {
namespace {

/// Signals 1 to 31 of Linux on x86-64 (signal(7)). glibc's sigabbrev_np says POLL for SIGIO.
constexpr const char* kNames[] = {
    nullptr,     "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

} // namespace

std::string signal_name(int signal, bool ltrace) {
  if (signal > 0 && signal < static_cast<int>(std::size(kNames))) return kNames[signal];
  if (ltrace) return "UNKNOWN_SIGNAL";
  // The two that the C library keeps for itself lie below SIGRTMIN.
  if (signal < SIGRTMIN || signal > SIGRTMAX) return "SIG" + std::to_string(signal);
  const int offset = signal - SIGRTMIN;
  return offset == 0 ? "SIGRTMIN" : "SIGRTMIN+" + std::to_string(offset);
}

std::string signal_description(int signal) {
  const char* const text = ::strsignal(signal);
  return text != nullptr ? text : "Unknown signal";
}

} // namespace sonictrace
