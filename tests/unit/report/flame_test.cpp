#include "sonictrace/report/flame.hpp"

#include <cstdlib>
#include <regex>
#include <sstream>

#include "report/stack_arena.hpp"
#include "report/svg.hpp"
#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

Flame flame_of(std::string_view text, const FilterOptions& options = {}) {
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make(options);
  Flame flame(DemangleStyle::None);
  EXPECT_TRUE(flame.add(*reader, *filter));
  flame.finish();
  return flame;
}

std::string folded(std::string_view text, const FilterOptions& options = {}) {
  return flame_folded(flame_of(text, options), FlameWeight::Time);
}

std::uint64_t sum_of_folded(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);)
    sum += std::stoull(line.substr(line.rfind(' ')));
  return sum;
}

constexpr std::string_view kNested = "10:00:00.000100 strcmp(1) = 0 <0.000010>\n"
                                     "10:00:00.000200 strcmp(1) = 0 <0.000020>\n"
                                     "10:00:00.000050 qsort(1) = 0 <0.000300>\n"
                                     "10:00:00.000010/7 puts(1) = 0 <0.000005>\n"
                                     "10:00:00.001000 strcmp(1) = 0 <0.000001>\n";

TEST(Flame, stacks_calls_of_whole_lines_by_their_intervals) {
  EXPECT_EQ(folded(kNested), "first thread;qsort 270\n"
                             "first thread;qsort;strcmp 30\n"
                             "first thread;strcmp 1\n"
                             "thread 7;puts 5\n");
}

TEST(Flame, stacks_calls_of_split_lines_by_their_lines) {
  EXPECT_EQ(folded("7 outer(1 <unfinished ...>\n"
                   "7 a(1) = 0 <0.000010>\n"
                   "7 inner(1 <unfinished ...>\n"
                   "8 other() = 0 <0.000003>\n"
                   "7 a(1) = 0 <0.000020>\n"
                   "7 <... inner resumed> ) = 0 <0.000100>\n"
                   "7 <... outer resumed> ) = 0 <0.000150>\n"),
            "thread 7;outer 40\n"
            "thread 7;outer;inner 80\n"
            "thread 7;outer;inner;a 20\n"
            "thread 7;outer;a 10\n"
            "thread 8;other 3\n");
}

TEST(Flame, stacks_a_call_with_a_backtrace_on_that) {
  EXPECT_EQ(folded("7 malloc(1) = 0 <0.000010>\n"
                   " > libx.so(inner+0x1) [0x7f0000000001]\n"
                   " > app(main+0x3b) [0x401184]\n"
                   " > libc.so.6+0x2724a [0x7f0000000002]\n"
                   " > [0x7ffd0000]\n"
                   "\n"
                   "7 malloc(2) = 0 <0.000020>\n"
                   " > libx.so(inner+0x9) [0x7f0000000009]\n"
                   " > app(main+0x3b) [0x401184]\n"
                   " > libc.so.6+0x2724a [0x7f0000000002]\n"
                   " > [0x7ffd0008]\n"
                   "\n"
                   "7 free(2) = <void> <0.000004>\n"),
            "thread 7;[no module];libc.so.6+0x2724a;main;inner;malloc 30\n"
            "thread 7;free 4\n");
}

TEST(Flame, a_call_without_a_backtrace_keeps_none_of_those_that_have_one) {
  EXPECT_EQ(folded("10:00:00.000100 a(1) = 0 <0.000010>\n"
                   " > app(main+0x3b) [0x401184]\n"
                   "\n"
                   "10:00:00.000050 b(1) = 0 <0.000100>\n"),
            "first thread;b 90\nfirst thread;main;a 10\n");
}

TEST(Flame, counts_calls_where_no_call_has_a_time) {
  const auto flame = flame_of("a(1) = 2\na(1) = 2\nb(1) = 2\n");

  EXPECT_FALSE(flame.has_times());
  EXPECT_EQ(flame_folded(flame, FlameWeight::Calls), "first thread;a 2\nfirst thread;b 1\n");
}

TEST(Flame, what_a_filter_refuses_is_no_frame_and_hides_nothing_inside_of_it) {
  FilterOptions options;
  options.excluded = {"qsort"};

  EXPECT_EQ(folded(kNested, options), "first thread;strcmp 31\nthread 7;puts 5\n");
}

TEST(Flame, a_library_that_is_known_at_the_end_of_the_log_only_is_filtered_too) {
  FilterOptions options;
  options.libraries = {"liba*"};

  EXPECT_EQ(folded("10:00:00.000100 in_a(1) = 0 <0.000010>\n"
                   "10:00:00.000050 in_b(1) = 0 <0.000100>\n"
                   "+++ in_a is in liba.so +++\n+++ in_b is in libb.so +++\n",
                   options),
            "first thread;in_a 10\n");
}

TEST(Flame, a_thread_that_ended_takes_its_calls_with_it) {
  EXPECT_EQ(folded("10:00:00.000100/7 a(1) = 0 <0.000010>\n"
                   "10:00:00.000200/7 +++ exited (status 0) +++\n"
                   "10:00:00.000050/7 b(1) = 0 <0.000900>\n"),
            "thread 7;b 900\nthread 7;a 10\n");
}

TEST(Flame, calls_that_a_log_only_counts_are_in_the_sum) {
  EXPECT_EQ(folded("a(1) = 0 <0.000010>\n+++ a: 3 more calls, 0.000090 s, not written +++\n"),
            "(only counted by the log);a 90\nfirst thread;a 10\n");
}

TEST(Flame, the_sum_of_folded_is_that_of_self_though_each_is_less_than_a_microsecond) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("10:00:00.{:09} f{}(1) = 0 <0.000000300>\n", i * 1000, i);

  EXPECT_EQ(sum_of_folded(folded(text)), 300u);
}

TEST(Flame, many_calls_in_one_keep_their_place) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("10:00:01.{:06} f{}(1) = 0 <0.000001>\n", i * 2, i % 3);
  text += "10:00:00.500000 outer(1) = 0 <1.000000>\n";

  EXPECT_EQ(folded(text), "first thread;outer 980000\nfirst thread;outer;f0 6667\n"
                          "first thread;outer;f1 6667\nfirst thread;outer;f2 6666\n");
}

TEST(Flame, a_recursion_of_any_depth_is_drawn_as_far_as_one_can_see) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += fmt::format("10:00:00.{:06} f(1) = 0 <{}.{:06}>\n", 3000 - i, 0, 10 + 2 * i);

  const auto flame = flame_of(text);

  EXPECT_EQ(sum_of_folded(flame_folded(flame, FlameWeight::Time)), 10u + 2 * 2999);
  EXPECT_LE(flame.nodes().size(), Flame::kDeepest + 3);
}

TEST(StackArena, takes_together_what_there_are_too_many_of) {
  StackArena arena(4);
  const auto root = arena.make(1);
  for (StackArena::Name name = 10; name < 16; ++name)
    arena.add(arena.child(root, name), 5, 1);

  arena.fold_if_full(root, 99);

  ASSERT_EQ(arena[root].children.size(), 1u);
  EXPECT_EQ(arena[arena[root].children[0]].self_ns, 30u);
  EXPECT_EQ(arena[arena[root].children[0]].calls, 6u);
  EXPECT_TRUE(arena.has_folded());
}

TEST(FlameFolded, a_name_can_not_end_its_frame_or_its_line) {
  EXPECT_EQ(folded("f;g(1) = 0 <0.000010>\n"), "first thread;f:g 10\n");
}

TEST(FlameSpeedscope, has_a_profile_for_each_thread_with_one_weight_for_each_sample) {
  EXPECT_EQ(flame_speedscope(flame_of(kNested), FlameWeight::Time, "a \"log\""),
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
            "\"exporter\":\"sonicreport\",\"name\":\"a \\\"log\\\"\",\"activeProfileIndex\":0,\n"
            "\"shared\":{\"frames\":[{\"name\":\"qsort\"},\n{\"name\":\"strcmp\"},\n"
            "{\"name\":\"puts\"}]},\n"
            "\"profiles\":[{\"type\":\"sampled\",\"name\":\"first thread\",\"unit\":"
            "\"microseconds\",\"startValue\":0,\"endValue\":301,\n"
            "\"samples\":[[0],[0,1],[1]],\n\"weights\":[270,30,1]},\n"
            "{\"type\":\"sampled\",\"name\":\"thread 7\",\"unit\":\"microseconds\","
            "\"startValue\":0,\"endValue\":5,\n\"samples\":[[2]],\n\"weights\":[5]}]}\n");
}

TEST(FlameSvg, what_stands_on_a_frame_is_within_it) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += fmt::format("10:00:00.{:06} f{}(1) = 0 <0.000003>\n", 1000 + i * 7, i % 17);
  text += "10:00:00.000500 outer(1) = 0 <0.010001>\n10:00:01.000000 x(1) = 0 <0.000777>\n";
  FlameSvgOptions options;
  options.least_width = 0.01;

  const auto svg = flame_svg(flame_of(text), options);

  const std::regex box("<svg class=\"b[ n]*\" x=\"([0-9.]+)\" y=\"([0-9]+)\" width=\"([0-9.]+)\""
                       " height=\"18\" data-l=\"([0-9]+)\">");
  struct Seen {
    double left, right;
  };
  std::vector<std::vector<Seen>> levels;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), box); at != std::sregex_iterator();
       ++at) {
    const auto level = std::stoul((*at)[4]);
    if (levels.size() <= level) levels.resize(level + 1);
    const double left = std::stod((*at)[1]);
    levels[level].push_back({left, left + std::stod((*at)[3])});
  }
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[3].size(), 17u);
  EXPECT_DOUBLE_EQ(levels[0][0].right, 1180);
  for (std::size_t level = 1; level < levels.size(); ++level)
    for (std::size_t i = 0; i < levels[level].size(); ++i) {
      const auto& one = levels[level][i];
      if (i > 0) { EXPECT_GE(one.left, levels[level][i - 1].right - 1e-6); }
      EXPECT_TRUE(std::any_of(levels[level - 1].begin(), levels[level - 1].end(), [&](auto& below) {
        return below.left <= one.left + 1e-6 && one.right <= below.right + 1e-6;
      })) << level;
    }
}

TEST(FlameSvg, says_how_many_frames_are_too_narrow) {
  FlameSvgOptions options;
  options.least_width = 10;

  const auto svg = flame_svg(
      flame_of("a(1) = 0 <1.000000>\nb(1) = 0 <0.000001>\nc(1) = 0 <0.000001>\n"), options);

  EXPECT_NE(svg.find("2 frames narrower than 10 px are left out"), std::string::npos);
  EXPECT_EQ(svg.find(">b<"), std::string::npos);
}

TEST(XmlText, lets_nothing_through_that_is_no_text) {
  EXPECT_EQ(xml_text("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(xml_text(std::string("\0\x01\x1b\x7f\n", 5)),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n");
  EXPECT_EQ(xml_text("\xff\xc3\xa9\xed\xa0\x80"),
            "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(xml_text("\xef\xbf\xbf"), "\xef\xbf\xbd");
}

TEST(Fitting, cuts_between_characters) {
  EXPECT_EQ(fitting("abcdef", 6 * kGlyphWidth + 0.1), "abcdef");
  EXPECT_EQ(fitting("abcdef", 5 * kGlyphWidth + 0.1), "abcd\xe2\x80\xa6");
  EXPECT_EQ(fitting("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3 * kGlyphWidth + 0.1),
            "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
  EXPECT_EQ(fitting("abcdef", 2 * kGlyphWidth + 0.1), "");
  EXPECT_EQ(fitting("ab", 3 * kGlyphWidth + 0.1), "ab");
}

} // namespace
} // namespace sonictrace::report
