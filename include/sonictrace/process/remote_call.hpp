#pragma once

#include <array>
#include <cstdint>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/stopped_tracee.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// A `syscall` instruction in the tracee's memory (in the vdso, the dynamic linker or the program).
Result<TraceeAddress> find_syscall_instruction(pid_t pid, const TraceeMemory& memory);

/// A tracee after a remote call: the token of its new stop (or its Exit: it was killed meanwhile),
/// and the call's outcome.
struct RemoteCallOutcome {
  StoppedTracee::Outcome tracee;
  Result<std::uint64_t> value; ///< or the error that the system call returned
};

/// Makes a stopped tracee execute one system call and puts everything back: registers, memory of
/// the signal mask. Every signal is blocked meanwhile, so none is taken or lost. For the stop of a
/// breakpoint (or another signal-delivery-stop outside of system calls), and for the stops that
/// PTRACE_INTERRUPT makes, group-stops included: behind the call the thread is in such a stop
/// again, and a system call that it was interrupted in goes on from there as it would have. Not for
/// the stops of PTRACE_EVENT_EXEC, _FORK and _CLONE: there the kernel writes the running system
/// call's result into rax after our call was prepared (arch/x86/entry/common.c).
RemoteCallOutcome remote_call(StoppedTracee tracee, TraceeAddress syscall_instruction, long number,
                              const std::array<std::uint64_t, 6>& arguments);

/// Whether a seccomp filter would let the tracee make this call unharmed. False also where that
/// cannot be told (no CAP_SYS_ADMIN to read the filter): a refused call could kill the process.
bool may_call(pid_t tid, long number, const std::array<std::uint64_t, 6>& arguments,
              TraceeAddress syscall_instruction);

} // namespace sonictrace
