#include "sonictrace/report/gaps.hpp"

#include <gtest/gtest.h>

#include "sonictrace/report/log_time.hpp"
#include "sonictrace/report/silence.hpp"
#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

using log::test::TextFile;

struct Read {
  std::vector<Gap> gaps;
  std::uint64_t all = 0;
  std::vector<SilentSpan> spans;
};

Glob glob(const char* text) {
  auto compiled = Glob::compile(text);
  EXPECT_TRUE(compiled);
  return *compiled;
}

std::vector<Gap> gaps_of(const std::string& text, GapPairing pairing = GapPairing::LastFirst,
                         bool any_thread = false) {
  const TextFile file(text);
  const GapOptions options = {glob("from"), glob("to"), pairing, any_thread, 10};
  auto filter = CallFilter::make({});
  auto reader = log::LogReader::open(file.path(), {});
  GapFinder finder(options, *filter, reader->functions());
  EXPECT_TRUE(reader->pump(finder));
  finder.finish();
  auto gaps = finder.take_longest();
  auto again = log::LogReader::open(file.path(), {});
  GapContents contents(gaps, again->functions());
  EXPECT_TRUE(again->pump(contents));
  contents.finish();
  return gaps;
}

/// `MS NAME MS`: a call that was entered at the first, and took the second.
std::string call(unsigned at_ms, const char* name, unsigned ms, unsigned tid = 1) {
  return fmt::format("{} 10:00:{:02}.{:03}000 {}() = 0 <{}.{:03}000>\n", tid, at_ms / 1000,
                     at_ms % 1000, name, ms / 1000, ms % 1000);
}

std::vector<unsigned> lengths_ms(const std::vector<Gap>& gaps) {
  std::vector<unsigned> lengths;
  for (const auto& gap : gaps)
    lengths.push_back(static_cast<unsigned>(gap.length_ns() / 1'000'000));
  return lengths;
}

using Lengths = std::vector<unsigned>;

TEST(Gaps, go_from_the_last_end_to_the_first_beginning) {
  const auto gaps =
      gaps_of(call(0, "from", 5) + call(10, "from", 5) + call(35, "to", 5) + call(50, "to", 5));

  EXPECT_EQ(lengths_ms(gaps), Lengths{20});
}

TEST(Gaps, of_each_from_call_go_to_the_first_to_call_behind_it) {
  const auto gaps =
      gaps_of(call(0, "from", 5) + call(10, "from", 5) + call(35, "to", 5) + call(50, "to", 5),
              GapPairing::Each);

  EXPECT_EQ(lengths_ms(gaps), (Lengths{30, 20}));
}

TEST(Gaps, are_one_for_each_round) {
  std::string text;
  for (unsigned round = 0; round < 3; ++round)
    text += call(100 * round, "from", 5) + call(100 * round + 10 + round, "to", 5);

  EXPECT_EQ(lengths_ms(gaps_of(text)), (Lengths{7, 6, 5}));
}

TEST(Gaps, do_not_begin_with_a_call_that_is_inside_of_the_to_call) {
  // Whole lines: what is inside of a call stands before it.
  const auto gaps = gaps_of(call(0, "from", 5) + call(30, "from", 5) + call(15, "to", 50));

  EXPECT_EQ(lengths_ms(gaps), Lengths{10});
}

TEST(Gaps, end_at_the_outer_one_of_nested_to_calls) {
  const auto gaps = gaps_of(call(0, "from", 5) + call(30, "to", 5) + call(25, "to", 50));

  EXPECT_EQ(lengths_ms(gaps), Lengths{20});
}

TEST(Gaps, are_within_a_thread_unless_asked_otherwise) {
  const auto text = call(0, "from", 5, 1) + call(15, "to", 5, 2);

  EXPECT_EQ(lengths_ms(gaps_of(text)), Lengths{});
  EXPECT_EQ(lengths_ms(gaps_of(text, GapPairing::LastFirst, true)), Lengths{10});
}

TEST(Gaps, go_over_midnight) {
  const auto gaps = gaps_of("23:59:59.990000 from() = 0 <0.005000>\n"
                            "00:00:00.015000 to() = 0 <0.005000>\n");

  EXPECT_EQ(lengths_ms(gaps), Lengths{20});
}

TEST(Gaps, are_the_same_in_split_lines) {
  const auto gaps = gaps_of("10:00:00.000000 from( <unfinished ...>\n"
                            "10:00:00.001000 puts() = 0 <0.001000>\n"
                            "10:00:00.005000 <... from resumed> ) = 0 <0.005000>\n"
                            "10:00:00.030000 to( <unfinished ...>\n"
                            "10:00:00.031000 from() = 0 <0.001000>\n"
                            "10:00:00.040000 <... to resumed> ) = 0 <0.010000>\n");

  EXPECT_EQ(lengths_ms(gaps), Lengths{25});
}

TEST(Gaps, end_where_a_call_begins_that_never_ends) {
  const auto gaps =
      gaps_of("10:00:00.000000 from() = 0 <0.005000>\n10:00:00.030000 to( <no return ...>\n");

  EXPECT_EQ(lengths_ms(gaps), Lengths{25});
}

TEST(Gaps, have_parts_that_add_up_to_them) {
  // in() is inside of around(); outer() began before the gap; wrapper() contains the to call.
  const auto gaps = gaps_of(call(5, "from", 5) + call(12, "in", 2) + call(0, "outer", 16) +
                            call(21, "in", 4) + call(20, "around", 10) + call(42, "in", 1) +
                            call(50, "to", 5) + call(40, "wrapper", 20));

  ASSERT_EQ(lengths_ms(gaps), Lengths{40});
  const std::uint64_t ms = 1'000'000;
  EXPECT_EQ(
      gaps[0].parts,
      (std::vector<GapPart>{
          {"wrapper", 1, 9 * ms}, {"in", 3, 7 * ms}, {"around", 1, 6 * ms}, {"outer", 1, 4 * ms}}));
  EXPECT_EQ(gaps[0].untraced_ns(), 14 * ms);
}

TEST(GapPairs, counts_the_ends_that_it_gives_up) {
  GapPairs pairs(GapPairing::Each, 4);
  const auto nothing = [](const GapEdge&, const GapEdge&) { FAIL(); };

  for (std::uint64_t i = 0; i < 7; ++i)
    pairs.add_from({i, 1, 0, i}, nothing);

  EXPECT_EQ(pairs.given_up(), 4U);
}

std::vector<SilentSpan> silence_of(const std::string& text, bool any_thread = false,
                                   std::size_t most_open = SilenceFinder::kMostOpen) {
  const TextFile file(text);
  auto filter = CallFilter::make({});
  auto reader = log::LogReader::open(file.path(), {});
  SilenceFinder finder({1'000'000, any_thread, 10}, *filter, reader->functions(), most_open);
  EXPECT_TRUE(reader->pump(finder));
  finder.finish();
  EXPECT_EQ(finder.late_calls(), 0U);
  return finder.take_longest();
}

std::vector<unsigned> lengths_ms(const std::vector<SilentSpan>& spans) {
  std::vector<unsigned> lengths;
  for (const auto& span : spans)
    lengths.push_back(static_cast<unsigned>(span.length_ns() / 1'000'000));
  return lengths;
}

TEST(Silence, is_between_the_calls_of_a_thread) {
  const auto spans =
      silence_of(call(0, "a", 5) + call(15, "b", 5) + call(50, "c", 5) + call(10, "d", 100, 2));

  EXPECT_EQ(lengths_ms(spans), (Lengths{30, 10}));
}

TEST(Silence, is_not_inside_of_a_call) {
  const auto spans = silence_of(call(0, "a", 5) + call(15, "b", 5) + call(40, "b", 5) +
                                call(12, "around", 50) + call(70, "c", 1));

  EXPECT_EQ(lengths_ms(spans), (Lengths{8, 7}));
}

TEST(Silence, is_not_behind_the_beginning_of_a_call_that_does_not_end) {
  const auto spans = silence_of("10:00:00.000000 a() = 0 <0.005000>\n"
                                "10:00:00.010000 pthread_join( <unfinished ...>\n"
                                "10:00:00.020000 b() = 0 <0.001000>\n"
                                "10:00:00.090000 c() = 0 <0.001000>\n");

  EXPECT_EQ(lengths_ms(spans), Lengths{5});
}

TEST(Silence, of_all_threads_is_where_none_has_a_call) {
  const auto spans = silence_of(
      call(0, "a", 5, 1) + call(3, "b", 10, 2) + call(20, "a", 5, 1) + call(40, "b", 5, 2), true);

  EXPECT_EQ(lengths_ms(spans), (Lengths{15, 7}));
}

TEST(Silence, is_found_with_few_spans_open) {
  std::string text;
  for (unsigned i = 0; i < 100; ++i)
    text += call(10 * i, "a", 1 + i % 7);

  EXPECT_EQ(silence_of(text, false, 8), silence_of(text));
}

TEST(LogTime, has_the_digits_of_the_log) {
  const std::uint64_t time =
      (14 * 3600 + 23 * 60 + 7) * 1'000'000'000ULL + 410'000'000 + 86'400'000'000'000;

  EXPECT_EQ(format_log_time(time, log::Clock::TimeOfDay, 6), "14:23:07.410000");
  EXPECT_EQ(format_log_time(time, log::Clock::TimeOfDay, 0), "14:23:07");
  EXPECT_EQ(format_log_time(1'796'009'218'757'446'123, log::Clock::Epoch, 9),
            "1796009218.757446123");
  EXPECT_EQ(format_milliseconds(70'000'000, 6), "70.000 ms");
  EXPECT_EQ(format_milliseconds(70'000'009, 9), "70.000009 ms");
  EXPECT_EQ(format_milliseconds(1'000'000'000, 0), "1000 ms");
}

} // namespace
} // namespace sonictrace::report
