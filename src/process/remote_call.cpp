#include "sonictrace/process/remote_call.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <algorithm>
#include <vector>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/signal_mask.hpp"

namespace sonictrace {
namespace {

/// What came between: it is to be made good when we are done.
struct Missed {
  bool stop_signal = false; ///< SIGSTOP, which cannot be blocked
  bool group_stop = false;  ///< begun by a signal that another thread took
};

bool is_stop_by_interrupt(const Stop& stop) {
  return stop.kind == StopKind::Group || stop == Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP};
}

/// Gone without an exit of its own: another thread's exec ended it (ptrace(2)).
Exit ended_unseen(pid_t tid) { return {tid, {StopKind::Killed, SIGKILL}, monotonic_ns()}; }

/// Runs to the end of one system call: two stops, at its entry and at its exit. Not by a single
/// step: its trap is a forced signal, and would reset the program's own disposition of SIGTRAP.
StoppedTracee::Outcome run_call(StoppedTracee tracee, Missed& missed) {
  const pid_t tid = tracee.tid();
  for (int syscall_stops = 0; syscall_stops < 2;) {
    auto next = std::move(tracee).run_to_syscall();
    if (!next) return ended_unseen(tid);
    if (std::holds_alternative<Exit>(*next)) return *std::move(next);
    tracee = std::get<StoppedTracee>(std::move(*next));
    if (tracee.stop().kind == StopKind::Syscall) ++syscall_stops;
    if (tracee.stop().kind == StopKind::Group) missed.group_stop = true;
    if (tracee.stop() == Stop{StopKind::SignalDelivery, SIGSTOP}) missed.stop_signal = true;
  }
  return tracee;
}

/// From the stop at a system call's exit into one as PTRACE_INTERRUPT makes them, with no
/// instruction run in between. The kernel looks behind such a stop, and only there, whether the
/// registers are those of a call that is to be restarted (arch/x86/kernel/signal.c,
/// arch_do_signal_or_restart).
StoppedTracee::Outcome run_into_interrupt(StoppedTracee tracee, Missed& missed) {
  const pid_t tid = tracee.tid();
  const bool follows = tracee.follows_system_calls();
  for (;;) {
    (void)interrupt(tid);
    (void)std::move(tracee).resume(); // killed meanwhile: the wait gives its exit
    auto next = StoppedTracee::wait(tid);
    if (!next) return ended_unseen(tid);
    if (std::holds_alternative<Exit>(*next)) return *std::move(next);
    tracee = std::get<StoppedTracee>(std::move(*next));
    if (follows) tracee.follow_system_calls();
    if (is_stop_by_interrupt(tracee.stop())) return tracee;
    if (tracee.stop() == Stop{StopKind::SignalDelivery, SIGSTOP}) missed.stop_signal = true;
  }
}

} // namespace

Result<TraceeAddress> find_syscall_instruction(pid_t pid, const TraceeMemory& memory) {
  auto mappings = read_mappings(pid);
  if (!mappings) return std::move(mappings).error();
  // The vdso is small and always there (unless booted with vdso=0), so it is looked at first.
  std::stable_partition(mappings->begin(), mappings->end(),
                        [](const Mapping& m) { return m.path == "[vdso]"; });
  constexpr std::array kSyscall = {std::byte{0x0f}, std::byte{0x05}};
  std::vector<std::byte> bytes;
  for (const auto& mapping : *mappings) {
    if (!mapping.executable || mapping.path == "[vsyscall]") continue;
    bytes.resize(std::min<std::uint64_t>(mapping.range.size(), std::uint64_t{1} << 22));
    bytes.resize(memory.read_some(mapping.range.begin(), bytes));
    const auto found = std::search(bytes.begin(), bytes.end(), kSyscall.begin(), kSyscall.end());
    if (found != bytes.end()) return mapping.range.begin() + (found - bytes.begin());
  }
  return Error::saying(fmt::format("process {} has no syscall instruction", pid));
}

RemoteCallOutcome remote_call(StoppedTracee tracee, TraceeAddress syscall_instruction, long number,
                              const std::array<std::uint64_t, 6>& arguments) {
  const pid_t tid = tracee.tid();
  const bool was_interrupted = is_stop_by_interrupt(tracee.stop());
  const auto saved = tracee.registers();
  if (!saved) {
    auto error = saved.error();
    return {std::move(tracee), std::move(error)};
  }
  const auto mask = signal_mask(tid);
  if (!mask || !set_signal_mask(tid, ~std::uint64_t{0})) {
    auto error = Error::from_errno(fmt::format("signal mask of {}", tid));
    return {std::move(tracee), std::move(error)};
  }

  Registers call = *saved;
  call.set_pc(syscall_instruction);
  call.raw().rax = static_cast<std::uint64_t>(number);
  call.raw().orig_rax = ~std::uint64_t{0}; // not in a system call: nothing to restart
  call.raw().rdi = arguments[0];
  call.raw().rsi = arguments[1];
  call.raw().rdx = arguments[2];
  call.raw().r10 = arguments[3];
  call.raw().r8 = arguments[4];
  call.raw().r9 = arguments[5];
  Result<std::uint64_t> value = Error(std::errc::no_such_process, fmt::format("thread {}", tid));
  Missed missed;
  if (auto prepared = tracee.set_registers(call); !prepared) {
    (void)set_signal_mask(tid, *mask);
    return {std::move(tracee), std::move(prepared).error()};
  }
  auto after = run_call(std::move(tracee), missed);
  if (auto* stopped = std::get_if<StoppedTracee>(&after)) {
    if (const auto registers = stopped->registers()) {
      const auto result = static_cast<std::int64_t>(registers->result());
      if (result < 0 && result > -4096)
        value =
            Error(static_cast<std::errc>(-result), fmt::format("remote system call {}", number));
      else
        value = registers->result();
    }
    (void)stopped->set_registers(*saved);
    if (was_interrupted) {
      after = run_into_interrupt(std::move(*stopped), missed);
      if (std::holds_alternative<Exit>(after)) return {std::move(after), std::move(value)};
      missed.group_stop = false; // in which it is again, if it lasts
    }
    (void)set_signal_mask(tid, *mask);
    if (missed.stop_signal || missed.group_stop) ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  return {std::move(after), std::move(value)};
}

} // namespace sonictrace
