#include "sonictrace/process/syscall_stop.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <iterator>

namespace sonictrace {

Result<SyscallStop> read_syscall_stop(pid_t tid) {
  __ptrace_syscall_info info;
  const long size = ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info);
  if (size < 0) {
    // An unknown request.
    if (errno == EIO) return Error(std::errc::not_supported, "PTRACE_GET_SYSCALL_INFO");
    return Error::from_errno(fmt::format("PTRACE_GET_SYSCALL_INFO of {}", tid));
  }
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) return SyscallStop(SyscallExit{info.exit.rval});
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
    return Error(std::errc::invalid_argument, fmt::format("thread {} is in no system call", tid));

  SyscallEntry entry;
  entry.machine = info.arch == AUDIT_ARCH_I386 ? Machine::I386 : Machine::X86_64;
  entry.number = info.entry.nr;
  // The kernel's `int`: of -1 it would give 64 bits.
  if (entry.machine == Machine::I386) entry.number &= 0xffff'ffff;
  std::copy(std::begin(info.entry.args), std::end(info.entry.args), entry.arguments.begin());
  entry.at = TraceeAddress(info.instruction_pointer);
  return SyscallStop(entry);
}

} // namespace sonictrace
