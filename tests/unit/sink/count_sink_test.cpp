#include "sonictrace/sink/count_sink.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "sink_fixture.hpp"

namespace sonictrace {
namespace {

using Fixture = SinkFixture<CountSink>;

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

CountOptions table_only() {
  CountOptions options;
  options.closing_lines = false;
  ::setenv("TZ", "UTC0", 1);
  return options;
}

TEST(CountSink, prints_the_table_of_ltrace) {
  CountOptions options = table_only();
  options.ltrace = true;
  Fixture t(options);
  auto& b = t.build;
  t.call(1, b.function("int puts(string);"), 168 * kMicrosecond);
  t.call(1, b.function("ulong strlen(string);"), 60 * kMicrosecond);
  for (const char* name : {"free", "malloc", "strcpy"})
    t.call(1, b.unknown(name), 58 * kMicrosecond);

  // The numbers are those of a real table of ltrace 0.7.3.
  EXPECT_EQ(t.finished(), R"(% time     seconds  usecs/call     calls      function
------ ----------- ----------- --------- --------------------
 41.79    0.000168         168         1 puts
 14.93    0.000060          60         1 strlen
 14.43    0.000058          58         1 free
 14.43    0.000058          58         1 malloc
 14.43    0.000058          58         1 strcpy
------ ----------- ----------- --------- --------------------
100.00    0.000402                     5 total
)");
}

TEST(CountSink, sums_the_calls_of_one_name_and_sorts_by_time) {
  Fixture t(table_only());
  auto& b = t.build;
  const auto one = b.module("libone.so"), two = b.module("libtwo.so");
  t.call(1, b.unknown("f", {one}), 3 * kMicrosecond);
  t.call(1, b.unknown("f", {two}), 4 * kMicrosecond);
  t.call(2, b.unknown("_ZN1g1hEv"), 2 * kSecond + 999);

  EXPECT_EQ(t.finished(), R"(% time     seconds  usecs/call     calls      function
------ ----------- ----------- --------- --------------------
100.00    2.000000     2000000         1 g::h
  0.00    0.000007           3         2 f
------ ----------- ----------- --------- --------------------
100.00    2.000007                     3 total
)");
}

TEST(CountSink, prints_a_table_of_nothing) {
  Fixture t(table_only());

  EXPECT_EQ(t.finished(), R"(% time     seconds  usecs/call     calls      function
------ ----------- ----------- --------- --------------------
------ ----------- ----------- --------- --------------------
100.00    0.000000                     0 total
)");
}

TEST(CountSink, adds_columns_for_percentiles) {
  CountOptions options = table_only();
  options.percentiles = true;
  Fixture t(options);
  const auto f = t.build.unknown("f");
  for (std::uint64_t n = 1; n <= 100; ++n)
    t.call(1, f, n * 10);

  EXPECT_EQ(
      t.finished(),
      "% time     seconds  usecs/call     calls   p50 usecs   p90 usecs   p99 usecs   max usecs"
      "      function\n"
      "------ ----------- ----------- --------- ----------- ----------- ----------- -----------"
      " --------------------\n"
      "100.00    0.000050           0       100       0.500       0.904       0.984       1.000"
      " f\n"
      "------ ----------- ----------- --------- ----------- ----------- ----------- -----------"
      " --------------------\n"
      "100.00    0.000050                   100                                                "
      " total\n");
}

TEST(CountSink, counts_a_call_that_was_unwound_with_its_time) {
  Fixture t(table_only());
  t.build.enter(1, t.build.unknown("f"));
  t.build.unwind(1);

  EXPECT_NE(t.finished().find("100.00    0.000001           1         1 f\n"), std::string::npos);
}

TEST(CountSink, does_not_count_a_call_of_the_parent_in_its_child) {
  Fixture t(table_only());
  auto& b = t.build;
  b.thread(10, true);
  b.enter(10, b.function("int fork();"));
  b.fork(10, 11);
  b.leave(11, 0);
  b.leave(10, 11);

  EXPECT_NE(t.finished().find("         1 fork\n"), std::string::npos);
}

TEST(CountSink, tells_a_system_call_from_a_function_of_its_name) {
  Fixture t(table_only());
  auto& b = t.build;
  t.call(1, b.syscall("long write(int, addr, ulong);"), 1 * kMicrosecond);
  t.call(1, b.function("long write(int, addr, ulong);"), 2 * kMicrosecond);
  t.call(1, b.syscall("int close(int);"), 3 * kMicrosecond);

  const std::string table = t.finished();
  EXPECT_NE(table.find(" close\n"), std::string::npos) << table;
  EXPECT_NE(table.find(" write\n"), std::string::npos) << table;
  EXPECT_NE(table.find(" write@SYS\n"), std::string::npos) << table;
}

TEST(CountSink, names_system_calls_as_ltrace_does) {
  CountOptions options = table_only();
  options.ltrace = true;
  Fixture t(options);
  t.call(1, t.build.syscall("int close(int);"), 1 * kMicrosecond);

  EXPECT_NE(t.finished().find(" SYS_close\n"), std::string::npos);
}

TEST(CountSink, leaves_out_deep_and_short_calls) {
  CountOptions options = table_only();
  options.max_depth = 1;
  options.min_time_ns = 2'000;
  Fixture t(options);
  auto& b = t.build;
  const auto outer = b.unknown("outer"), inner = b.unknown("inner");
  b.enter(1, outer);
  b.enter(1, inner);
  b.enter(1, inner);
  b.leave(1);
  b.leave(1);
  b.leave(1);
  b.call(1, b.unknown("short_one"));

  const std::string table = t.finished();
  EXPECT_NE(table.find("         1 outer\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("inner"), std::string::npos) << table;
  EXPECT_EQ(table.find("short_one"), std::string::npos) << table;
}

TEST(CountSink, says_at_the_end_what_was_lost_and_what_is_still_open) {
  CountOptions options = table_only();
  options.closing_lines = true;
  Fixture t(options);
  auto& b = t.build;
  b.thread(1, true);
  b.thread(2);
  b.enter(1, b.function("int wait_long();"));
  b.enter(2, b.function("void exit(int);"));
  b.exited(2); // its thread is gone: exit was not going to return
  b.now_ns += 3 * kSecond;
  SessionSummary summary;
  summary.calls = 2;
  summary.lost = 7;

  const std::string text = t.finished(summary);

  EXPECT_NE(text.find("+++ 1 call has not returned: wait_long 3.000 s +++\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find(", 7 lost calls +++\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("exit"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(t.sink.closing_line() + "\n"));
}

TEST(CountSink, begins_with_the_banner_when_tracing_has_begun) {
  CountOptions options = table_only();
  options.banner = "tracing 1 (init)";
  Fixture t(options);
  EXPECT_EQ(t.visible(), "");

  t.build.thread(1, true);
  t.build.thread(2);

  EXPECT_EQ(t.visible(), "tracing 1 (init)\n");
}

TEST(CountSink, lets_no_name_of_a_process_act_on_a_terminal) {
  CountOptions options = table_only();
  options.banner = "tracing 1 (a\033]0;b\a)";
  Fixture t(options);

  t.build.thread(1, true);

  EXPECT_EQ(t.visible(), "tracing 1 (a\\033]0;b\\007)\n");
}

TEST(CountSink, counts_a_fork_where_it_was_made_and_as_ltrace_in_the_child_too) {
  for (const bool ltrace : {false, true}) {
    CountOptions options = table_only();
    options.ltrace = ltrace;
    Fixture t(options);
    const auto fork = t.build.function("int fork();");
    t.build.thread(10, true);
    t.build.enter_as(10, fork, 899, 1, {});
    t.build.thread(11);
    t.sink.define(InheritedCall{11, fork, 900, 1, 899});
    t.build.leave_as(11, fork, 900, 1, 0, 10 * kMicrosecond);
    t.build.leave_as(10, fork, 899, 1, 11, 20 * kMicrosecond);

    const std::string row = ltrace ? "100.00    0.000030          15         2 fork\n"
                                   : "100.00    0.000020          20         1 fork\n";
    const std::string text = t.finished();
    EXPECT_NE(text.find(row), std::string::npos) << text;
  }
}

/// The calls and the microseconds of a function in each table of a text.
struct Sums {
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> time_us;
};

Sums sums_of(const std::string& text, const std::string& name) {
  Sums sums;
  const std::regex row(R"( *[0-9]+\.[0-9]+ +([0-9]+)\.([0-9]{6}) +[0-9]+ +([0-9]+) )" + name +
                       "\n");
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
    sums.time_us.push_back(std::stoull((*at)[1]) * 1'000'000 + std::stoull((*at)[2]));
    sums.calls.push_back(std::stoull((*at)[3]));
  }
  return sums;
}

TEST(CountSink, prints_a_table_each_interval_whose_sum_is_the_summary) {
  CountOptions options = table_only();
  options.interval_ns = 5 * kSecond;
  Fixture t(options);
  auto& b = t.build;
  b.thread(1, true);
  const auto f = b.unknown("f"), g = b.unknown("g");
  const std::uint64_t end = b.now_ns + 12 * kSecond;
  std::uint64_t calls = 0;
  while (b.now_ns < end) {
    t.call(1, f, 1000);
    if (++calls % 10 == 0) t.call(1, g, 5000);
    b.now_ns += kSecond / 100;
    t.sink.tick(b.now_ns);
  }

  const std::string text = t.finished();

  const Sums f_sums = sums_of(text, "f"), g_sums = sums_of(text, "g");
  ASSERT_EQ(f_sums.calls.size(), 4u) << text; // three intervals, the last one cut, and the summary
  EXPECT_EQ(f_sums.calls[0] + f_sums.calls[1] + f_sums.calls[2], f_sums.calls[3]);
  EXPECT_EQ(f_sums.calls[3], calls);
  EXPECT_EQ(g_sums.calls[0] + g_sums.calls[1] + g_sums.calls[2], g_sums.calls[3]);
  EXPECT_EQ(f_sums.time_us[0] + f_sums.time_us[1] + f_sums.time_us[2], f_sums.time_us[3]);
  EXPECT_TRUE(text.starts_with("+++ 03:27:03: ")) << text.substr(0, 80);
  EXPECT_NE(text.find(" in 5.000 s +++\n"), std::string::npos);
  EXPECT_NE(text.find("\n+++ summary of 12."), std::string::npos) << text;
}

TEST(CountSink, prints_a_line_for_an_interval_without_calls) {
  CountOptions options = table_only();
  options.interval_ns = kSecond;
  Fixture t(options);
  t.build.thread(1, true);

  t.sink.tick(t.build.now_ns + 2 * kSecond + kSecond / 2);

  EXPECT_EQ(t.visible(), "+++ 03:26:59: 0 calls in 1.000 s +++\n"
                         "+++ 03:27:00: 0 calls in 1.000 s +++\n");
}

TEST(CountSink, does_not_drown_in_tables_when_the_clock_is_put_forward_or_back) {
  CountOptions options = table_only();
  options.interval_ns = kSecond;
  Fixture t(options);
  t.build.thread(1, true);

  t.sink.tick(t.build.now_ns + 1'000'000 * kSecond);
  const std::string text = t.visible();
  t.sink.tick(t.build.now_ns);

  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 101);
  EXPECT_EQ(t.visible(), text);
  t.call(1, t.build.unknown("f"), 1);
  EXPECT_NE(t.finished().find(" 1 total\n"), std::string::npos);
}

TEST(CountSink, keeps_the_percentiles_of_all_intervals) {
  CountOptions options = table_only();
  options.percentiles = true;
  options.interval_ns = kSecond;
  Fixture t(options);
  auto& b = t.build;
  b.thread(1, true);
  const auto f = b.unknown("f");
  t.call(1, f, 10);
  b.now_ns += kSecond;
  t.call(1, f, 20);
  t.call(1, f, 30);

  const std::string text = t.finished();

  const auto summary = text.substr(text.find("+++ summary"));
  EXPECT_NE(summary.find("       0.020       0.030       0.030       0.030 f\n"), std::string::npos)
      << summary;
}

TEST(CountSink, writes_as_much_for_a_million_calls_as_for_one) {
  Fixture t(table_only());
  const auto f = t.build.unknown("f");
  for (int n = 0; n < 1'000'000; ++n)
    t.call(1, f, 1);

  const std::string text = t.finished();
  EXPECT_LT(text.size(), 512u);
  EXPECT_NE(text.find("  1000000 f\n"), std::string::npos);
}

TEST(CountSink, writes_its_tables_as_json) {
  CountOptions options = table_only();
  options.json = true;
  options.percentiles = true;
  options.host = "here";
  Fixture t(options);
  auto& b = t.build;
  b.thread(1, true);
  t.call(1, b.unknown("f"), 7);
  b.enter(1, b.unknown("g"));
  SessionSummary summary;
  summary.calls = 2;
  summary.engine = "breakpoint";

  EXPECT_EQ(t.finished(summary),
            R"({"v":1,"kind":"counts","host":"here","time":"2026-11-30T03:26:58.000003000Z",)"
            R"("time_ns":1796009218000003000,"final":true,"span_ns":3000,"functions":[)"
            R"({"name":"f","calls":1,"time_ns":7,"p50_ns":7,"p90_ns":7,"p99_ns":7,"max_ns":7}],)"
            R"("open":[{"name":"g","calls":1,"time_ns":1000}],"calls":2,"lost":0,"modules":0,)"
            R"("damaged_batches":0,"engine":"breakpoint","cost_ns":0,"reason":null})"
            "\n");
}

} // namespace
} // namespace sonictrace
