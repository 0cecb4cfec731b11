#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "engine/inline/tick_clock.hpp"
#include "sonictrace/base/clock.hpp"

namespace sonictrace {
namespace {

using Reading = TickClock::Reading;

/// Clocks that a test moves on: ticks of a third of a nanosecond, and a kernel that steers its
/// clock.
struct FakeClocks {
  double ticks = 3e12, monotonic = 1e12;
  double offset = 1.7e18;
  double ns_per_tick = 1.0 / 3;

  void go_on(double ns) {
    ticks += ns / ns_per_tick;
    monotonic += ns;
  }
  Reading read() {
    go_on(1'000'000);
    const auto ns = static_cast<std::uint64_t>(monotonic);
    return {static_cast<std::uint64_t>(ticks), ns, ns + static_cast<std::uint64_t>(offset), 40};
  }
};

std::int64_t error_of(const TickClock& clock, const FakeClocks& clocks) {
  const auto expected =
      static_cast<std::uint64_t>(clocks.monotonic) + static_cast<std::uint64_t>(clocks.offset);
  return static_cast<std::int64_t>(clock.realtime_ns(static_cast<std::uint64_t>(clocks.ticks)) -
                                   expected);
}

TEST(TickClockTest, says_the_time_of_day_of_now) {
  const TickClock clock = TickClock::calibrate();

  std::int64_t best = INT64_MAX; // somebody else may have the processor in between
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = to_realtime(monotonic_ns());
    const std::uint64_t told = clock.realtime_ns(clock.now());
    const std::uint64_t behind = to_realtime(monotonic_ns());
    const auto middle = before + (behind - before) / 2;
    best = std::min(best, std::abs(static_cast<std::int64_t>(told - middle)));
  }
  EXPECT_LT(best, 1000);
}

TEST(TickClockTest, measures_durations) {
  const TickClock clock = TickClock::calibrate();

  std::int64_t best = INT64_MAX;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t ticks = clock.now(), ns = monotonic_ns();
    while (monotonic_ns() - ns < 100'000) {}
    const std::uint64_t more_ticks = clock.now(), more_ns = monotonic_ns();
    best = std::min(best, std::abs(static_cast<std::int64_t>(clock.duration_ns(more_ticks - ticks) -
                                                             (more_ns - ns))));
  }
  EXPECT_LT(best, 1000);
}

TEST(TickClockTest, follows_a_clock_that_drifts) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);

  for (int i = 0; i < 40; ++i) { // the kernel makes its clock faster, by as much as it ever does
    clocks.ns_per_tick *= i == 20 ? 1.0005 : 1;
    clocks.go_on(250'000'000);
    clock.recalibrate();
  }

  EXPECT_LT(std::abs(error_of(clock, clocks)), 500);
}

TEST(TickClockTest, never_goes_back_for_rising_ticks) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);

  std::uint64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    clocks.ns_per_tick = 1.0 / 3 * (i % 3 == 0 ? 1.0004 : 0.9996);
    const auto ticks = static_cast<std::uint64_t>(clocks.ticks);
    for (std::uint64_t more = 0; more < 3'000'000; more += 10'000) {
      const std::uint64_t told = clock.realtime_ns(ticks + more);
      ASSERT_GE(told, last) << i;
      last = told;
    }
    clock.recalibrate();
  }
}

TEST(TickClockTest, says_the_same_of_the_past_whenever_it_is_asked) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);
  clock.recalibrate();
  const auto ticks = static_cast<std::uint64_t>(clocks.ticks);
  const std::uint64_t told = clock.realtime_ns(ticks);

  for (int i = 0; i < 5000; ++i) {
    clocks.ns_per_tick = 1.0 / 3 * (i % 2 == 0 ? 1.0001 : 0.9999);
    clocks.go_on(250'000'000);
    clock.recalibrate();
  }

  // Of half an hour ago it need not know more than so.
  EXPECT_LT(std::abs(static_cast<std::int64_t>(clock.realtime_ns(ticks) - told)), 1'000'000);
}

TEST(TickClockTest, goes_along_when_somebody_sets_the_time_of_day) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);

  clocks.offset += 3.6e12;
  clock.recalibrate();

  EXPECT_LT(std::abs(error_of(clock, clocks)), 2000);
}

TEST(TickClockTest, begins_anew_when_the_counter_was_reset) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);

  clocks.ticks = 1000;
  clock.recalibrate();
  clocks.go_on(1'000'000);

  EXPECT_LT(std::abs(error_of(clock, clocks)), 2000);
}

TEST(TickClockTest, finds_the_ticks_of_a_time_of_day) {
  FakeClocks clocks;
  TickClock clock([&] { return clocks.read(); }, true);
  const auto ticks = static_cast<std::uint64_t>(clocks.ticks);

  for (const std::int64_t distance : {0, 1'000'000'000, -1'000'000'000}) {
    const std::uint64_t moment = ticks + static_cast<std::uint64_t>(distance);
    const auto error =
        static_cast<std::int64_t>(clock.ticks_at(clock.realtime_ns(moment)) - moment);
    EXPECT_LE(std::abs(error), 4) << distance;
  }
}

TEST(TickClockTest, takes_nanoseconds_as_they_are_without_a_counter) {
  FakeClocks clocks;
  clocks.ns_per_tick = 1;
  clocks.ticks = clocks.monotonic;
  TickClock clock([&] { return clocks.read(); }, false);

  EXPECT_EQ(clock.duration_ns(12345), 12345U);
  EXPECT_EQ(clock.ns_per_tick_32(), std::uint64_t{1} << 32);
  EXPECT_EQ(error_of(clock, clocks), 0);
}

} // namespace
} // namespace sonictrace
