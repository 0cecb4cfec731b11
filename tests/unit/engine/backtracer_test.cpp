#include "engine/backtracer.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "sonictrace/process/stopped_tracee.hpp"

// What is called: stops at its first instruction, as a breakpoint on it would, then goes on.
extern "C" void traced_callee(int pipe);
extern "C" [[noreturn]] void traced_last_callee(int pipe);
asm(".pushsection .text\n"
    ".type traced_callee, @function\n"
    "traced_callee:\n"
    ".cfi_startproc\n"
    "  int3\n"
    "  jmp tell_backtrace\n"
    ".cfi_endproc\n"
    ".size traced_callee, . - traced_callee\n"
    ".type traced_last_callee, @function\n"
    "traced_last_callee:\n"
    ".cfi_startproc\n"
    "  int3\n"
    "  jmp tell_backtrace_and_exit\n"
    ".cfi_endproc\n"
    ".size traced_last_callee, . - traced_last_callee\n"
    // Faults at its very first instruction.
    ".type faults_at_once, @function\n"
    "faults_at_once:\n"
    ".cfi_startproc\n"
    "  ud2\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size faults_at_once, . - faults_at_once\n"
    ".popsection\n");
extern "C" void faults_at_once();

/// Writes what the callee's own backtrace says of its callers, their number first.
static void tell(int pipe, const void* return_address) {
  void* addresses[64];
  const int count = backtrace(addresses, 64);
  // Before the caller there are the callee's own frames, and a sanitizer's.
  int own = 0;
  while (own < count && addresses[own] != return_address)
    ++own;
  const auto callers = static_cast<std::size_t>(count - own);
  const auto size = static_cast<ssize_t>(callers * sizeof *addresses);
  if (write(pipe, &callers, sizeof callers) != sizeof callers ||
      write(pipe, addresses + own, callers * sizeof *addresses) != size)
    _exit(9);
}
extern "C" __attribute__((used, noinline)) void tell_backtrace(int pipe) {
  tell(pipe, __builtin_return_address(0));
}
extern "C" __attribute__((used, noinline)) void tell_backtrace_and_exit(int pipe) {
  tell(pipe, __builtin_return_address(0));
  _exit(0);
}

namespace sonictrace {
namespace {

int told = -1; ///< the pipe, in the child

__attribute__((noinline)) void outer(const std::function<void()>& body) {
  char big[3000];
  asm volatile("" ::"r"(big) : "memory");
  body();
  asm volatile("" ::"r"(big) : "memory"); // no tail call
}

int compare(const void*, const void*) {
  traced_callee(told);
  return 0;
}

void handle(int) { traced_callee(told); }

void handle_fault(int, siginfo_t*, void* context) {
  traced_callee(told);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2; // past the ud2
}

void set_handler(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = flags;
  if ((flags & SA_SIGINFO) != 0) action.sa_sigaction = handle_fault;
  sigaction(signal, &action, nullptr);
}

[[noreturn]] __attribute__((noinline)) void call_and_never_return() {
  traced_last_callee(told); // its return address is behind this function's end
}

/// One way to come to the callee.
struct Way {
  const char* name;
  void (*run)();
  std::size_t least_frames;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

void call_directly() { traced_callee(told); }

const Way kWays[] = {
    {"directly", call_directly, 6},
    {"through_big_frames", [] { outer([] { outer([] { traced_callee(told); }); }); }, 9},
    {"from_the_c_library",
     [] {
       int numbers[] = {2, 1};
       qsort(numbers, 2, sizeof numbers[0], compare);
     },
     8},
    {"from_a_signal_handler",
     [] {
       set_handler(SIGUSR1, 0);
       raise(SIGUSR1);
     },
     8},
    {"from_a_handler_on_another_stack",
     [] {
       stack_t stack{};
       stack.ss_size = 64 * 1024;
       stack.ss_sp =
           mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       sigaltstack(&stack, nullptr);
       set_handler(SIGUSR1, SA_ONSTACK);
       raise(SIGUSR1);
     },
     8},
    {"from_a_handler_of_a_fault_at_a_functions_begin",
     [] {
       set_handler(SIGILL, SA_SIGINFO);
       faults_at_once();
     },
     8},
    {"in_a_thread", [] { std::thread([] { traced_callee(told); }).join(); }, 3},
    {"where_nothing_returns", call_and_never_return, 7},
};

class BacktracerOn : public testing::TestWithParam<Way> {};

/// Lets the child run to its next stop by SIGTRAP; nothing at its end.
std::optional<StoppedTracee> next_trap(std::optional<StoppedTracee> stopped) {
  for (;;) {
    if (stopped) {
      const auto stop = stopped->stop();
      const bool passed_on =
          stop.kind == StopKind::SignalDelivery && stop.detail != SIGTRAP && stop.detail != SIGSTOP;
      (void)std::move(*stopped).resume(passed_on ? stop.detail : 0);
    }
    auto outcome = StoppedTracee::wait_any();
    if (!outcome) return std::nullopt;
    auto* next = std::get_if<StoppedTracee>(&*outcome);
    if (next == nullptr) {
      stopped.reset();
      continue;
    }
    if (next->stop() == Stop{StopKind::SignalDelivery, SIGTRAP}) return std::move(*next);
    stopped.emplace(std::move(*next));
  }
}

/// A child that calls, held at the callee's first instruction.
class CallingChild {
public:
  explicit CallingChild(void (*run)()) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    from_ = UniqueFd(ends[0]);
    const UniqueFd into(ends[1]);
    const pid_t child = fork();
    if (child == 0) {
      told = into.get();
      void* warm[2];
      backtrace(warm, 2); // loads libgcc_s now
      ptrace(PTRACE_TRACEME);
      raise(SIGSTOP);
      run();
      _exit(0);
    }
    auto first = StoppedTracee::wait(child);
    EXPECT_TRUE(first);
    EXPECT_EQ(ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), 0);
    stopped_ = next_trap(std::get<StoppedTracee>(*std::move(first)));
    registers_ = *stopped_->registers();
    space_ = *AddressSpace::open(stopped_->tid());
  }
  ~CallingChild() { run_to_its_end(); }

  const Registers& registers() const { return *registers_; }
  const std::shared_ptr<AddressSpace>& space() const { return space_; }
  TraceeAddress slot() const { return registers().sp(); }
  TraceeAddress return_address() const {
    return TraceeAddress(*space_->memory().read_word(slot()));
  }
  std::span<const std::uint32_t> frames(Backtracer& backtracer) const {
    return backtracer.frames_of_call(space_, registers(), return_address(), slot());
  }

  /// What it has told of its callers.
  std::vector<std::uint64_t> told_backtrace() {
    run_to_its_end();
    std::size_t count = 0;
    EXPECT_EQ(read(from_.get(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
    std::vector<std::uint64_t> addresses(count);
    EXPECT_EQ(read(from_.get(), addresses.data(), count * 8), static_cast<ssize_t>(count * 8));
    return addresses;
  }

private:
  void run_to_its_end() {
    while (stopped_)
      stopped_ = next_trap(std::move(stopped_));
  }

  UniqueFd from_;
  std::optional<StoppedTracee> stopped_;
  std::optional<Registers> registers_;
  std::shared_ptr<AddressSpace> space_;
};

/// A backtracer with what it has defined, by id.
struct Recorded {
  explicit Recorded(std::size_t limit)
      : backtracer(
            opener(images), limit,
            [this](const FrameDefinition& frame) {
              EXPECT_EQ(frame.id, frames.size());
              frames.push_back(frame);
            },
            FrameIdPool()) {}

  std::vector<std::uint64_t> addresses(std::span<const std::uint32_t> ids) const {
    std::vector<std::uint64_t> result;
    for (const auto id : ids)
      result.push_back(frames.at(id).address);
    return result;
  }
  const FrameDefinition* named(std::string_view function) const {
    for (const auto& frame : frames)
      if (frame.function == function) return &frame;
    return nullptr;
  }

  ImageCache images;
  std::vector<FrameDefinition> frames;
  Backtracer backtracer;
};

TEST_P(BacktracerOn, gives_what_the_callees_own_backtrace_says) {
  CallingChild child(GetParam().run);
  Recorded recorded(64);

  const auto addresses = recorded.addresses(child.frames(recorded.backtracer));

  EXPECT_EQ(addresses, child.told_backtrace());
  EXPECT_GE(addresses.size(), GetParam().least_frames);
}

void fault() {
  set_handler(SIGILL, SA_SIGINFO);
  faults_at_once();
}

TEST(Backtracer, names_the_function_that_holds_a_frame) {
  CallingChild child(fault);
  Recorded recorded(64);

  child.frames(recorded.backtracer);

  // Interrupted at its first instruction: the address before it is another function's.
  const auto* faulted = recorded.named("faults_at_once");
  ASSERT_NE(faulted, nullptr);
  EXPECT_EQ(faulted->offset, 0u);
  EXPECT_EQ(faulted->address, reinterpret_cast<std::uint64_t>(&faults_at_once));
  const auto* main = recorded.named("main");
  ASSERT_NE(main, nullptr);
  EXPECT_GT(main->offset, 0u);
  const auto* start = recorded.named("_start");
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->soname, main->soname);
  bool through_libc = false;
  for (const auto& frame : recorded.frames)
    through_libc = through_libc || frame.soname == "libc.so.6";
  EXPECT_TRUE(through_libc);
}

TEST(Backtracer, defines_a_place_once_and_again_when_it_was_unmapped) {
  CallingChild child(call_directly);
  Recorded recorded(64);

  const auto ids = child.frames(recorded.backtracer);
  const std::vector<std::uint32_t> first(ids.begin(), ids.end());
  const auto same = child.frames(recorded.backtracer);
  EXPECT_EQ(std::vector<std::uint32_t>(same.begin(), same.end()), first);
  EXPECT_EQ(recorded.frames.size(), first.size());

  const auto everything = *AddressRange::make(TraceeAddress(), TraceeAddress(~std::uint64_t{0}));
  recorded.backtracer.forget(*child.space(), everything);
  const auto addresses = recorded.addresses(first);
  EXPECT_EQ(recorded.addresses(child.frames(recorded.backtracer)), addresses);
  EXPECT_EQ(recorded.frames.size(), 2 * first.size());
}

TEST(Backtracer, gives_no_more_frames_than_it_is_asked_for) {
  CallingChild child(call_directly);
  for (const std::size_t limit : {0u, 1u, 3u}) {
    Recorded recorded(limit);
    EXPECT_EQ(child.frames(recorded.backtracer).size(), limit);
  }
}

TEST(Backtracer, gives_nothing_where_the_return_address_is_no_code) {
  CallingChild child(call_directly);
  Recorded recorded(8);
  for (const auto address : {TraceeAddress(), child.slot(), TraceeAddress(~std::uint64_t{0})})
    EXPECT_TRUE(
        recorded.backtracer.frames_of_call(child.space(), child.registers(), address, child.slot())
            .empty());
}

TEST(Backtracer, ends_at_an_address_that_is_no_code) {
  CallingChild child(call_directly);
  Recorded recorded(8);

  // A stack pointer that points to nowhere: the first frame is known, its caller is not.
  const auto ids = recorded.backtracer.frames_of_call(child.space(), child.registers(),
                                                      child.return_address(), TraceeAddress(64));

  EXPECT_EQ(recorded.addresses(ids), std::vector{child.return_address().value()});
}

TEST(Backtracer, begins_a_system_calls_frames_at_the_pc) {
  CallingChild child(call_directly);
  Recorded recorded(64);
  Registers behind_first_instruction = child.registers();
  EXPECT_EQ(behind_first_instruction.pc().value(),
            reinterpret_cast<std::uint64_t>(&traced_callee) + 1);

  const auto ids = recorded.backtracer.frames_of_syscall(child.space(), behind_first_instruction);

  auto expected = child.told_backtrace();
  expected.insert(expected.begin(), behind_first_instruction.pc().value());
  EXPECT_EQ(recorded.addresses(ids), expected);
  EXPECT_EQ(recorded.frames.front().function, "traced_callee");
  EXPECT_EQ(recorded.frames.front().offset, 1u);
}

INSTANTIATE_TEST_SUITE_P(Ways, BacktracerOn, testing::ValuesIn(kWays),
                         [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace sonictrace
