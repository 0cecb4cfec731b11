#include "engine/inline/threads_inside.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

TEST(StoppedAt, reads_what_the_kernel_says_of_a_stopped_thread) {
  EXPECT_EQ(parse_stopped_at("-1 0x7ffe00001000 0x401020\n"),
            (StoppedAt{-1, TraceeAddress(0x7ffe00001000), TraceeAddress(0x401020)}));
  EXPECT_EQ(parse_stopped_at("202 0x1 0x80 0x0 0x0 0x0 0xffffffff 0x7f0000001000 0x7f00deadbeef\n"),
            (StoppedAt{202, TraceeAddress(0x7f0000001000), TraceeAddress(0x7f00deadbeef)}));
  EXPECT_EQ(parse_stopped_at("-1 0x0 0x0\n"), (StoppedAt{-1, TraceeAddress(), TraceeAddress()}));
  EXPECT_FALSE(parse_stopped_at("running\n"));
  EXPECT_FALSE(parse_stopped_at(""));
  EXPECT_FALSE(parse_stopped_at("-1 0x7ffe00001000"));
  EXPECT_FALSE(parse_stopped_at("-1 7ffe00001000 401020\n"));
}

TEST(SignalFrames, are_told_by_their_flags_and_code_segment) {
  constexpr std::uint64_t kFlags = 0x246, kCode = 0x002b'0000'0000'0033;
  const std::vector<std::uint64_t> stack = {1, 0x7ffe'0000, 0x40'1000, kFlags, kCode, 5};

  const auto found = find_signal_frames(stack);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pc, TraceeAddress(0x40'1000));
  EXPECT_EQ(found[0].sp, TraceeAddress(0x7ffe'0000));
  EXPECT_TRUE(find_signal_frames(std::vector<std::uint64_t>{1, 2, 3, 0, kCode}).empty());
  EXPECT_TRUE(find_signal_frames(std::vector<std::uint64_t>{2, 3}).empty());
}

} // namespace

// Of the section that holds `loop_until_interrupted` and nothing else, by the linker.
extern "C" const char __start_interrupted_loop[], __stop_interrupted_loop[];

namespace {

int ready_pipe;
volatile bool* is_in_loop; ///< shared with the child

void tell_and_wait(int) {
  (void)!::write(ready_pipe, "x", 1);
  for (;;)
    ::pause();
}

[[gnu::noinline, gnu::section("interrupted_loop")]] void loop_until_interrupted() {
  for (;;)
    *is_in_loop = true;
}

/// A child that waits in a handler of SIGUSR1, which has interrupted `loop_until_interrupted`.
class Interrupted : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(ready_), 0);
    void* const page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    is_in_loop = static_cast<bool*>(page);
    child_ = ::fork();
    if (child_ == 0) run_child();
    while (!*is_in_loop) {}
    ::kill(child_, SIGUSR1);
    char byte;
    ASSERT_EQ(::read(ready_[0], &byte, 1), 1);
    // The byte comes before the pause(2).
    const std::string path = "/proc/" + std::to_string(child_) + "/syscall";
    while (true) {
      const auto line = read_line(path);
      if (line.rfind(std::to_string(SYS_pause) + " ", 0) == 0) break;
    }
  }
  ~Interrupted() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(ready_[0]);
    ::close(ready_[1]);
  }

  static AddressRange range_of(const char* begin, const char* end) {
    return *AddressRange::make(TraceeAddress(reinterpret_cast<std::uint64_t>(begin)),
                               TraceeAddress(reinterpret_cast<std::uint64_t>(end)));
  }

  pid_t child_ = 0;
  int ready_[2] = {};

private:
  [[noreturn]] void run_child() const {
    static std::array<char, 65536> handler_stack;
    ready_pipe = ready_[1];
    struct sigaction action {};
    action.sa_handler = tell_and_wait;
    if (GetParam()) {
      const stack_t stack = {handler_stack.data(), 0, handler_stack.size()};
      ::sigaltstack(&stack, nullptr);
      action.sa_flags = SA_ONSTACK;
    }
    ::sigaction(SIGUSR1, &action, nullptr);
    loop_until_interrupted();
    ::_exit(1);
  }
  static std::string read_line(const std::string& path) {
    const auto text = read_file(path);
    return text ? *text : std::string();
  }
};

TEST_P(Interrupted, is_inside_what_its_handler_will_return_to) {
  const auto space = *AddressSpace::open(child_);
  const auto mappings = *read_mappings(child_);

  const AddressRange inside[] = {range_of(__start_interrupted_loop, __stop_interrupted_loop)};
  EXPECT_TRUE(is_anyone_inside(*space, mappings, inside));

  const auto* const elsewhere = reinterpret_cast<const char*>(&parse_stopped_at);
  const AddressRange outside[] = {range_of(elsewhere, elsewhere + 16)};
  EXPECT_FALSE(is_anyone_inside(*space, mappings, outside));
}

INSTANTIATE_TEST_SUITE_P(ThreadsInside, Interrupted, testing::Bool(), [](const auto& tested) {
  return tested.param ? "on_a_stack_of_its_own" : "on_the_same_stack";
});

} // namespace
} // namespace sonictrace
