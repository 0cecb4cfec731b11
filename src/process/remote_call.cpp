#include "sonictrace/process/remote_call.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <vector>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/signal_mask.hpp"

namespace sonictrace {
namespace {

/// Runs to the end of one system call: two stops, at its entry and at its exit. Not by a single
/// step: its trap is a forced signal, and would reset the program's own disposition of SIGTRAP.
/// SIGSTOP cannot be blocked and may come in between: it is sent again when we are done.
StoppedTracee::Outcome run_call(StoppedTracee tracee, bool& stop_signal_seen) {
  const pid_t tid = tracee.tid();
  for (int syscall_stops = 0; syscall_stops < 2;) {
    auto next = std::move(tracee).run_to_syscall();
    // Gone without an exit of its own: another thread's exec ended it (ptrace(2)).
    if (!next) return Exit{tid, {StopKind::Killed, SIGKILL}, monotonic_ns()};
    if (std::holds_alternative<Exit>(*next)) return *std::move(next);
    tracee = std::get<StoppedTracee>(std::move(*next));
    if (tracee.stop().kind == StopKind::Syscall) ++syscall_stops;
    // Also where another thread took the signal: the group-stop that we leave here is begun again.
    if (tracee.stop().kind == StopKind::Group ||
        tracee.stop() == Stop{StopKind::SignalDelivery, SIGSTOP})
      stop_signal_seen = true;
  }
  return tracee;
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
  bool stop_signal_seen = false;
  if (auto prepared = tracee.set_registers(call); !prepared) {
    (void)set_signal_mask(tid, *mask);
    return {std::move(tracee), std::move(prepared).error()};
  }
  auto after = run_call(std::move(tracee), stop_signal_seen);
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
    (void)set_signal_mask(tid, *mask);
    if (stop_signal_seen) ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  return {std::move(after), std::move(value)};
}

} // namespace sonictrace
