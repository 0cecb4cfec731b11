#include "engine/inline/inline_setup.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

TEST(InlineSetupTest, refuses_and_says_why_where_the_counter_is_no_clock) {
  std::uint64_t ns = 1'000'000'000;
  const TickClock clock(
      [&] {
        ns += 1'000'000;
        return TickClock::Reading{ns, ns, ns, 40};
      },
      false);
  InlineSetup setup({}, {}, clock);

  const auto made = setup.get();

  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(),
            "the processor's time stamp counter can't be used as a clock here");
  EXPECT_EQ(setup.cost_of_call_ns(), 0u);
}

} // namespace
} // namespace sonictrace
