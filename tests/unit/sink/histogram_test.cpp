#include "sink/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace sonictrace {
namespace {

TEST(Histogram, has_one_bucket_after_the_other) {
  std::size_t previous = 0;
  for (std::uint64_t value = 0; value < 1'000'000; ++value) {
    const std::size_t bucket = wire::bucket_of(value);
    ASSERT_TRUE(bucket == previous || bucket == previous + 1) << value;
    previous = bucket;
  }
}

TEST(Histogram, gives_values_back_to_within_1_6_percent) {
  const auto error_of = [](std::uint64_t value) {
    const auto middle = static_cast<double>(wire::middle_of_bucket(wire::bucket_of(value)));
    return std::abs(middle - static_cast<double>(value)) / static_cast<double>(value);
  };
  double worst = 0;
  for (std::uint64_t value = 1; value < 1'000'000; ++value)
    worst = std::max(worst, error_of(value));
  for (unsigned bits = 20; bits < 64; ++bits)
    for (std::uint64_t sub = 0; sub < 4096; ++sub) {
      const std::uint64_t base = std::uint64_t{1} << bits;
      worst = std::max(worst, error_of(base + (base >> 12) * sub));
    }
  worst = std::max(worst, error_of(~std::uint64_t{0}));

  EXPECT_LE(worst, 0.016);
}

TEST(Histogram, is_exact_for_small_values) {
  for (std::uint64_t value = 0; value < 64; ++value)
    EXPECT_EQ(wire::middle_of_bucket(wire::bucket_of(value)), value);
}

TEST(Histogram, has_the_percentiles_of_the_values) {
  Histogram times;
  for (std::uint64_t value = 1; value <= 50; ++value)
    times.add(value);

  EXPECT_EQ(times.percentile(50), 25u);
  EXPECT_EQ(times.percentile(90), 45u);
  EXPECT_EQ(times.percentile(99), 50u);
  EXPECT_EQ(times.percentile(100), 50u);
  EXPECT_EQ(times.largest(), 50u);
  EXPECT_EQ(times.total(), 50u);
}

TEST(Histogram, of_one_value_has_it_everywhere) {
  Histogram times;
  times.add(1'234'567);

  EXPECT_EQ(times.percentile(50), 1'234'567u);
  EXPECT_EQ(times.percentile(99), 1'234'567u);
}

TEST(Histogram, has_no_percentile_above_the_largest_value) {
  Histogram times;
  for (int n = 0; n < 200; ++n)
    times.add(1'212'500); // below the middle of its bucket

  EXPECT_EQ(times.percentile(50), 1'212'500u);
}

TEST(Histogram, of_nothing_is_zero) {
  Histogram times;
  EXPECT_EQ(times.percentile(50), 0u);
  EXPECT_EQ(times.largest(), 0u);
}

TEST(Histogram, agrees_with_sorted_values) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> spread(10, 3);
  Histogram times;
  std::vector<std::uint64_t> values;
  for (int n = 0; n < 100'000; ++n) {
    values.push_back(static_cast<std::uint64_t>(spread(random)));
    times.add(values.back());
  }
  std::sort(values.begin(), values.end());

  for (const unsigned percent : {50u, 90u, 99u}) {
    const auto exact = static_cast<double>(values[values.size() * percent / 100 - 1]);
    EXPECT_NEAR(static_cast<double>(times.percentile(percent)), exact, exact * 0.016) << percent;
  }
  EXPECT_EQ(times.largest(), values.back());
}

TEST(Histogram, takes_values_that_were_put_into_buckets_before) {
  Histogram values, buckets;
  std::uint64_t largest = 0;
  for (std::uint64_t value = 3; value < 1'000'000'000; value += value / 3) {
    largest = value;
    for (int n = 0; n < 5; ++n)
      values.add(value);
    buckets.add_bucket(wire::bucket_of(value), 5);
  }
  buckets.note_largest(largest);
  buckets.add_bucket(wire::bucket_of(~std::uint64_t{0}) + 1, 7); // there is none

  EXPECT_EQ(buckets.total(), values.total());
  for (const unsigned percent : {1u, 50u, 90u, 99u, 100u})
    EXPECT_EQ(buckets.percentile(percent), values.percentile(percent)) << percent;
}

TEST(Histogram, is_added_to_another) {
  Histogram all, even, odd, cleared;
  for (std::uint64_t value = 1; value < 200'000; value += 7) {
    all.add(value);
    (value % 2 == 0 ? even : odd).add(value);
  }
  cleared.add(5);
  cleared.clear();

  cleared.add(odd);
  cleared.add(even);
  cleared.add(Histogram());

  EXPECT_EQ(cleared.total(), all.total());
  for (const unsigned percent : {1u, 50u, 90u, 99u})
    EXPECT_EQ(cleared.percentile(percent), all.percentile(percent)) << percent;
  EXPECT_EQ(cleared.largest(), all.largest());
}

} // namespace
} // namespace sonictrace
