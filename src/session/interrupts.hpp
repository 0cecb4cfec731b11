#pragma once

#include <csignal>

namespace sonictrace {

/// What reached the tracer itself since the last look.
struct Interrupts {
  bool interrupt = false; ///< SIGINT, SIGQUIT
  bool terminate = false; ///< SIGTERM, SIGHUP
  int signal = 0;         ///< the last of these
  bool tick = false;
};

/// While it lives, the tracer's own signals interrupt waitpid(2) (no SA_RESTART) and are noted, and
/// a timer does the same ten times a second: a signal that comes just before the wait begins is then
/// seen a tenth of a second later, not lost. SIGPIPE is ignored: a closed pipe is an error of write.
/// SIGCHLD has its default.
class InterruptWatch {
public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  Interrupts take();

private:
  struct Old {
    int signal;
    struct sigaction action;
  };
  Old old_[7];
};

} // namespace sonictrace
