#include "sonictrace/process/stop_cost.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(StopCost, of_a_breakpoint_is_something_and_not_much) {
  const auto latency = measure_stop_latency();
  EXPECT_GT(latency, 0u);
  EXPECT_LT(latency, kMillisecond);
}

TEST(StopCost, of_a_system_call_is_something_and_not_much) {
  const auto latency = measure_syscall_stop_latency();
  EXPECT_GT(latency, 0u);
  EXPECT_LT(latency, kMillisecond);
}

} // namespace
} // namespace sonictrace
