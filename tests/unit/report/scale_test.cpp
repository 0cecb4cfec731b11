#include "sonictrace/report/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonictrace::report {
namespace {

TEST(PowerFit, finds_the_exponent_and_the_factor) {
  const std::vector<Point> points = {
      {256, 3 * 256.0 * 256}, {512, 3 * 512.0 * 512}, {1024, 3 * 1024.0 * 1024}};

  const auto fit = fit_power(points);

  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 2, 1e-12);
  EXPECT_NEAR(fit->factor, 3, 1e-9);
  EXPECT_NEAR(fit->r_squared, 1, 1e-12);
  EXPECT_NEAR(fit->standard_error, 0, 1e-9);
}

// By hand: with x = e^0, e^1, e^2 and y = e^0, e^2, e^1 the slope is 1/2, and R^2 1/4.
TEST(PowerFit, says_how_far_the_points_are_from_it) {
  const std::vector<Point> points = {
      {1, 1}, {std::exp(1.0), std::exp(2.0)}, {std::exp(2.0), std::exp(1.0)}};

  const auto fit = fit_power(points);

  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0.5, 1e-12);
  EXPECT_NEAR(fit->r_squared, 0.25, 1e-12);
  EXPECT_NEAR(fit->standard_error, std::sqrt(0.75), 1e-12);
}

TEST(PowerFit, of_what_does_not_grow_is_0) {
  const std::vector<Point> points = {{1, 7}, {2, 7}, {4, 7}};

  const auto fit = fit_power(points);

  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0, 1e-12);
  EXPECT_EQ(fit->r_squared, 1);
}

TEST(PowerFit, needs_three_different_values_above_0) {
  EXPECT_FALSE(fit_power(std::vector<Point>{{1, 1}, {2, 2}}));
  EXPECT_FALSE(fit_power(std::vector<Point>{{1, 1}, {2, 2}, {2, 3}}));
  EXPECT_FALSE(fit_power(std::vector<Point>{{1, 1}, {2, 0}, {3, 3}}));
}

TEST(ScaleParameter, is_taken_apart) {
  const auto parameter = parse_scale_parameter("resolution=256:a.log,0.5:dir/b:c.log");

  ASSERT_TRUE(parameter);
  EXPECT_EQ(parameter->name, "resolution");
  ASSERT_EQ(parameter->runs.size(), 2U);
  EXPECT_EQ(parameter->runs[0].value, 256);
  EXPECT_EQ(parameter->runs[1].value, 0.5);
  EXPECT_EQ(parameter->runs[1].path, "dir/b:c.log");
}

TEST(ScaleParameter, that_is_none_is_told_so) {
  for (const char* const text :
       {"resolution", "=1:a", "r=", "r=a.log", "r=x:a.log", "r=0:a.log", "r=1:"}) {
    const auto parameter = parse_scale_parameter(text);

    EXPECT_FALSE(parameter) << text;
  }
}

} // namespace
} // namespace sonictrace::report
