// What a seccomp filter would say to a system call that we want the tracee to make: its programs
// are read (PTRACE_SECCOMP_GET_FILTER, ptrace(2)) and run here, as the kernel would run them
// (seccomp(2), Documentation/networking/filter.rst).

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ptrace.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "process/seccomp_program.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/remote_call.hpp"

namespace sonictrace {

std::uint32_t run_seccomp_program(std::span<const sock_filter> program, const seccomp_data& data) {
  std::array<std::uint32_t, BPF_MEMWORDS> scratch{};
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& op = program[at];
    const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? x : op.k;
    switch (BPF_CLASS(op.code)) {
      case BPF_RET: return BPF_RVAL(op.code) == BPF_A ? a : op.k;
      case BPF_LD:
        if (BPF_MODE(op.code) == BPF_IMM) a = op.k;
        else if (BPF_MODE(op.code) == BPF_LEN) a = sizeof data;
        else if (BPF_MODE(op.code) == BPF_MEM && op.k < BPF_MEMWORDS) a = scratch[op.k];
        else if (BPF_MODE(op.code) == BPF_ABS && op.k <= sizeof data - 4)
          std::memcpy(&a, reinterpret_cast<const char*>(&data) + op.k, 4);
        else return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_LDX:
        if (BPF_MODE(op.code) == BPF_IMM) x = op.k;
        else if (BPF_MODE(op.code) == BPF_LEN) x = sizeof data;
        else if (BPF_MODE(op.code) == BPF_MEM && op.k < BPF_MEMWORDS) x = scratch[op.k];
        else return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_ST:
      case BPF_STX:
        if (op.k >= BPF_MEMWORDS) return SECCOMP_RET_KILL_PROCESS;
        scratch[op.k] = BPF_CLASS(op.code) == BPF_ST ? a : x;
        break;
      case BPF_ALU:
        switch (BPF_OP(op.code)) {
          case BPF_ADD: a += operand; break;
          case BPF_SUB: a -= operand; break;
          case BPF_MUL: a *= operand; break;
          case BPF_DIV:
            if (operand == 0) return SECCOMP_RET_KILL_PROCESS;
            a /= operand;
            break;
          case BPF_AND: a &= operand; break;
          case BPF_OR: a |= operand; break;
          case BPF_XOR: a ^= operand; break;
          case BPF_LSH: a = operand < 32 ? a << operand : 0; break;
          case BPF_RSH: a = operand < 32 ? a >> operand : 0; break;
          case BPF_NEG: a = 0U - a; break;
          default: return SECCOMP_RET_KILL_PROCESS;
        }
        break;
      case BPF_JMP: {
        if (BPF_OP(op.code) == BPF_JA) {
          at += op.k;
          break;
        }
        bool taken = false;
        switch (BPF_OP(op.code)) {
          case BPF_JEQ: taken = a == operand; break;
          case BPF_JGT: taken = a > operand; break;
          case BPF_JGE: taken = a >= operand; break;
          case BPF_JSET: taken = (a & operand) != 0; break;
          default: return SECCOMP_RET_KILL_PROCESS;
        }
        at += taken ? op.jt : op.jf;
        break;
      }
      case BPF_MISC:
        if (BPF_MISCOP(op.code) == BPF_TAX) x = a;
        else a = x;
        break;
      default: return SECCOMP_RET_KILL_PROCESS;
    }
  }
  return SECCOMP_RET_KILL_PROCESS; // fell off its end: the kernel would not have loaded it
}

bool may_call(pid_t tid, long number, const std::array<std::uint64_t, 6>& arguments,
              TraceeAddress syscall_instruction) {
  const auto status = read_task_status(tid);
  if (!status || status->seccomp == 1) return false;
  if (status->seccomp == 0) return true;

  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = AUDIT_ARCH_X86_64;
  data.instruction_pointer = syscall_instruction.value() + 2; // behind the instruction
  for (std::size_t i = 0; i < arguments.size(); ++i)
    data.args[i] = arguments[i];
  constexpr int kGetFilter = 0x420c;
  for (unsigned long index = 0;; ++index) {
    const auto request = static_cast<__ptrace_request>(kGetFilter);
    const long length = ::ptrace(request, tid, index, nullptr);
    if (length < 0) return errno == ENOENT && index > 0; // ENOENT: that was the last one
    std::vector<sock_filter> program(static_cast<std::size_t>(length));
    if (::ptrace(request, tid, index, program.data()) < 0) return false;
    const auto verdict = run_seccomp_program(program, data) & SECCOMP_RET_ACTION_FULL;
    // The strictest verdict of all filters counts, so every one must allow it.
    if (verdict != SECCOMP_RET_ALLOW && verdict != SECCOMP_RET_LOG) return false;
  }
}

} // namespace sonictrace
