// What stands in front of a line, and its times.

#include <gtest/gtest.h>

#include <cstdlib>

#include "sink/time_text.hpp"
#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kTime = RecordBuilder::kStart + 757'446'123;

std::string stamp(TimeStamp form, bool nanoseconds, const char* zone, std::uint64_t time_ns) {
  ::setenv("TZ", zone, 1);
  std::string out;
  TimeText(form, nanoseconds).append(out, time_ns);
  return out;
}

TEST(TimeText, has_ltraces_forms) {
  EXPECT_EQ(stamp(TimeStamp::None, false, "UTC0", kTime), "");
  EXPECT_EQ(stamp(TimeStamp::Seconds, false, "UTC0", kTime), "03:26:58");
  EXPECT_EQ(stamp(TimeStamp::Microseconds, false, "UTC0", kTime), "03:26:58.757446");
  EXPECT_EQ(stamp(TimeStamp::Epoch, false, "UTC0", kTime), "1796009218.757446");
  EXPECT_EQ(stamp(TimeStamp::Relative, false, "UTC0", kTime), "  0.000000");
}

TEST(TimeText, has_nine_digits_when_asked) {
  EXPECT_EQ(stamp(TimeStamp::Seconds, true, "UTC0", kTime), "03:26:58");
  EXPECT_EQ(stamp(TimeStamp::Microseconds, true, "UTC0", kTime), "03:26:58.757446123");
  EXPECT_EQ(stamp(TimeStamp::Epoch, true, "UTC0", kTime), "1796009218.757446123");
  EXPECT_EQ(stamp(TimeStamp::Relative, true, "UTC0", kTime), "  0.000000000");
}

TEST(TimeText, is_local_and_follows_the_clock_change) {
  EXPECT_EQ(stamp(TimeStamp::Seconds, false, "IST-5:30", kTime), "08:56:58");
  // Central European summer time began at 2026-03-29 01:00:00 UTC.
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  TimeText time(TimeStamp::Microseconds, false);
  std::string out;
  time.append(out, 1'774'745'999'999'999'999);
  out += ' ';
  time.append(out, 1'774'746'000'000'000'000);
  EXPECT_EQ(out, "01:59:59.999999 03:00:00.000000");
  ::setenv("TZ", "UTC0", 1);
}

TEST(TimeText, is_never_negative_between_lines) {
  TimeText time(TimeStamp::Relative, false);
  std::string out;
  for (const std::uint64_t at : {5'000'000'000ul, 4'000'000'000ul, 4'000'001'999ul}) {
    time.append(out, at);
    out += '|';
  }
  EXPECT_EQ(out, "  0.000000|  0.000000|  0.000001|");
}

TEST(Duration, is_cut_not_rounded) {
  const auto duration = [](std::uint64_t ns, bool nanoseconds) {
    std::string out;
    append_duration(out, ns, nanoseconds);
    return out;
  };
  EXPECT_EQ(duration(0, false), "<0.000000>");
  EXPECT_EQ(duration(1'999, false), "<0.000001>");
  EXPECT_EQ(duration(12'345'678'901, false), "<12.345678>");
  EXPECT_EQ(duration(12'345'678'901, true), "<12.345678901>");
}

/// The first line of a call of thread `tid`, in a program whose first thread is 10.
std::string line_of(pid_t tid, const TextOptions& options) {
  LogFixture t(options);
  t.build.thread_of(10, 10, true);
  t.build.thread_of(10, 11);
  t.build.call(tid, t.build.function("int f();"), {}, 7);
  return t.finished();
}

TEST(Prefix, tells_other_threads_behind_the_time) {
  TextOptions options = whole_form();
  options.align = 0;
  options.thread_after_time = true;
  options.time = TimeStamp::Microseconds;

  EXPECT_EQ(line_of(10, options), "03:26:58.000000 f() = 7\n");
  EXPECT_EQ(line_of(11, options), "03:26:58.000000/11 f() = 7\n");
}

TEST(Prefix, tells_other_threads_in_front_where_there_is_no_time) {
  TextOptions options = whole_form();
  options.align = 0;
  options.thread_after_time = true;
  EXPECT_EQ(line_of(10, options), "f() = 7\n");
  EXPECT_EQ(line_of(11, options), "[pid 11] f() = 7\n");

  options.brackets = false;
  EXPECT_EQ(line_of(11, options), "11 f() = 7\n");
}

TEST(Prefix, tells_every_thread_when_asked) {
  TextOptions options = whole_form();
  options.align = 0;
  options.pid_prefix = true;
  options.thread_after_time = true;
  options.time = TimeStamp::Seconds;
  EXPECT_EQ(line_of(10, options), "[pid 10] 03:26:58 f() = 7\n");
  EXPECT_EQ(line_of(11, options), "[pid 11] 03:26:58 f() = 7\n");
}

TEST(Prefix, has_pid_time_address_and_indent_in_this_order) {
  TextOptions options = whole_form();
  options.align = 0;
  options.pid_prefix = true;
  options.time = TimeStamp::Seconds;
  options.instruction_pointer = true;
  options.indent = 3;
  LogFixture t(options);
  t.build.enter(10, t.build.function("int f();"));
  t.build.call(10, t.build.function("int g();"));

  EXPECT_EQ(t.finished(), "[pid 10] 03:26:58 [0x401184]    g() = 0\n"
                          "[pid 10] 03:26:58 [0x401184] f( <no return ...>\n");
}

TEST(Prefix, of_a_remark_is_the_time) {
  TextOptions options = whole_form();
  options.pid_prefix = true;
  options.instruction_pointer = true;
  options.time = TimeStamp::Epoch;
  LogFixture t(options);
  t.build.remark("stopped after 10s");

  EXPECT_EQ(t.finished(), "1796009218.000000 +++ stopped after 10s +++\n");
}

TEST(Prefix, counts_into_the_column) {
  TextOptions options = whole_form();
  options.align = 20;
  options.pid_prefix = true;
  options.brackets = false;
  EXPECT_EQ(line_of(10, options), "10 f()             = 7\n");
}

} // namespace
} // namespace sonictrace
