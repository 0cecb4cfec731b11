#include "sonictrace/process/syscall_stop.hpp"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {
namespace {

/// A child that stops itself, closes -7, and exits with 3.
StoppedTracee stopped_child() {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME);
    raise(SIGSTOP);
    syscall(SYS_close, -7);
    _exit(3);
  }
  auto outcome = StoppedTracee::wait(child);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  return std::get<StoppedTracee>(std::move(*outcome));
}

/// Its next stop at the entry into system call `number`.
Result<StoppedTracee::Outcome> run_to(StoppedTracee tracee, std::uint64_t number) {
  for (;;) {
    auto next = std::move(tracee).run_to_syscall();
    if (!next || std::holds_alternative<Exit>(*next)) return next;
    const auto stop = std::get<StoppedTracee>(*next).system_call();
    if (const auto* entry = stop ? std::get_if<SyscallEntry>(&*stop) : nullptr;
        entry != nullptr && entry->number == number)
      return next;
    tracee = std::get<StoppedTracee>(*std::move(next));
  }
}

TEST(SyscallStop, says_what_is_called_and_what_it_returned) {
  auto at_entry = run_to(stopped_child(), SYS_close);
  ASSERT_TRUE(at_entry);
  const auto entry = std::get<StoppedTracee>(*at_entry).system_call();
  EXPECT_TRUE(entry);
  if (entry) {
    EXPECT_EQ(std::get<SyscallEntry>(*entry).machine, Machine::X86_64);
    EXPECT_EQ(static_cast<int>(std::get<SyscallEntry>(*entry).arguments[0]), -7);
  }

  auto at_exit = std::get<StoppedTracee>(*std::move(at_entry)).run_to_syscall();
  ASSERT_TRUE(at_exit);
  const auto exit = std::get<StoppedTracee>(*at_exit).system_call();
  EXPECT_TRUE(exit);
  if (exit) { EXPECT_EQ(std::get<SyscallExit>(*exit).result, -EBADF); }

  const pid_t child = std::get<StoppedTracee>(*at_exit).tid();
  EXPECT_TRUE(std::get<StoppedTracee>(*std::move(at_exit)).resume());
  auto last = StoppedTracee::wait(child);
  ASSERT_TRUE(last);
  EXPECT_EQ(std::get<Exit>(*last).stop, (Stop{StopKind::Exited, 3}));
}

TEST(SyscallStop, is_refused_for_other_stops) {
  auto tracee = stopped_child();
  const auto stop = tracee.system_call();
  EXPECT_FALSE(stop);
  if (!stop) { EXPECT_TRUE(stop.error().is(std::errc::invalid_argument)); }

  const pid_t child = tracee.tid();
  EXPECT_TRUE(std::move(tracee).resume());
  EXPECT_TRUE(StoppedTracee::wait(child));
}

TEST(SyscallStop, is_where_resume_ends_once_it_follows_system_calls) {
  auto tracee = stopped_child();
  const pid_t child = tracee.tid();
  tracee.follow_system_calls();
  EXPECT_TRUE(std::move(tracee).resume());

  auto next = StoppedTracee::wait(child);
  ASSERT_TRUE(next);
  auto& stopped = std::get<StoppedTracee>(*next);
  EXPECT_EQ(stopped.stop().kind, StopKind::Syscall);
  EXPECT_FALSE(stopped.follows_system_calls()) << "whoever waits says so anew";
  EXPECT_TRUE(std::move(stopped).resume());
  EXPECT_TRUE(StoppedTracee::wait(child));
}

TEST(SyscallStop, is_followed_through_run_to_syscall) {
  auto tracee = stopped_child();
  tracee.follow_system_calls();
  auto next = std::move(tracee).run_to_syscall();
  ASSERT_TRUE(next);
  auto& stopped = std::get<StoppedTracee>(*next);
  EXPECT_TRUE(stopped.follows_system_calls());
  const pid_t child = stopped.tid();
  kill(child, SIGKILL);
  (void)std::move(stopped).resume();
  for (;;) {
    auto last = StoppedTracee::wait(child);
    ASSERT_TRUE(last);
    if (std::holds_alternative<Exit>(*last)) break;
    (void)std::get<StoppedTracee>(*std::move(last)).resume();
  }
}

} // namespace
} // namespace sonictrace
