#include "engine/inline/remote_caller.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "sonictrace/arch/syscall_names.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {

RemoteCaller::~RemoteCaller() {
  if (!calls_) return;
  // Always into a stop by interrupt: a system call that was interrupted is looked for only behind
  // such a one.
  auto outcome = std::move(*calls_).end(true);
  if (auto* stopped = std::get_if<StoppedTracee>(&outcome))
    tracee_.emplace(std::move(*stopped));
  else
    killed_ = std::get<Exit>(outcome);
}

pid_t RemoteCaller::tid() const {
  if (calls_) return calls_->killed() ? 0 : calls_->tid();
  return tracee_ ? tracee_->tid() : 0;
}

Result<void> RemoteCaller::prepare(long number, const std::array<std::uint64_t, 6>& arguments) {
  const pid_t tid = this->tid();
  if (tid == 0) return Error(std::errc::no_such_process, fmt::format("process {}", space_->pid()));
  if (!calls_) {
    const Stop stop = tracee_->stop();
    if (stop != Stop{StopKind::SignalDelivery, SIGTRAP} &&
        stop != Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP})
      return Error(
          std::errc::device_or_resource_busy,
          fmt::format("thread {} can make no system call for us: {}", tid, to_string(stop.kind)));
  }
  if (!code_) {
    auto found = find_calling_code(tid, space_->memory());
    if (!found) return std::move(found).error();
    code_ = *found;
  }
  if (!is_filtered_) return {};
  if (const auto status = read_task_status(tid); status && status->seccomp == 0) {
    is_filtered_ = false; // and nobody else can give a stopped thread a filter but SECCOMP_TSYNC
    return {};
  }
  if (may_call(tid, number, arguments, code_->at)) return {};
  return Error(std::errc::operation_not_permitted,
               fmt::format("process {} has a seccomp filter that refuses {}, or can't be read",
                           space_->pid(),
                           syscall_name(Machine::X86_64, static_cast<std::uint64_t>(number))));
}

Result<std::uint64_t> RemoteCaller::call(long number,
                                         const std::array<std::uint64_t, 6>& arguments) {
  if (auto ready = prepare(number, arguments); !ready) return std::move(ready).error();
  if (!calls_) {
    calls_.emplace(*std::move(tracee_), *space_, *code_);
    tracee_.reset();
  }
  const auto value = calls_->call(number, arguments);
  if (calls_->killed()) killed_ = calls_->killed();
  if (value) return *value;
  return Error(value.error().code(),
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
