// A tracer that is killed while it has a thread make system calls: the thread goes on as if nothing
// had been. The tracer is itself traced by the test, and killed at each of its own system calls in
// turn: all that it does to the thread are system calls.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <thread>

#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/remote_call.hpp"
#include "sonictrace/process/syscall_restart.hpp"

// Fills registers and the red zone, spins until *go, and stores the registers.
extern "C" void hold_registers(const std::atomic<std::uint32_t>* go);
extern "C" {
std::uint64_t held_pattern[4] = {0x1111'2222'3333'4444, 2, 3, 0x9999'8888'7777'6666};
std::uint64_t held_vectors[64], held_general[16];
}
asm(R"(
  .text
  .globl hold_registers
hold_registers:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rdi, %rax
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovups held_pattern(%rip), %ymm\number
  .endr
  mov $101, %rbx
  mov $102, %rcx
  mov $103, %rdx
  mov $104, %rsi
  mov $105, %rdi
  mov $106, %rbp
  mov $107, %r8
  mov $108, %r9
  mov $109, %r10
  mov $110, %r11
  mov $111, %r12
  mov $112, %r13
  mov $113, %r14
  mov $114, %r15
  movq $115, -8(%rsp)
  movq $116, -128(%rsp)
  xor %ebx, %ebx
  mov $101, %ebx
1:
  pause
  cmpl $0, (%rax)
  je 1b
  mov %rbx, held_general(%rip)
  mov %rcx, 8+held_general(%rip)
  mov %rdx, 16+held_general(%rip)
  mov %rsi, 24+held_general(%rip)
  mov %rdi, 32+held_general(%rip)
  mov %rbp, 40+held_general(%rip)
  mov %r8, 48+held_general(%rip)
  mov %r9, 56+held_general(%rip)
  mov %r10, 64+held_general(%rip)
  mov %r11, 72+held_general(%rip)
  mov %r12, 80+held_general(%rip)
  mov %r13, 88+held_general(%rip)
  mov %r14, 96+held_general(%rip)
  mov %r15, 104+held_general(%rip)
  mov -8(%rsp), %rax
  mov %rax, 112+held_general(%rip)
  mov -128(%rsp), %rax
  mov %rax, 120+held_general(%rip)
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovups %ymm\number, 32*\number+held_vectors(%rip)
  .endr
  vzeroupper
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
)");

namespace sonictrace {
namespace {

constexpr timespec kShort = {0, 20'000'000};

/// What all three processes share.
struct Shared {
  std::atomic<std::uint32_t> ready{0}, go{0};
  int pipe[2] = {-1, -1};
};

bool has_held() {
  for (std::size_t i = 0; i < 16; ++i)
    if (held_general[i] != 101 + i) return false;
  for (std::size_t i = 0; i < 64; ++i)
    if (held_vectors[i] != held_pattern[i % 4]) return false;
  return true;
}

/// What a program does meanwhile, and whether it came out right.
struct Body {
  const char* name;
  long number; ///< of the system call that it waits in; -1: it runs
  bool (*run)(Shared&);
  void (*end)(Shared&, pid_t);
};
void PrintTo(const Body& body, std::ostream* out) { *out << body.name; }

void nothing(Shared&, pid_t) {}

std::atomic<long> alarms{0};
void count_alarm(int) { ++alarms; }

/// On a stack of its own, without room: as a coroutine's.
bool spin_on_a_small_stack(Shared& shared) {
  constexpr std::size_t kStack = 1024, kAround = 64 * 1024;
  auto* const memory = new unsigned char[2 * kAround];
  std::fill_n(memory, 2 * kAround, static_cast<unsigned char>(0x5a));
  unsigned char* const top = memory + kAround;
  asm volatile("mov %%rsp, %%r12\n"
               "mov %[top], %%rsp\n"
               "1: pause\n"
               "cmpl $0, (%[go])\n"
               "je 1b\n"
               "mov %%r12, %%rsp\n" ::[top] "r"(top),
               [go] "r"(&shared.go)
               : "r12", "memory", "cc");
  return std::all_of(memory, memory + kAround - kStack,
                     [](unsigned char byte) { return byte == 0x5a; }) &&
         std::all_of(top, top + kAround, [](unsigned char byte) { return byte == 0x5a; });
}

const Body kBodies[] = {
    {"runs", -1,
     [](Shared& shared) {
       hold_registers(&shared.go);
       return has_held();
     },
     nothing},
    {"runs_on_a_small_stack", -1, spin_on_a_small_stack, nothing},
    {"handles_signals", -1,
     [](Shared& shared) {
       std::signal(SIGALRM, count_alarm);
       const itimerval often = {{0, 50}, {0, 50}};
       ::setitimer(ITIMER_REAL, &often, nullptr);
       hold_registers(&shared.go);
       const long before = alarms; // they still come
       while (alarms < before + 3) {}
       return has_held();
     },
     nothing},
    {"blocks_signals", -1,
     [](Shared& shared) {
       sigset_t mine, now;
       sigemptyset(&mine);
       sigaddset(&mine, SIGUSR1);
       sigaddset(&mine, SIGRTMIN);
       ::sigprocmask(SIG_SETMASK, &mine, nullptr);
       hold_registers(&shared.go);
       ::sigprocmask(SIG_SETMASK, nullptr, &now);
       return has_held() && std::memcmp(&mine, &now, 8) == 0;
     },
     nothing},
    {"runs_on_an_alternate_stack", -1,
     [](Shared& shared) {
       static Shared* the;
       the = &shared;
       static unsigned char memory[65536];
       stack_t stack{}, now{};
       stack.ss_sp = memory;
       stack.ss_size = sizeof memory;
       ::sigaltstack(&stack, nullptr);
       struct sigaction action {};
       action.sa_handler = [](int) { hold_registers(&the->go); };
       action.sa_flags = SA_ONSTACK;
       ::sigaction(SIGUSR1, &action, nullptr);
       ::raise(SIGUSR1);
       ::sigaltstack(nullptr, &now);
       return has_held() && now.ss_sp == memory && now.ss_size == sizeof memory &&
              now.ss_flags == 0;
     },
     nothing},
    {"reads", SYS_read,
     [](Shared& shared) {
       char c = 0;
       return ::read(shared.pipe[0], &c, 1) == 1 && c == 'x';
     },
     [](Shared& shared, pid_t) { EXPECT_EQ(::write(shared.pipe[1], "x", 1), 1); }},
    {"waits_for_a_futex", SYS_futex,
     [](Shared& shared) {
       return ::syscall(SYS_futex, &shared.go, FUTEX_WAIT, 0, nullptr, nullptr, 0) == 0 ||
              errno == EAGAIN; // it was woken before it waited again
     },
     [](Shared& shared, pid_t) { ::syscall(SYS_futex, &shared.go, FUTEX_WAKE, 1, 0, 0, 0); }},
    {"waits_for_a_futex_for_a_while", SYS_futex,
     [](Shared& shared) {
       return ::syscall(SYS_futex, &shared.ready, FUTEX_WAIT, 1, &kShort, nullptr, 0) == -1 &&
              errno == ETIMEDOUT;
     },
     nothing},
    {"sleeps", SYS_clock_nanosleep,
     [](Shared&) { return ::clock_nanosleep(CLOCK_REALTIME, 0, &kShort, nullptr) == 0; }, nothing},
    {"pauses", SYS_pause,
     [](Shared&) {
       std::signal(SIGUSR1, count_alarm);
       return ::pause() == -1 && errno == EINTR && alarms == 1;
     },
     [](Shared&, pid_t pid) { ::kill(pid, SIGUSR1); }},
    {"suspends", SYS_rt_sigsuspend,
     [](Shared&) {
       std::signal(SIGUSR1, count_alarm);
       sigset_t none, blocked, now;
       sigemptyset(&none);
       sigemptyset(&blocked);
       sigaddset(&blocked, SIGUSR1);
       ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
       const bool right = ::sigsuspend(&none) == -1 && errno == EINTR && alarms == 1;
       ::sigprocmask(SIG_SETMASK, nullptr, &now);
       return right && std::memcmp(&blocked, &now, 8) == 0;
     },
     [](Shared&, pid_t pid) { ::kill(pid, SIGUSR1); }},
};

class KilledCaller : public testing::TestWithParam<Body> {
protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "this processor has no AVX registers";
  }

  static bool is_where_it_waits(pid_t pid) {
    if (GetParam().number < 0) return true;
    std::ifstream file("/proc/" + std::to_string(pid) + "/syscall");
    std::string number;
    file >> number;
    return number == std::to_string(GetParam().number) ||
           number == std::to_string(SYS_restart_syscall);
  }

  static bool has_ended(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
  }

  /// Whether what a call reads reaches the kernel, and what it writes reaches us.
  static bool passes_memory(RemoteCalls& calls) {
    using Action = std::array<std::uint64_t, 4>; // struct kernel_sigaction
    Action ignored = {1, 0, 0, 0x200}, answer{};
    return calls.call(SYS_rt_sigaction, {SIGUSR2, 0, 0, 8},
                      {1, std::as_writable_bytes(std::span(ignored))}) &&
           calls.call(SYS_rt_sigaction, {SIGUSR2, 0, 0, 8},
                      {2, std::as_writable_bytes(std::span(answer))}) &&
           answer == Action{1, 0, 0, 0x200};
  }

  /// The tracer: it attaches, has a few system calls made, and leaves.
  static int trace(pid_t pid) {
    auto space = AddressSpace::open(pid);
    if (!space || !seize(pid, kTraceOptions) || !interrupt(pid)) return 1;
    auto stop = StoppedTracee::wait(pid);
    while (stop && std::holds_alternative<StoppedTracee>(*stop) &&
           std::get<StoppedTracee>(*stop).stop().kind == StopKind::SignalDelivery) {
      StoppedTracee at_signal = std::get<StoppedTracee>(*std::move(stop));
      const int signal = at_signal.stop().detail;
      (void)interrupt(pid);
      (void)std::move(at_signal).resume(signal);
      stop = StoppedTracee::wait(pid);
    }
    if (!stop || !std::holds_alternative<StoppedTracee>(*stop)) return 2;
    const auto code = find_calling_code(pid, (*space)->memory());
    RemoteCalls calls(std::get<StoppedTracee>(*std::move(stop)), **space, *code);
    const auto parent = calls.call(SYS_getppid, {});
    const bool restores = calls.restores_itself();
    const auto mapped = calls.call(
        SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, ~std::uint64_t{0}, 0});
    const bool passes = passes_memory(calls);
    auto outcome = std::move(calls).end();
    if (!std::holds_alternative<StoppedTracee>(outcome)) return 3;
    auto tracee = std::get<StoppedTracee>(std::move(outcome));
    auto registers = tracee.registers();
    if (registers && restart_interrupted_call(*registers)) (void)tracee.set_registers(*registers);
    if (!std::move(tracee).detach()) return 4;
    return parent && mapped && restores && passes ? 0 : 5;
  }

  enum class Round {
    Killed,
    Done,    ///< the tracer came to its end before
    TooLate, ///< the program did: its wait was over before the tracer was there
  };
  /// One round, in which the tracer is killed at its system call stop number `at`.
  Round kill_at(int at) {
    void* const page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& shared = *new (page) Shared;
    EXPECT_EQ(::pipe(shared.pipe), 0);
    const pid_t program = ::fork();
    if (program == 0) {
      ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
      shared.ready = 1;
      ::_exit(GetParam().run(shared) ? 7 : 8);
    }
    while (shared.ready == 0 || !is_where_it_waits(program))
      ::sched_yield();

    const pid_t tracer = ::fork();
    if (tracer == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::raise(SIGSTOP);
      ::_exit(trace(program));
    }
    int status = 0;
    ::waitpid(tracer, &status, 0);
    ::ptrace(PTRACE_SETOPTIONS, tracer, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (int stop = 0; stop <= at && !WIFEXITED(status); ++stop) {
      ::ptrace(PTRACE_SYSCALL, tracer, nullptr, nullptr);
      ::waitpid(tracer, &status, 0);
    }
    Round round = WIFEXITED(status) ? Round::Done : Round::Killed;
    if (round == Round::Killed) {
      ::kill(tracer, SIGKILL);
      ::waitpid(tracer, &status, 0);
    } else if (WEXITSTATUS(status) != 0 && has_ended(program)) {
      round = Round::TooLate;
    } else {
      EXPECT_EQ(WEXITSTATUS(status), 0) << "of the tracer";
    }
    // A signal that came before it waits again would not end that wait.
    while (!is_where_it_waits(program) && !has_ended(program))
      ::sched_yield();
    shared.go = 1;
    GetParam().end(shared, program);
    EXPECT_EQ(::waitpid(program, &status, 0), program);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    ::close(shared.pipe[0]);
    ::close(shared.pipe[1]);
    ::munmap(page, 4096);
    return round;
  }
};

TEST_P(KilledCaller, leaves_a_thread_that_goes_on_as_before) {
  int at = 0, late = 0;
  for (Round round = kill_at(at); round != Round::Done; round = kill_at(at)) {
    ASSERT_FALSE(HasFailure()) << "killed at its system call stop " << at;
    if (round == Round::Killed)
      ++at;
    else
      ASSERT_LT(++late, 100) << "its wait was over each time";
  }
  EXPECT_GT(at, 50);
}

INSTANTIATE_TEST_SUITE_P(Process, KilledCaller, testing::ValuesIn(kBodies),
                         [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace sonictrace
