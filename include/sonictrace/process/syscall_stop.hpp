#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <variant>

#include "sonictrace/arch/machine.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// A system call is about to be made.
struct SyscallEntry {
  Machine machine = Machine::X86_64; ///< whose number it is: I386 for `int 0x80`
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> arguments{}; ///< of i386 32 bits each
  TraceeAddress at;                         ///< behind its instruction
};

/// A system call ends.
struct SyscallExit {
  std::int64_t result =
      0; ///< -4095..-1: an error, also those that programs never see (ERESTARTSYS)
};

using SyscallStop = std::variant<SyscallEntry, SyscallExit>;

/// What the kernel says of a syscall-stop (ptrace(2), PTRACE_GET_SYSCALL_INFO): nobody has to count
/// entries and exits, and get out of step.
/// Fails with not_supported on kernels before 5.3, with invalid_argument for another kind of stop.
Result<SyscallStop> read_syscall_stop(pid_t tid);

} // namespace sonictrace
