#include "engine/inline/remote_caller.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "sonictrace/arch/syscall_names.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/remote_call.hpp"

namespace sonictrace {

RemoteCaller::~RemoteCaller() {
  if (!has_called_ || !tracee_) return;
  // The thread is in a syscall-exit-stop, and the kernel looks for a system call to restart only
  // when there is a signal to be dealt with (arch/x86/kernel/signal.c, arch_do_signal_or_restart).
  // An interrupt gives it one: the thread stops once more before it runs any code.
  const pid_t tid = tracee_->tid();
  if (!interrupt(tid)) return;        // it is being killed
  (void)std::move(*tracee_).resume(); // where that fails, its Exit comes
  tracee_.reset();
  if (auto next = StoppedTracee::wait(tid))
    keep(*std::move(next));
  else
    killed_ = Exit{tid, {StopKind::Killed, SIGKILL}, monotonic_ns()};
}

void RemoteCaller::keep(StoppedTracee::Outcome outcome) {
  tracee_.reset();
  if (auto* stopped = std::get_if<StoppedTracee>(&outcome))
    tracee_.emplace(std::move(*stopped));
  else
    killed_ = std::get<Exit>(outcome);
}

Result<void> RemoteCaller::prepare(long number, const std::array<std::uint64_t, 6>& arguments) {
  if (!tracee_) return Error(std::errc::no_such_process, fmt::format("process {}", space_->pid()));
  const pid_t tid = tracee_->tid();
  if (!has_called_) {
    const Stop stop = tracee_->stop();
    if (stop != Stop{StopKind::SignalDelivery, SIGTRAP} &&
        stop != Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP})
      return Error(
          std::errc::device_or_resource_busy,
          fmt::format("thread {} can make no system call for us: {}", tid, to_string(stop.kind)));
  }
  if (!instruction_) {
    auto found = find_syscall_instruction(tid, space_->memory());
    if (!found) return std::move(found).error();
    instruction_ = *found;
  }
  if (!is_filtered_) return {};
  if (const auto status = read_task_status(tid); status && status->seccomp == 0) {
    is_filtered_ = false; // and nobody else can give a stopped thread a filter but SECCOMP_TSYNC
    return {};
  }
  if (may_call(tid, number, arguments, *instruction_)) return {};
  return Error(std::errc::operation_not_permitted,
               fmt::format("process {} has a seccomp filter that refuses {}, or can't be read",
                           space_->pid(),
                           syscall_name(Machine::X86_64, static_cast<std::uint64_t>(number))));
}

Result<std::uint64_t> RemoteCaller::call(long number,
                                         const std::array<std::uint64_t, 6>& arguments) {
  if (auto ready = prepare(number, arguments); !ready) return std::move(ready).error();
  has_called_ = true;
  auto outcome = remote_call(std::move(*tracee_), *instruction_, number, arguments);
  keep(std::move(outcome.tracee));
  if (outcome.value) return *outcome.value;
  return Error(outcome.value.error().code(),
               fmt::format("{} in process {}",
                           syscall_name(Machine::X86_64, static_cast<std::uint64_t>(number)),
                           space_->pid()));
}

Result<TraceeAddress> RemoteCaller::map(TraceeAddress at, std::size_t size, int protection,
                                        int flags) {
  auto mapped =
      call(SYS_mmap, {at.value(), size, static_cast<std::uint64_t>(protection),
                      static_cast<std::uint64_t>(flags | MAP_ANONYMOUS), ~std::uint64_t{0}, 0});
  if (!mapped) return std::move(mapped).error();
  return TraceeAddress(*mapped);
}

} // namespace sonictrace
