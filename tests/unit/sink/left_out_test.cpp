#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "sink/closing_line.hpp"
#include "sink_fixture.hpp"

namespace sonictrace {
namespace {

struct TextFixture : SinkFixture<TextSink> {
  explicit TextFixture(const TextOptions& options) : SinkFixture(options, false) {}
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// Nanoseconds that a log with -T --ns says of each function: those of lines and of remarks.
struct Told {
  std::uint64_t calls = 0;
  std::uint64_t time_ns = 0;
};

std::map<std::string, Told> told_by(const std::string& log) {
  static const std::regex line(R"(([a-z_]+)\(.* <(\d+)\.(\d{9})>)");
  static const std::regex remark(R"(\+\+\+ ([a-z_]+): (\d+) more calls?, (\d+)\.(\d{9}) s, )"
                                 R"(not written \+\+\+)");
  std::map<std::string, Told> told;
  for (std::size_t begin = 0, end = 0; begin < log.size(); begin = end + 1) {
    end = log.find('\n', begin);
    const std::string text = log.substr(begin, end - begin);
    std::smatch match;
    if (std::regex_match(text, match, remark)) {
      Told& one = told[match[1]];
      one.calls += std::stoull(match[2]);
      one.time_ns += std::stoull(match[3]) * 1'000'000'000 + std::stoull(match[4]);
    } else if (std::regex_match(text, match, line)) {
      Told& one = told[match[1]];
      ++one.calls;
      one.time_ns += std::stoull(match[2]) * 1'000'000'000 + std::stoull(match[3]);
    }
  }
  return told;
}

TextOptions timed(LineForm form) {
  TextOptions options = split_form();
  options.form = form;
  options.durations = true;
  options.nanoseconds = true;
  return options;
}

class Thinning : public testing::TestWithParam<LineForm> {};

TEST_P(Thinning, leaves_out_short_calls_of_frequent_functions_and_keeps_every_sum_exact) {
  TextOptions options = timed(GetParam());
  options.thin_after = 100'000;
  options.closing_lines = true;
  TextFixture t(options);
  auto& b = t.build;
  const auto hot = b.function("int hot();"), cold = b.function("int cold();");
  std::map<std::string, Told> truth;
  const auto call = [&](const char* name, FunctionId function, std::uint64_t duration_ns) {
    t.call(1, function, duration_ns);
    ++truth[name].calls;
    truth[name].time_ns += duration_ns;
  };
  for (std::uint64_t n = 0; n < 50'000; ++n) {
    call("hot", hot, n % 1000 == 0 ? 100'000 + n : n % 99'999);
    if (n % 100 == 0) call("cold", cold, 17);
    if (n % 1000 == 0) t.sink.tick(b.now_ns);
  }

  const std::string log = t.finished();

  const auto told = told_by(log);
  EXPECT_EQ(told.at("hot").calls, truth["hot"].calls);
  EXPECT_EQ(told.at("hot").time_ns, truth["hot"].time_ns);
  EXPECT_EQ(told.at("cold").calls, truth["cold"].calls);
  EXPECT_EQ(told.at("cold").time_ns, truth["cold"].time_ns);
  EXPECT_EQ(count_of(log, "cold("), truth["cold"].calls); // all of them in lines
  EXPECT_EQ(count_of(log, "hot("), 10'000 + 40u);         // and those that took 100 us or more
  EXPECT_NE(log.find("39960 short calls of frequent functions counted and not written"),
            std::string::npos)
      << t.sink.closing_line();
}

TEST_P(Thinning, tells_what_was_left_out_every_10_seconds) {
  TextOptions options = timed(GetParam());
  options.thin_after = 1;
  TextFixture t(options);
  auto& b = t.build;
  const auto hot = b.function("int hot();");
  for (int n = 0; n < 12'000; ++n)
    t.call(1, hot, 1);
  for (int half_second = 0; half_second < 45; ++half_second) {
    b.now_ns += 500'000'000;
    t.sink.tick(b.now_ns);
    t.call(1, hot, 2);
  }
  t.sink.tick(b.now_ns);

  EXPECT_EQ(count_of(t.visible(), "+++ hot: "), 2u) << t.visible().substr(550'000);
  EXPECT_EQ(told_by(t.finished()).at("hot").time_ns, 12'000u + 90u);
}

TEST_P(Thinning, writes_calls_that_do_not_return) {
  TextOptions options = timed(GetParam());
  options.thin_after = 1;
  TextFixture t(options);
  auto& b = t.build;
  const auto hot = b.function("int hot(int);");
  for (int n = 0; n < 10'000; ++n)
    t.call(1, hot, 1);
  b.enter(1, hot, {77});

  EXPECT_TRUE(t.finished().ends_with("hot(77 <no return ...>\n"));
}

TEST_P(Thinning, never_begins_in_the_form_of_ltrace_or_where_it_is_off) {
  for (const bool ltrace : {false, true}) {
    TextOptions options = timed(GetParam());
    options.ltrace = ltrace;
    options.thin_after = ltrace ? 1 : 0;
    TextFixture t(options);
    const auto hot = t.build.function("int hot();");
    for (int n = 0; n < 12'000; ++n)
      t.call(1, hot, 1);

    EXPECT_EQ(count_of(t.finished(), "hot("), 12'000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Thinning, testing::Values(LineForm::Whole, LineForm::Split),
                         [](const auto& tested) {
                           return std::string(tested.param == LineForm::Whole ? "whole" : "split");
                         });

TEST(ThinningOfSplitLines, holds_back_the_beginning_and_writes_a_long_call_whole) {
  TextOptions options = split_form();
  options.thin_after = 1;
  TextFixture t(options);
  auto& b = t.build;
  const auto hot = b.function("int hot(int);");
  for (int n = 0; n < 10'000; ++n)
    t.call(1, hot, 1);
  b.enter(1, hot, {5});
  b.call(1, b.function("int inner();"));
  b.now_ns += 200'000;
  b.leave(1, 6);

  EXPECT_TRUE(t.finished().ends_with("inner()                                          = 0\n"
                                     "hot(5)                                           = 6\n"));
}

class Sampling : public testing::TestWithParam<LineForm> {};

TEST_P(Sampling, writes_every_nth_call_of_each_function) {
  TextOptions options = split_form();
  options.form = GetParam();
  options.sample = 1000;
  options.closing_lines = true;
  TextFixture t(options);
  auto& b = t.build;
  const auto read = b.function("int read();"), futex = b.function("int futex();");
  for (int n = 0; n < 9'000; ++n)
    t.call(1, read, 1);
  for (int n = 0; n < 5'021; ++n)
    t.call(2, futex, 1);

  const std::string log = t.finished();

  EXPECT_EQ(count_of(log, "read("), 9u);
  EXPECT_EQ(count_of(log, "futex("), 5u);
  EXPECT_NE(log.find(", 14007 calls not written by --sample=1000 +++"), std::string::npos)
      << t.sink.closing_line();
}

TEST_P(Sampling, leaves_no_trace_of_the_others) {
  TextOptions options = split_form();
  options.form = GetParam();
  options.sample = 2;
  TextFixture t(options);
  auto& b = t.build;
  const auto f = b.function("int f(int);");
  b.call(1, f, {1}, 10);
  b.call(1, f, {2}, 20);
  b.enter(1, f, {3});
  b.unwind(1);
  b.call(1, f, {4}, 40);

  EXPECT_EQ(t.finished(), "f(2)                                             = 20\n"
                          "f(4)                                             = 40\n");
}

INSTANTIATE_TEST_SUITE_P(Forms, Sampling, testing::Values(LineForm::Whole, LineForm::Split),
                         [](const auto& tested) {
                           return std::string(tested.param == LineForm::Whole ? "whole" : "split");
                         });

TEST(SamplingWithOtherLimits, samples_what_they_leave) {
  TextOptions options = whole_form();
  options.sample = 2;
  options.min_time_ns = 100;
  options.max_depth = 1;
  TextFixture t(options);
  auto& b = t.build;
  const auto f = b.function("int f();");
  for (const std::uint64_t duration_ns : {50u, 200u, 50u, 50u, 300u, 400u, 500u})
    t.call(1, f, duration_ns);
  b.enter(1, f);
  b.call(1, f); // too deep
  b.leave(1);   // the fifth that is long enough

  EXPECT_EQ(count_of(t.finished(), "f("), 2u);
}

TEST(ClosingLine, tells_what_was_sampled_and_thinned_in_the_singular_too) {
  LeftOut left_out;
  left_out.sampled_calls = 1;
  left_out.thinned_calls = 1;
  TextOptions options;
  options.sample = 10;

  EXPECT_EQ(make_closing_line({}, 0, left_out, options),
            "+++ sonictrace: 0 calls, 0 functions, 0 modules, 0 lost calls, 1 call not written by "
            "--sample=10, 1 short call of a frequent function counted and not written +++");
}

} // namespace
} // namespace sonictrace
