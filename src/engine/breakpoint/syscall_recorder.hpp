#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/breakpoint/call_recorder.hpp"
#include "engine/breakpoint/traced_thread.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// Records the system calls that syscall-stops show, one inside the innermost open call of its
/// thread.
///
/// A call that ends with an error which the program may never see (ERESTARTSYS and its like, and an
/// EINTR) is not over yet: a stop of ours may have woken it, and it will be made again, unseen. Its
/// end is recorded when a signal follows, or anything but the same call.
class SyscallRecorder {
public:
  SyscallRecorder(CallRecorder& calls, bool ltrace_names)
      : calls_(calls), ltrace_names_(ltrace_names) {}

  /// A stop of kind Syscall; the thread is to be resumed behind it.
  void see(const StoppedTracee& tracee, TracedThread& thread);
  /// One that the thread is let go from for good: no call begins any more, but one may end.
  void see_last(const StoppedTracee& tracee, TracedThread& thread);
  /// The thread does something else now: a call that was about to end has ended.
  void settle(TracedThread& thread);
  /// The thread is gone: likewise, but for a call that goes on without us.
  void settle_last(TracedThread& thread) {
    if (thread.syscall && thread.syscall->end && !thread.syscall->end->begins_anew) settle(thread);
  }
  /// The tracer makes the interrupted call again, which was about to end with EINTR.
  void begin_anew(TracedThread& thread);

private:
  void enter(const StoppedTracee& tracee, TracedThread& thread, const SyscallEntry& entry);
  void leave(const StoppedTracee& tracee, TracedThread& thread, const SyscallExit& exit);
  void see_mask(const StoppedTracee& tracee, TracedThread& thread);
  FunctionId function_of(Machine machine, std::uint64_t number);
  FunctionId intern(Machine machine, std::uint64_t number);

  CallRecorder& calls_;
  bool ltrace_names_;
  std::vector<FunctionId> usual_; ///< of x86-64, by number; kNone: not seen yet
  std::map<std::pair<Machine, std::uint64_t>, FunctionId> others_;
};

} // namespace sonictrace
