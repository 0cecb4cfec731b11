#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>

namespace sonictrace {

/// Moves the tracer's thread to the core on which its tracee runs: a stop then costs a context switch
/// on one warm core (5 to 8 us) instead of waking another one (12 to 50 us). Only while one thread makes
/// most stops; the tracees' own affinity is never touched. It pays where the other cores have work: an
/// idle one draws the tracee away each time that it is let go, and then this makes no difference.
class CoreFollower {
public:
  CoreFollower();
  ~CoreFollower(); ///< gives the tracer its own affinity back

  /// To be told of each stop; looks where the tracee is now and then.
  void saw_stop(pid_t tid);

  CoreFollower(const CoreFollower&) = delete;
  CoreFollower& operator=(const CoreFollower&) = delete;

private:
  void decide(pid_t tid);
  void release();

  cpu_set_t own_;       ///< where this thread may run by right
  bool usable_ = false; ///< more than one core to choose from
  int pinned_to_ = -1;
  pid_t candidate_ = 0; ///< by the majority vote of Boyer and Moore
  int votes_ = 0;
  std::uint32_t stops_ = 0;
};

} // namespace sonictrace
