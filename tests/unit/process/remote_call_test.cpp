#include "sonictrace/process/remote_call.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/syscall_restart.hpp"

extern "C" const char bare_call[];
asm(".text\nbare_call: syscall\n ud2\n");

namespace sonictrace {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr timespec kLong = {0, 400'000'000};

/// What parent and child share.
struct Shared {
  std::atomic<std::uint32_t> word{0};
  std::atomic<long> result{0};
  std::atomic<int> error{0};
  std::atomic<std::uint64_t> began_ns{0};
  std::atomic<std::uint64_t> took_ns{0};
  int pipe[2] = {-1, -1};
};

/// A way to wait in the kernel: the child's part, and how the parent ends it, if time does not.
struct Wait {
  const char* name;
  long number; ///< of the system call
  std::uint64_t least_ns, most_ns;
  long result;
  int error;
  long (*wait)(Shared&);
  void (*end)(Shared&);
};

void PrintTo(const Wait& wait, std::ostream* out) { *out << wait.name; }

void nothing(Shared&) {}

const Wait kWaits[] = {
    {"nanosleep", SYS_clock_nanosleep, 400 * kMillisecond, 600 * kMillisecond, 0, 0,
     [](Shared&) { return long{::clock_nanosleep(CLOCK_REALTIME, 0, &kLong, nullptr)}; }, nothing},
    {"read", SYS_read, 0, 5000 * kMillisecond, 1, 0,
     [](Shared& shared) {
       char c;
       return long{::read(shared.pipe[0], &c, 1)};
     },
     [](Shared& shared) { EXPECT_EQ(::write(shared.pipe[1], "x", 1), 1); }},
    {"futex", SYS_futex, 0, 5000 * kMillisecond, 0, 0,
     [](Shared& shared) {
       return ::syscall(SYS_futex, &shared.word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
     },
     [](Shared& shared) {
       while (::syscall(SYS_futex, &shared.word, FUTEX_WAKE, 1, nullptr, nullptr, 0) == 0) {}
     }},
    {"futex_for_a_while", SYS_futex, 400 * kMillisecond, 600 * kMillisecond, -1, ETIMEDOUT,
     [](Shared& shared) {
       return ::syscall(SYS_futex, &shared.word, FUTEX_WAIT, 0, &kLong, nullptr, 0);
     },
     nothing},
    {"poll", SYS_poll, 400 * kMillisecond, 600 * kMillisecond, 0, 0,
     [](Shared& shared) {
       pollfd what = {shared.pipe[0], POLLIN, 0};
       return long{::poll(&what, 1, 400)};
     },
     nothing},
    // Its time begins anew, as the kernel can't go on with it.
    {"sigtimedwait", SYS_rt_sigtimedwait, 400 * kMillisecond, 5000 * kMillisecond, -1, EAGAIN,
     [](Shared&) {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       return long{::sigtimedwait(&set, nullptr, &kLong)};
     },
     nothing}};

/// A child that waits, seized and interrupted in it.
class RemoteCallInAWait : public testing::TestWithParam<Wait> {
protected:
  void SetUp() override {
    void* const page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    shared_ = new (page) Shared;
    ASSERT_EQ(::pipe(shared_->pipe), 0);
    child_ = ::fork();
    if (child_ == 0) {
      shared_->began_ns = monotonic_ns();
      errno = 0;
      shared_->result = GetParam().wait(*shared_);
      shared_->error = errno;
      shared_->took_ns = monotonic_ns() - shared_->began_ns;
      ::_exit(7);
    }
    ASSERT_GT(child_, 0);
    while (!is_waiting())
      ::sched_yield();
    ASSERT_TRUE(seize(child_, kTraceOptions | PTRACE_O_EXITKILL));
  }
  void TearDown() override {
    ::close(shared_->pipe[0]);
    ::close(shared_->pipe[1]);
    ::munmap(shared_, 4096);
  }

  bool is_waiting() const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/syscall");
    std::string number;
    file >> number;
    return number == std::to_string(GetParam().number) ||
           number == std::to_string(SYS_restart_syscall);
  }
  /// Its next stop, after it was asked for one.
  StoppedTracee stopped() const {
    EXPECT_TRUE(interrupt(child_));
    return std::get<StoppedTracee>(*StoppedTracee::wait(child_));
  }
  /// As the tracer does it at the end of such a stop.
  static void let_go(StoppedTracee tracee) {
    auto registers = *tracee.registers();
    if (restart_interrupted_call(registers)) { EXPECT_TRUE(tracee.set_registers(registers)); }
    EXPECT_TRUE(std::move(tracee).resume());
  }

  Shared* shared_ = nullptr;
  pid_t child_ = 0;
};

TEST_P(RemoteCallInAWait, is_not_seen_by_the_program) {
  const auto space = AddressSpace::open(child_);
  ASSERT_TRUE(space);
  const auto code = find_calling_code(child_, (*space)->memory());
  ASSERT_TRUE(code);

  for (int round = 0; round < 3; ++round) {
    auto tracee = stopped();
    const auto before = *tracee.registers();
    for (int call = 0; call < 2; ++call) {
      auto outcome = remote_call(std::move(tracee), **space, *code, SYS_getppid, {});
      ASSERT_TRUE(std::holds_alternative<StoppedTracee>(outcome.tracee));
      tracee = std::get<StoppedTracee>(std::move(outcome.tracee));
      EXPECT_TRUE(outcome.value);
      if (outcome.value) { EXPECT_EQ(static_cast<pid_t>(*outcome.value), ::getpid()); }
      EXPECT_EQ(tracee.stop(), (Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP}));
      const auto after = *tracee.registers();
      EXPECT_EQ(after.raw().rax, before.raw().rax);
      EXPECT_EQ(after.raw().orig_rax, before.raw().orig_rax);
      EXPECT_EQ(after.pc(), before.pc());
    }
    let_go(std::move(tracee));
    while (!is_waiting())
      ::sched_yield();
  }
  GetParam().end(*shared_);

  const auto end = StoppedTracee::wait(child_);
  ASSERT_TRUE(end);
  EXPECT_EQ(std::get<Exit>(*end).stop, (Stop{StopKind::Exited, 7}));
  EXPECT_EQ(shared_->result, GetParam().result);
  EXPECT_EQ(shared_->error, GetParam().error);
  EXPECT_GE(shared_->took_ns, GetParam().least_ns);
  EXPECT_LE(shared_->took_ns, GetParam().most_ns);
}

INSTANTIATE_TEST_SUITE_P(Process, RemoteCallInAWait, testing::ValuesIn(kWaits),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(RemoteCall, in_a_group_stop_leaves_it_stopped) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  ASSERT_TRUE(seize(child, kTraceOptions | PTRACE_O_EXITKILL));
  ASSERT_TRUE(interrupt(child));
  auto tracee = std::get<StoppedTracee>(*StoppedTracee::wait(child));
  ASSERT_EQ(tracee.stop(), (Stop{StopKind::Group, SIGSTOP}));
  const auto space = AddressSpace::open(child);
  ASSERT_TRUE(space);

  auto outcome = remote_call(std::move(tracee), **space,
                             *find_calling_code(child, (*space)->memory()), SYS_getppid, {});

  ASSERT_TRUE(std::holds_alternative<StoppedTracee>(outcome.tracee));
  auto after = std::get<StoppedTracee>(std::move(outcome.tracee));
  EXPECT_EQ(after.stop(), (Stop{StopKind::Group, SIGSTOP}));
  EXPECT_TRUE(outcome.value);
  EXPECT_TRUE(std::move(after).listen());
  ::kill(child, SIGCONT);
  for (;;) {
    auto next = StoppedTracee::wait(child);
    ASSERT_TRUE(next);
    if (const auto* exit = std::get_if<Exit>(&*next)) {
      EXPECT_EQ(exit->stop, (Stop{StopKind::Exited, 5}));
      break;
    }
    auto stop = std::get<StoppedTracee>(*std::move(next));
    EXPECT_NE(stop.stop(), (Stop{StopKind::SignalDelivery, SIGSTOP})) << "stopped once more";
    const int signal = stop.stop().kind == StopKind::SignalDelivery ? stop.stop().detail : 0;
    EXPECT_TRUE(std::move(stop).resume(signal));
  }
}

/// With a frame below the stack, and without one (a bare system call instruction).
class PassedMemoryOfACall : public testing::TestWithParam<bool> {};

TEST_P(PassedMemoryOfACall, is_what_the_call_reads_and_what_it_has_written) {
  const bool has_frame = GetParam();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;)
      ::pause();
  }
  ASSERT_TRUE(seize(child, kTraceOptions | PTRACE_O_EXITKILL));
  ASSERT_TRUE(interrupt(child));
  auto tracee = std::get<StoppedTracee>(*StoppedTracee::wait(child));
  const auto space = AddressSpace::open(child);
  ASSERT_TRUE(space);
  auto code = *find_calling_code(child, (*space)->memory());
  if (!has_frame)
    code = {TraceeAddress(reinterpret_cast<std::uintptr_t>(bare_call)), CallingCode::Kind::Bare};
  constexpr std::int64_t kBelow = 16 * 1024;
  std::vector<std::byte> before(kBelow), after(kBelow);
  const auto lowest = tracee.registers()->sp() + -kBelow;
  ASSERT_TRUE((*space)->memory().read(lowest, before));

  RemoteCalls calls(std::move(tracee), **space, code);
  const auto in = static_cast<std::uint64_t>(pipe[0]), out = static_cast<std::uint64_t>(pipe[1]);
  for (const std::size_t size : {std::size_t{1}, std::size_t{32}, PassedMemory::kMost}) {
    std::vector<std::byte> sent(size), read(size), echoed(size);
    for (std::size_t i = 0; i < size; ++i)
      sent[i] = static_cast<std::byte>(i + 1);
    const auto written = calls.call(SYS_write, {out, 0, size}, {1, sent});
    EXPECT_TRUE(written && *written == size);
    EXPECT_EQ(::read(pipe[0], read.data(), size), static_cast<ssize_t>(size));
    EXPECT_EQ(read, sent);
    EXPECT_EQ(::write(pipe[1], sent.data(), size), static_cast<ssize_t>(size));
    const auto got = calls.call(SYS_read, {in, 0, size}, {1, echoed});
    EXPECT_TRUE(got && *got == size);
    EXPECT_EQ(echoed, sent);
  }
  EXPECT_EQ(calls.restores_itself(), has_frame);
  auto outcome = std::move(calls).end();

  ASSERT_TRUE(std::holds_alternative<StoppedTracee>(outcome));
  EXPECT_TRUE((*space)->memory().read(lowest, after));
  EXPECT_EQ(before, after) << "below the stack";
  ::kill(child, SIGKILL);
  (void)std::get<StoppedTracee>(std::move(outcome)).resume();
  (void)StoppedTracee::wait(child);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

INSTANTIATE_TEST_SUITE_P(Process, PassedMemoryOfACall, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "with_a_frame" : "without");
});

} // namespace
} // namespace sonictrace
