#include "engine/breakpoint/open_calls.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sonictrace {
namespace {

constexpr StackId kOwn{1, true};   // the thread's own stack
constexpr StackId kHeap{2, false}; // a heap, where stacks may lie side by side

/// A thread's calls with a stack that can be written to.
class Calls {
public:
  void enter(std::uint64_t slot, std::uint64_t return_address, std::uint64_t site = 0x10,
             StackId stack = kOwn, std::uint64_t unwound_since = 0) {
    const TraceeAddress at(slot);
    const TraceeAddress back(return_address);
    ended = calls.end_at_call(at, back, TraceeAddress(site), stack, unwound_since, reader());
    memory[slot] = return_address;
    OpenCall call;
    call.call = ++last;
    call.slot = at;
    call.return_address = back;
    call.site = TraceeAddress(site);
    call.stack = stack;
    calls.push(call);
    calls.start_clocks(1, last, 0); // begins at time `last`
  }
  void arrive(std::uint64_t pc, std::uint64_t sp, StackId stack = kOwn) {
    ended = calls.end_at_return(TraceeAddress(pc), TraceeAddress(sp), stack, reader());
  }
  void land(std::uint64_t sp, StackId stack = kOwn) {
    ended = calls.end_below(TraceeAddress(sp), stack, reader());
  }
  /// "3r 2u": call 3 returned, then call 2 was left.
  std::string ends() const {
    std::string text;
    for (const auto& [call, returned] : ended)
      text += (text.empty() ? "" : " ") + std::to_string(call.call) + (returned ? "r" : "u");
    return text;
  }
  OpenCalls::ReadWord reader() {
    return [this](TraceeAddress at) { return memory[at.value()]; };
  }

  OpenCalls calls;
  std::vector<EndedCall> ended;
  std::map<std::uint64_t, std::uint64_t> memory;
  std::uint64_t last = 0;
};

TEST(OpenCalls, pairs_nested_calls_innermost_first) {
  Calls c;
  c.enter(0x1000, 0xa);
  c.enter(0x0f00, 0xb);

  c.arrive(0xb, 0x0f08);
  EXPECT_EQ(c.ends(), "2r");
  c.arrive(0xa, 0x1008);
  EXPECT_EQ(c.ends(), "1r");
  EXPECT_TRUE(c.calls.empty());
}

TEST(OpenCalls, tells_recursion_levels_with_one_return_address_apart_by_their_stack_pointers) {
  Calls c;
  for (std::uint64_t slot = 0x1000; slot > 0x0c00; slot -= 0x100)
    c.enter(slot, 0xa);

  c.arrive(0xa, 0x0d08);
  EXPECT_EQ(c.ends(), "4r");
  c.arrive(0xa, 0x0e08);
  EXPECT_EQ(c.ends(), "3r");
}

TEST(OpenCalls, one_return_ends_a_whole_chain_of_tail_calls) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10);
  c.enter(0x1000, 0xa, 0x20); // jmp g@plt in f
  c.enter(0x1000, 0xa, 0x30); // jmp h@plt in g
  EXPECT_EQ(c.ends(), "");

  c.arrive(0xa, 0x1008);
  EXPECT_EQ(c.ends(), "3r 2r 1r");
}

TEST(OpenCalls, a_return_further_up_leaves_the_deeper_calls_as_unwound) {
  Calls c;
  c.enter(0x1000, 0xa);
  c.enter(0x0f00, 0xb);
  c.enter(0x0e00, 0xc);

  c.arrive(0xa, 0x1008);
  EXPECT_EQ(c.ends(), "3u 2u 1r");
}

TEST(OpenCalls, arriving_at_a_return_address_with_another_stack_pointer_returns_nothing) {
  Calls c;
  c.enter(0x1000, 0xa);

  c.arrive(0xa, 0x0808); // a jump to the same place, deeper
  EXPECT_EQ(c.ends(), "");
  EXPECT_EQ(c.calls.size(), 1u);
}

TEST(OpenCalls, a_catch_ends_what_is_below_its_frame_only) {
  Calls c;
  c.enter(0x1000, 0xa);
  c.enter(0x0f00, 0xb);

  c.land(0x0f80);
  EXPECT_EQ(c.ends(), "2u");
}

TEST(OpenCalls, a_new_call_higher_up_shows_that_the_lower_ones_were_left) {
  Calls c;
  c.enter(0x1000, 0xa);
  c.enter(0x0f00, 0xb);

  c.enter(0x0f80, 0xd);
  EXPECT_EQ(c.ends(), "2u");
}

TEST(OpenCalls, another_return_address_in_the_same_place_shows_that_the_call_was_left) {
  Calls c;
  c.enter(0x1000, 0xa);

  c.enter(0x1000, 0xb);
  EXPECT_EQ(c.ends(), "1u");
}

TEST(OpenCalls, the_same_call_made_again_after_an_unwinding_is_no_tail_call) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10);

  c.enter(0x1000, 0xa, 0x10, kOwn, /*unwound_since=*/2);
  EXPECT_EQ(c.ends(), "1u");
  c.arrive(0xa, 0x1008);
  EXPECT_EQ(c.ends(), "2r");
}

TEST(OpenCalls, a_tail_call_to_itself_without_an_unwinding_stays_one) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10);

  c.enter(0x1000, 0xa, 0x10);
  EXPECT_EQ(c.ends(), "");
  c.arrive(0xa, 0x1008);
  EXPECT_EQ(c.ends(), "2r 1r");
}

TEST(OpenCalls, leaves_other_stacks_alone) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10, kHeap);
  c.enter(0x9000, 0xb);

  c.arrive(0xb, 0x9008);
  EXPECT_EQ(c.ends(), "2r");
  EXPECT_EQ(c.calls.size(), 1u);
}

TEST(OpenCalls, on_a_heap_a_lower_call_is_left_only_when_its_return_address_is_gone) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10, kHeap);
  c.enter(0x0800, 0xb, 0x10, kHeap); // a coroutine whose stack lies below

  c.arrive(0xa, 0x1008, kHeap);
  EXPECT_EQ(c.ends(), "1r");
  c.enter(0x1000, 0xa, 0x10, kHeap);
  c.memory[0x0800] = 0x1234;
  c.arrive(0xa, 0x1008, kHeap);
  EXPECT_EQ(c.ends(), "3r 2u");
}

TEST(OpenCalls, coroutines_may_return_in_any_order) {
  constexpr StackId other{3, false};
  Calls c;
  c.enter(0x1000, 0xa, 0x10, kHeap);
  c.enter(0x5000, 0xb, 0x10, other);

  c.arrive(0xa, 0x1008, kHeap);
  EXPECT_EQ(c.ends(), "1r");
  c.arrive(0xb, 0x5008, other);
  EXPECT_EQ(c.ends(), "2r");
}

TEST(OpenCalls, ten_thousand_levels_come_out_right) {
  Calls c;
  constexpr std::uint64_t kLevels = 10'000;
  for (std::uint64_t level = 0; level < kLevels; ++level)
    c.enter(0x100'0000 - level * 0x40, 0xa);

  for (std::uint64_t level = kLevels; level-- > 0;) {
    c.arrive(0xa, 0x100'0000 - level * 0x40 + 8);
    ASSERT_EQ(c.ends(), std::to_string(level + 1) + "r");
  }
}

TEST(OpenCalls, of_a_tail_call_end_together_though_another_coroutine_has_begun_one_meanwhile) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10, kHeap); // f, which yields
  c.enter(0x5000, 0xb, 0x20, kHeap); // of a coroutine above it
  c.enter(0x1000, 0xa, 0x30, kHeap); // f jumps to g

  c.arrive(0xa, 0x1008, kHeap);
  EXPECT_EQ(c.ends(), "3r 1r");
  c.arrive(0xb, 0x5008, kHeap);
  EXPECT_EQ(c.ends(), "2r");
}

TEST(OpenCalls, the_same_call_made_again_on_a_heap_after_an_unwinding_is_no_tail_call) {
  Calls c;
  c.enter(0x1000, 0xa, 0x10, kHeap);
  c.enter(0x5000, 0xb, 0x20, kHeap);

  c.enter(0x1000, 0xa, 0x10, kHeap, /*unwound_since=*/2);
  EXPECT_EQ(c.ends(), "1u");
  c.arrive(0xa, 0x1008, kHeap);
  EXPECT_EQ(c.ends(), "3r");
}

TEST(OpenCalls, a_hundred_thousand_levels_on_a_heap_take_no_time) {
  Calls c;
  constexpr std::uint64_t kLevels = 100'000;
  std::uint64_t reads = 0;
  for (std::uint64_t level = 0; level < kLevels; ++level)
    c.enter(0x1000'0000 - level * 0x40, 0xa, 0x10, kHeap, /*unwound_since=*/1);

  const OpenCalls::ReadWord counting = [&](TraceeAddress at) {
    ++reads;
    return c.memory[at.value()];
  };
  for (std::uint64_t level = kLevels; level-- > 0;) {
    const TraceeAddress sp(0x1000'0000 - level * 0x40 + 8);
    ASSERT_EQ(c.calls.end_at_return(TraceeAddress(0xa), sp, kHeap, counting).size(), 1u);
  }
  EXPECT_EQ(reads, 0u);
}

} // namespace
} // namespace sonictrace
