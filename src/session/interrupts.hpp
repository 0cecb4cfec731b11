#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonictrace {

/// What reached the tracer itself since the last look.
struct Interrupts {
  std::uint64_t signals = 0; ///< bit N-1: signal N, of which there was one at least
  bool tick = false;

  bool has(int signal) const { return (signals >> (signal - 1) & 1) != 0; }
  bool interrupt() const { return has(SIGINT) || has(SIGQUIT); }
  /// SIGTERM, SIGHUP and others that end a process.
  std::vector<int> terminating() const;
};

/// While it lives, the tracer's own signals interrupt waitpid(2) (no SA_RESTART) and are noted, and
/// a timer does the same ten times a second: a signal that comes just before the wait begins is
/// then seen a tenth of a second later, not lost. SIGPIPE and SIGXFSZ are ignored: a closed pipe
/// and a log too large are errors of write. SIGCHLD has its default.
class InterruptWatch {
public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  Interrupts take();

  static constexpr std::size_t kSignals = 11;

private:
  struct Old {
    int signal;
    struct sigaction action;
  };
  Old old_[kSignals];
};

} // namespace sonictrace
