#include "sonictrace/process/vector_registers.hpp"

#include <sys/ptrace.h>
#include <sys/user.h>

#include <cstring>

namespace sonictrace {

Result<VectorRegisters> VectorRegisters::of(pid_t tid) {
  // The layout of FXSAVE: st0 comes first, whatever the top of the stack is; 16 bytes a register.
  user_fpregs_struct raw;
  if (ptrace(PTRACE_GETFPREGS, tid, nullptr, &raw) != 0) return Error::from_errno("PTRACE_GETFPREGS");
  VectorRegisters registers{};
  for (std::size_t at = 0; at < kArguments; ++at)
    std::memcpy(&registers.low[at], &raw.xmm_space[at * 4], sizeof registers.low[at]);
  std::memcpy(registers.st0.data(), raw.st_space, 10);
  return registers;
}

} // namespace sonictrace
