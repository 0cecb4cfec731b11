#include "sonictrace/report/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sonictrace::report {
namespace {

using Values = std::vector<double>;

/// By the definition: all ways to deal the values out to two samples of these sizes, and U counted
/// pair by pair.
double p_by_enumeration(const Values& a, const Values& b) {
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  const auto distance = [&](const std::vector<bool>& in_a) {
    double u = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (!in_a[i] || in_a[j]) continue;
        if (all[i] > all[j]) u += 1;
        if (!(all[i] > all[j]) && !(all[i] < all[j])) u += 0.5;
      }
    return std::abs(u - static_cast<double>(a.size() * b.size()) / 2);
  };
  std::vector<bool> in_a(all.size());
  std::fill(in_a.begin(), in_a.begin() + static_cast<std::ptrdiff_t>(a.size()), true);
  const double observed = distance(in_a);
  std::sort(in_a.begin(), in_a.end());
  double extreme = 0;
  double count = 0;
  do {
    count += 1;
    if (distance(in_a) >= observed - 1e-9) extreme += 1;
  } while (std::next_permutation(in_a.begin(), in_a.end()));
  return extreme / count;
}

TEST(MannWhitney, is_exact_for_samples_that_do_not_overlap) {
  // 2 / C(2n, n): 2 of 6, of 20, of 70, of 252, of 924, of 3432.
  const struct {
    std::size_t n;
    double p;
  } cases[] = {{2, 2.0 / 6},   {3, 2.0 / 20},  {4, 2.0 / 70},
               {5, 2.0 / 252}, {6, 2.0 / 924}, {7, 2.0 / 3432}};
  for (const auto& one : cases) {
    Values a(one.n), b(one.n);
    for (std::size_t i = 0; i < one.n; ++i) {
      a[i] = static_cast<double>(i);
      b[i] = static_cast<double>(100 + i);
    }

    EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), one.p) << one.n;
    EXPECT_DOUBLE_EQ(mann_whitney_p(b, a), one.p) << one.n;
    EXPECT_DOUBLE_EQ(least_mann_whitney_p(one.n, one.n), one.p) << one.n;
  }
}

TEST(MannWhitney, agrees_with_printed_tables_of_u) {
  // Critical values of U at 0.05, two-sided (Mann and Whitney 1947, and every table since): 5 v 5:
  // 2, 7 v 7: 8, 4 v 6: 2. At the critical value p is at most 0.05, one above it is not.
  const auto with_u = [](std::size_t n, std::size_t m, std::size_t u) {
    // `a` below all of `b`, and then u pairs turned around by its greatest values.
    Values a, b;
    for (std::size_t j = 0; j < m; ++j)
      b.push_back(static_cast<double>(10 * (j + 1)));
    for (std::size_t i = n; i > 0; --i) {
      const std::size_t above = std::min(u, m);
      u -= above;
      a.push_back(static_cast<double>(10 * above) + 1 + static_cast<double>(i) / 10);
    }
    return mann_whitney_p(a, b);
  };

  EXPECT_LE(with_u(5, 5, 2), 0.05);
  EXPECT_GT(with_u(5, 5, 3), 0.05);
  EXPECT_LE(with_u(7, 7, 8), 0.05);
  EXPECT_GT(with_u(7, 7, 9), 0.05);
  EXPECT_LE(with_u(4, 6, 2), 0.05);
  EXPECT_GT(with_u(4, 6, 3), 0.05);
}

TEST(MannWhitney, is_the_enumeration_of_all_cases_with_ties_and_unequal_sizes) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> few_values(0, 5);
  std::uniform_int_distribution<std::size_t> size(1, 6);
  for (int round = 0; round < 200; ++round) {
    Values a(size(random)), b(size(random));
    for (double& value : a)
      value = few_values(random);
    for (double& value : b)
      value = few_values(random);

    EXPECT_NEAR(mann_whitney_p(a, b), p_by_enumeration(a, b), 1e-12);
  }
}

TEST(MannWhitney, finds_nothing_where_all_values_are_the_same_or_missing) {
  EXPECT_DOUBLE_EQ(mann_whitney_p(Values(7, 3.0), Values(7, 3.0)), 1);
  EXPECT_DOUBLE_EQ(mann_whitney_p(Values(70, 3.0), Values(70, 3.0)), 1);
  EXPECT_DOUBLE_EQ(mann_whitney_p(Values{}, Values{1.0}), 1);
}

TEST(MannWhitney, goes_on_smoothly_where_it_is_no_longer_exact) {
  const auto shifted = [](std::size_t n) {
    Values a, b;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(static_cast<double>(i));
      b.push_back(static_cast<double>(i) + 0.25 * static_cast<double>(n) + 0.5);
    }
    return mann_whitney_p(a, b);
  };

  const double exact = shifted(30), approximate = shifted(31);
  EXPECT_LT(exact, 0.01);
  EXPECT_NEAR(approximate / exact, 1, 0.25);
}

TEST(BenjaminiHochberg, gives_the_adjusted_values_of_the_paper) {
  // The fifteen p-values of Benjamini and Hochberg 1995, section 3.1: at 5 % four are discoveries.
  const Values p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};

  const auto q = benjamini_hochberg(p);

  EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double one) { return one <= 0.05; }), 4);
  EXPECT_NEAR(q[0], 0.0015, 1e-12);
  EXPECT_NEAR(q[1], 0.0030, 1e-12);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_NEAR(q[4], 0.0201 * 15 / 5, 1e-12);
  EXPECT_NEAR(q[5], 0.0298 * 15 / 7, 1e-12); // not 0.0278 * 15 / 6: what follows is less
  EXPECT_NEAR(q[14], 1, 1e-12);
}

TEST(BenjaminiHochberg, does_not_depend_on_the_order) {
  const auto q = benjamini_hochberg(Values{0.04, 0.01, 0.03, 0.02});

  for (const double one : q)
    EXPECT_NEAR(one, 0.04, 1e-12);
  EXPECT_TRUE(benjamini_hochberg(Values{}).empty());
}

TEST(Median, is_the_middle_one_or_between_the_two_in_the_middle) {
  EXPECT_DOUBLE_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median(Values{}), 0);
}

TEST(NoiseFloor, is_how_far_runs_of_the_same_are_apart) {
  EXPECT_DOUBLE_EQ(noise_floor(Values{10, 10, 10}), 0);
  EXPECT_NEAR(noise_floor(Values{10, 11}), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(noise_floor(Values{10}), 0);
  EXPECT_DOUBLE_EQ(noise_floor(Values{10, 0}), 0);
}

TEST(RunScales, find_the_speed_of_each_run_whatever_one_series_does) {
  // Three series in four runs, the last two twice as slow; one series is slower there besides.
  const std::vector<Values> series = {{1, 1, 2, 2}, {10, 10, 20, 20}, {5, 5, 30, 30}};

  const auto scales = run_scales(series, 4);

  ASSERT_EQ(scales.size(), 4u);
  EXPECT_NEAR(scales[2] / scales[0], 2, 1e-12);
  EXPECT_NEAR(scales[3] / scales[1], 2, 1e-12);
  EXPECT_EQ(run_scales({}, 2), (Values{1, 1}));
}

// Two that vary by themselves, and two that tell of a machine a tenth slower in the last run.
TEST(RunScales, are_told_by_the_series_that_are_steady) {
  const std::vector<Values> series = {
      {1, 1.5, 0.7, 1.3, 2}, {10, 6, 16, 8, 5}, {5, 5.01, 4.99, 5, 5.5}, {7, 7.02, 6.99, 7, 7.7}};

  const auto scales = run_scales(series, 5);

  for (std::size_t run = 0; run < 4; ++run)
    EXPECT_NEAR(scales[run] / scales[0], 1, 0.01) << run;
  EXPECT_NEAR(scales[4] / scales[0], 1.1, 0.01);
}

// One function that no longer does anything with the machine's speed is not the machine.
TEST(RunScales, are_not_told_by_one_series_against_the_others) {
  const std::vector<Values> series = {{1, 1, 2, 2}, {10, 10, 20, 20}, {5, 5, 10, 10}, {7, 7, 7, 7}};

  const auto scales = run_scales(series, 4);

  EXPECT_NEAR(scales[2] / scales[0], 2, 1e-12);
}

} // namespace
} // namespace sonictrace::report
