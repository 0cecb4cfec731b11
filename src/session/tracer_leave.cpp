// The end of tracing, with tracees alive.

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include <ctime>
#include <set>

#include "session/tracer.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/forced_release.hpp"
#include "sonictrace/process/syscall_restart.hpp"

namespace sonictrace {

void Tracer::leave_all(std::string reason) {
  if (ending_) return;
  ending_ = true;
  reason_ = std::move(reason);
  std::optional<Gathering> quiet;
  const bool is_quiet = context_.engine.wants_quiet_threads() && gather_all(quiet);
  leaving_ = true;
  std::set<const AddressSpace*> spaces;
  for (const pid_t tid : tracees_.tids()) {
    const auto& process = *tracees_.find(tid)->process;
    if (process.space && spaces.insert(process.space.get()).second)
      context_.engine.remove(*process.space, is_quiet);
  }
  quiet.reset();
  // Each is let go at its next stop, whichever that is.
  for (const pid_t tid : tracees_.tids())
    (void)interrupt(tid);
}

/// Stops all threads, where none is in code of the engine's if that can be had: the first time that
/// they stand, what leads there is taken out; then they get some moments to leave it.
bool Tracer::gather_all(std::optional<Gathering>& quiet) {
  for (int trial = 1;; ++trial) {
    quiet.emplace(
        Gathering::Work{queue_, [this] { return tracees_.tids(); },
                        [this](StoppedTracee::Outcome outcome) { dispatch(std::move(outcome)); }});
    if (!quiet->gather()) return false;
    if (!withdraw_all() || trial == kTrials) return true;
    quiet.reset();
    answer_queue();
    pause_between(trial);
  }
}

void Tracer::pause_between(int trial) {
  const timespec moment = {0, trial * 1'000'000L};
  ::nanosleep(&moment, nullptr);
}

bool Tracer::withdraw_all() {
  std::set<const AddressSpace*> spaces;
  bool is_anyone_inside = false;
  for (const pid_t tid : tracees_.tids()) {
    const auto& process = *tracees_.find(tid)->process;
    if (process.space && spaces.insert(process.space.get()).second)
      is_anyone_inside |= context_.engine.withdraw(*process.space);
  }
  return is_anyone_inside;
}

/// Children whose parents were killed before they could tell of them: nobody will claim these.
void Tracer::let_orphans_go() {
  for (auto& [tid, tracee] : unclaimed_)
    (void)std::move(tracee).detach();
  unclaimed_.clear();
}

void Tracer::leave_now() {
  leave_all({});
  answer_queue();
  while (!tracees_.empty()) {
    auto outcome = StoppedTracee::wait(-1);
    if (!outcome) break;
    dispatch(*std::move(outcome));
    answer_queue();
  }
  let_orphans_go();
}

std::string Tracer::why_nothing() const {
  if (!context_.window.has_begun)
    return fmt::format("no call was made that --start-on={} selects", options_.start_on);
  if (options_.system_calls) return "no system call was made";
  if (context_.probes > 0)
    return fmt::format("{} probes were in place, and none was hit", context_.probes);
  if (saw_static_program_)
    return "a static program makes no calls into shared libraries; -x NAME traces its own "
           "functions";
  if (!context_.selectors.uses_default())
    return "no function matches the selectors; --explain shows what there is";
  return "the program ended before it made a call, or makes none through its PLT or GOT";
}

/// Lets one thread go for good.
void Tracer::leave(StoppedTracee tracee, TraceeThread& thread) {
  const Stop stop = tracee.stop();
  if (stop.kind == StopKind::PtraceEvent) {
    // A child that is born now would stay attached to a tracer that does not expect it any more.
    const bool birth = stop.detail == PTRACE_EVENT_CLONE || stop.detail == PTRACE_EVENT_FORK ||
                       stop.detail == PTRACE_EVENT_VFORK;
    if (birth) handle_birth(tracee, thread);
  }
  const auto settled = context_.engine.settle(tracee);
  if (settled == Settled::NotYet) {
    (void)std::move(tracee).resume();
    return;
  }
  const pid_t tid = tracee.tid();
  int signal = 0;
  if (stop.kind == StopKind::SignalDelivery && settled == Settled::Leave) signal = stop.detail;
  // In a group-stop the signal has been delivered; detaching with it keeps the process stopped.
  if (stop.kind == StopKind::Group) signal = stop.detail;
  // A handler that runs next has interrupted the system call by right.
  const bool goes_on = signal == 0 ? !has_handler_to_run(tid) : is_ignored(tid, signal);
  if (signal == 0 && goes_on)
    if (auto registers = tracee.registers())
      if (restart_interrupted_call(*registers)) (void)tracee.set_registers(*registers);
  context_.engine.settle_system_call(tid, goes_on);
  (void)std::move(tracee).detach(signal);
  forget(tid);
}

void Tracer::abandon() {
  const auto tids = tracees_.tids();
  const ForcedRelease forced(tids);
  std::set<const AddressSpace*> spaces;
  for (const pid_t tid : tids) {
    const auto& process = *tracees_.find(tid)->process;
    if (process.space && spaces.insert(process.space.get()).second)
      context_.engine.remove(*process.space, forced.is_quiet());
  }
  forced.release([&](pid_t tid, std::uint64_t pc) {
    return context_.engine.place_in_program(tid, TraceeAddress(pc)).value();
  });
}

} // namespace sonictrace
