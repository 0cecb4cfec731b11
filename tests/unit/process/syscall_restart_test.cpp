#include "sonictrace/process/syscall_restart.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

namespace sonictrace {
namespace {

Registers stopped_in(std::uint64_t number, std::int64_t result) {
  user_regs_struct raw{};
  raw.cs = 0x33;
  raw.orig_rax = number;
  raw.rax = static_cast<std::uint64_t>(result);
  raw.rip = 0x1002;
  return Registers(raw);
}

TEST(RestartInterruptedCall, goes_back_onto_the_system_call) {
  auto registers = stopped_in(SYS_epoll_wait, -EINTR);

  EXPECT_TRUE(restart_interrupted_call(registers));
  EXPECT_EQ(registers.pc(), TraceeAddress(0x1000));
  EXPECT_EQ(registers.raw().rax, static_cast<std::uint64_t>(SYS_epoll_wait));
  EXPECT_EQ(registers.raw().orig_rax, ~std::uint64_t{0});
}

TEST(RestartInterruptedCall, leaves_alone_what_it_must) {
  struct {
    const char* what;
    Registers registers;
  } cases[] = {{"another result", stopped_in(SYS_epoll_wait, 0)},
               {"the kernel's own restart", stopped_in(SYS_read, -512)},
               {"not in a system call", stopped_in(~std::uint64_t{0}, -EINTR)},
               {"a call that ends at once", stopped_in(SYS_getpid, -EINTR)}};
  for (auto& [what, registers] : cases) {
    EXPECT_FALSE(restart_interrupted_call(registers)) << what;
    EXPECT_EQ(registers.pc(), TraceeAddress(0x1002)) << what;
  }
}

TEST(IsNeverRestarted, knows_signal_7s_list) {
  for (const long number : {SYS_epoll_wait, SYS_epoll_pwait, SYS_rt_sigtimedwait, SYS_semtimedop,
                            SYS_recvfrom, SYS_io_getevents, SYS_pause, SYS_poll, SYS_select})
    EXPECT_TRUE(is_never_restarted(static_cast<std::uint64_t>(number))) << number;
  for (const long number : {SYS_getpid, SYS_mmap, SYS_execve, SYS_wait4})
    EXPECT_FALSE(is_never_restarted(static_cast<std::uint64_t>(number))) << number;
}

} // namespace
} // namespace sonictrace
