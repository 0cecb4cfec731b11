#include "sonictrace/report/export.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sonictrace/report/export_formats.hpp"
#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

using log::test::TextFile;

std::vector<ExportInterval> intervals_of(const std::string& text, std::uint64_t interval_ns,
                                         bool per_thread = false, const ModuleNames& modules = {}) {
  const TextFile file(text);
  auto filter = CallFilter::make({});
  auto reader = log::LogReader::open(file.path(), {});
  std::vector<ExportInterval> intervals;
  Exporter exporter({interval_ns, per_thread}, *filter, reader->functions(), modules,
                    [&](ExportInterval&& one) { intervals.push_back(std::move(one)); });
  EXPECT_TRUE(reader->pump(exporter));
  exporter.finish();
  EXPECT_EQ(exporter.late(), 0U);
  return intervals;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Exporter, puts_a_call_into_the_interval_that_it_ends_in) {
  const auto intervals = intervals_of("1796009100.500000 a() = 0 <0.100000>\n"
                                      "1796009101.000000 b() = 0 <0.100000>\n"
                                      "1796009100.900000 a() = 0 <0.300000>\n"
                                      "1796009105.000000 a() = 0 <0.000001>\n",
                                      kSecond);

  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[0].from_ns, 1796009100 * kSecond);
  EXPECT_EQ(intervals[0].rows.size(), 1U);
  EXPECT_EQ(intervals[1].from_ns, 1796009101 * kSecond);
  ASSERT_EQ(intervals[1].rows.size(), 2U);
  EXPECT_EQ(intervals[1].rows[0].function, "a");
  EXPECT_EQ(intervals[1].rows[0].stats.sum_ns, 300'000'000U);
  EXPECT_EQ(intervals[1].rows[0].stats.self_ns, 200'000'000U);
  EXPECT_EQ(intervals[2].from_ns, 1796009105 * kSecond);
}

TEST(Exporter, gives_one_interval_of_the_whole_log_where_none_is_asked_for) {
  const auto intervals = intervals_of("a() = 0\na() = 0\n+++ a is in liba.so.1 +++\n", 0);

  ASSERT_EQ(intervals.size(), 1U);
  ASSERT_EQ(intervals[0].rows.size(), 1U);
  EXPECT_EQ(intervals[0].rows[0].stats.calls, 2U);
  EXPECT_EQ(intervals[0].rows[0].module, "liba.so.1");
}

TEST(Exporter, tells_threads_apart_if_asked) {
  const auto intervals = intervals_of("7 a() = 0\n8 a() = 0\n8 a() = 0\n", 0, true);

  ASSERT_EQ(intervals.size(), 1U);
  EXPECT_EQ(intervals[0].pid, 7U);
  ASSERT_EQ(intervals[0].rows.size(), 2U);
  EXPECT_EQ(intervals[0].rows[0].tid, 8U);
  EXPECT_EQ(intervals[0].rows[0].stats.calls, 2U);
}

TEST(Exporter, knows_modules_that_the_log_tells_at_its_end_from_a_reading_before) {
  const TextFile file("1796009100.000000 a() = 0\n+++ a is in liba.so.1 +++\n");
  auto reader = log::LogReader::open(file.path(), {});

  const auto modules = read_modules(*reader);

  ASSERT_TRUE(modules);
  EXPECT_EQ(intervals_of("1796009100.000000 a() = 0\n1796009102.000000 a() = 0\n", kSecond, false,
                         *modules)[0]
                .rows[0]
                .module,
            "liba.so.1");
}

TEST(Exporter, adds_calls_that_the_log_only_counts) {
  const auto intervals =
      intervals_of("a() = 0 <0.000001>\n+++ a: 9 more calls, 0.5 s, not written +++\n", 0);

  EXPECT_EQ(intervals[0].rows[0].stats.calls, 10U);
  EXPECT_EQ(intervals[0].rows[0].stats.sum_ns, 500'001'000U);
  EXPECT_EQ(intervals[0].rows[0].stats.timed, 1U);
}

TEST(ExportRows, are_added_up_behind_the_first_ones) {
  std::vector<ExportRow> rows(4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].function = std::string(1, static_cast<char>('a' + i));
    rows[i].stats.calls = 1 + i;
    rows[i].stats.self_ns = 10 * i;
  }

  sort_rows(rows);
  fold_rows(rows, 2);

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].function, "d");
  EXPECT_EQ(rows[2].function, "other");
  EXPECT_EQ(rows[2].stats.calls, 3U);
  EXPECT_EQ(rows[2].stats.self_ns, 10U);
}

TEST(DurationLimits, have_a_duration_that_is_a_limit_in_its_bucket) {
  DurationLimits limits;
  limits.add(10'000);
  limits.add(10'001);
  limits.add(20'000'000'000);

  EXPECT_EQ(limits.at_most(2), 0U); // 5 us
  EXPECT_EQ(limits.at_most(3), 1U); // 10 us
  EXPECT_EQ(limits.at_most(4), 2U); // 20 us
  EXPECT_EQ(limits.at_most(21), 2U);
}

TEST(ExponentialHistogram, has_values_between_the_edges_of_its_buckets) {
  for (const std::uint64_t value : {1ULL, 2ULL, 63ULL, 1'000ULL, 123'456ULL, 7'000'000'000ULL}) {
    DurationHistogram durations;
    durations.add(value);

    const auto exponential = ExponentialHistogram::of(durations, 1);

    ASSERT_EQ(exponential.counts.size(), 1U);
    const double middle = std::exp2((static_cast<double>(exponential.offset) + 0.5) / 32);
    EXPECT_NEAR(middle / static_cast<double>(value), 1, 0.027) << value;
  }
}

TEST(ExponentialHistogram, keeps_the_count_of_all_values) {
  DurationHistogram durations;
  for (std::uint64_t value = 0; value < 5000; ++value)
    durations.add(value);

  const auto exponential = ExponentialHistogram::of(durations, 1e9);

  std::uint64_t sum = exponential.zeros;
  for (const auto count : exponential.counts)
    sum += count;
  EXPECT_EQ(exponential.zeros, 1U);
  EXPECT_EQ(sum, 5000U);
}

TEST(TimeOffset, is_of_the_day_that_was_given) {
  ::setenv("TZ", "UTC", 1);
  constexpr std::int64_t kDay = 86'400'000'000'000;

  // Times of day count from the midnight before the first line's day.
  EXPECT_EQ(*time_offset(log::Clock::TimeOfDay, "1970-01-03"), (TimeOffset{kDay, true}));
  EXPECT_EQ(*time_offset(log::Clock::TimeOfDay, ""), (TimeOffset{-kDay, false}));
  EXPECT_EQ(*time_offset(log::Clock::Relative, ""), (TimeOffset{0, false}));
  EXPECT_EQ(*time_offset(log::Clock::Epoch, "1970-01-03"), (TimeOffset{0, true}));
  EXPECT_FALSE(time_offset(log::Clock::TimeOfDay, "tomorrow"));
}

} // namespace
} // namespace sonictrace::report
