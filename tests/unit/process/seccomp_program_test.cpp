#include "process/seccomp_program.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>

#include <cstddef>
#include <vector>

namespace sonictrace {
namespace {

seccomp_data call(int number, std::uint64_t argument0 = 0) {
  seccomp_data data{};
  data.nr = number;
  data.arch = AUDIT_ARCH_X86_64;
  data.args[0] = argument0;
  return data;
}

const sock_filter kLoadNumber = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
const sock_filter kAllow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
const sock_filter kKill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);

TEST(SeccompProgram, gives_the_verdict_on_the_number_that_it_names) {
  const std::vector<sock_filter> program = {
      kLoadNumber, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 1), kKill, kAllow};

  EXPECT_EQ(run_seccomp_program(program, call(9)), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run_seccomp_program(program, call(10)), SECCOMP_RET_ALLOW);
}

TEST(SeccompProgram, computes_with_arguments_and_scratch_memory) {
  // Allow where (argument 0 & 7) | 8 is 12, by way of M[3] and X.
  const std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 7),
      BPF_STMT(BPF_ST, 3),
      BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),
      BPF_STMT(BPF_LD | BPF_IMM, 8),
      BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 12, 0, 1),
      kAllow,
      kKill};

  EXPECT_EQ(run_seccomp_program(program, call(0, 0x14)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(run_seccomp_program(program, call(0, 0x13)), SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompProgram, answers_what_the_kernel_would_not_load_with_the_strictest_verdict) {
  const std::vector<sock_filter> beyond = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4096), kAllow};
  const std::vector<sock_filter> divides = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), kAllow};
  const std::vector<sock_filter> falls_off = {kLoadNumber};
  const std::vector<sock_filter> jumps_out = {BPF_STMT(BPF_JMP | BPF_JA, 100), kAllow};

  for (const auto& program : {beyond, divides, falls_off, jumps_out, {}})
    EXPECT_EQ(run_seccomp_program(program, call(1)), SECCOMP_RET_KILL_PROCESS);
}

} // namespace
} // namespace sonictrace
