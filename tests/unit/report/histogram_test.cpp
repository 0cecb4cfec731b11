#include "sonictrace/report/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sonictrace::report {
namespace {

TEST(DurationHistogram, has_no_quantiles_of_nothing) {
  EXPECT_EQ(DurationHistogram().quantile(500), 0U);
  EXPECT_EQ(DurationHistogram().least(), 0U);
}

TEST(DurationHistogram, knows_a_single_value_exactly) {
  DurationHistogram histogram;
  histogram.add(12'345'678);

  for (const unsigned per_mille : {1U, 500U, 1000U})
    EXPECT_EQ(histogram.quantile(per_mille), 12'345'678U);
}

TEST(DurationHistogram, gives_quantiles_within_a_sixtieth) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> durations(9, 3);
  DurationHistogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(durations(random)));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());

  for (const unsigned per_mille : {1U, 10U, 500U, 900U, 990U, 999U, 1000U}) {
    const auto exact = static_cast<double>(values[(values.size() * per_mille + 999) / 1000 - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(per_mille)), exact, exact / 60 + 0.5)
        << per_mille;
  }
}

TEST(DurationHistogram, adds_up_to_that_of_all_values_in_any_order) {
  DurationHistogram all, even, odd;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    all.add(i * i * i);
    (i % 2 == 0 ? even : odd).add(i * i * i);
  }
  DurationHistogram sum = odd;
  sum.add(even);
  even.add(odd);

  for (unsigned per_mille = 0; per_mille <= 1000; per_mille += 50) {
    EXPECT_EQ(sum.quantile(per_mille), all.quantile(per_mille));
    EXPECT_EQ(even.quantile(per_mille), all.quantile(per_mille));
  }
  EXPECT_EQ(sum.total(), 5000U);
  EXPECT_EQ(sum.largest(), all.largest());
}

TEST(DurationHistogram, takes_any_value) {
  DurationHistogram histogram;
  histogram.add(~std::uint64_t{0});
  histogram.add(0);

  EXPECT_EQ(histogram.quantile(1000), ~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), 0U);
}

} // namespace
} // namespace sonictrace::report
