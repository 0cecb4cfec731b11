#include "engine/breakpoint/open_syscall.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

namespace sonictrace {
namespace {

constexpr TraceeAddress kAt{0x1002};

OpenSyscall open_read(std::int64_t result, bool begins_anew = false) {
  OpenSyscall open;
  open.number = SYS_read;
  open.at = kAt;
  open.end = OpenSyscall::End{result, {1, 0}, begins_anew};
  return open;
}

SyscallEntry entry(std::uint64_t number, TraceeAddress at = kAt,
                   Machine machine = Machine::X86_64) {
  return {machine, number, {}, at};
}

TEST(OpenSyscall, may_begin_anew_only_after_an_interruption) {
  for (const std::int64_t result : {-512, -513, -514, -516, -EINTR})
    EXPECT_TRUE(OpenSyscall::may_begin_anew(result)) << result;
  for (const std::int64_t result : {0, 1, -515, -511, -EAGAIN})
    EXPECT_FALSE(OpenSyscall::may_begin_anew(result)) << result;
}

TEST(OpenSyscall, goes_on_as_the_same_call_from_the_same_place) {
  EXPECT_TRUE(open_read(-512).goes_on_as(entry(SYS_read)));
  EXPECT_FALSE(open_read(-512).goes_on_as(entry(SYS_write)));
  EXPECT_FALSE(open_read(-512).goes_on_as(entry(SYS_read, TraceeAddress(0x2002))));
  EXPECT_FALSE(open_read(-512).goes_on_as(entry(SYS_read, kAt, Machine::I386)));
}

TEST(OpenSyscall, goes_on_after_eintr_only_where_the_tracer_begins_it_anew) {
  EXPECT_FALSE(open_read(-EINTR).goes_on_as(entry(SYS_read)));
  EXPECT_TRUE(open_read(-EINTR, true).goes_on_as(entry(SYS_read)));
}

TEST(OpenSyscall, that_waits_for_a_time_goes_on_as_restart_syscall) {
  EXPECT_TRUE(open_read(-516).goes_on_as(entry(SYS_restart_syscall)));
  EXPECT_FALSE(open_read(-516).goes_on_as(entry(SYS_read)));
}

TEST(OpenSyscall, that_has_not_ended_goes_on_as_nothing) {
  OpenSyscall open = open_read(-512);
  open.end.reset();
  EXPECT_FALSE(open.goes_on_as(entry(SYS_read)));
}

} // namespace
} // namespace sonictrace
