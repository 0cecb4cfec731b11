#include "sonictrace/report/timeline.hpp"

#include <map>

#include "report/slice_list.hpp"
#include "sonictrace/report/bursts.hpp"
#include "sonictrace/report/html.hpp"
#include "sonictrace/report/stage_times.hpp"
#include "sonictrace/report/top_plot.hpp"
#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

Timeline timeline_of(std::string_view text, TimelineOptions options = {},
                     const FilterOptions& filter_options = {}) {
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make(filter_options);
  Timeline timeline(options);
  EXPECT_TRUE(timeline.add(*reader, *filter));
  timeline.finish();
  return timeline;
}

/// `name begin-end depth`, times in microseconds.
std::vector<std::string> slices_of(const Timeline& timeline, std::size_t track = 0) {
  std::vector<std::string> texts;
  for (const auto& slice : timeline.tracks().at(track).slices)
    texts.push_back(fmt::format("{} {}-{} {}", timeline.names()[slice.name].name,
                                slice.begin_ns / 1000, slice.end_ns / 1000, slice.depth));
  return texts;
}

constexpr std::uint64_t kDay = 86'400'000'000'000; ///< what the reader adds to times of day

using Texts = std::vector<std::string>;

constexpr std::string_view kNested = "00:00:00.000100 strcmp(1) = 0 <0.000010>\n"
                                     "00:00:00.000200 strcmp(1) = 0 <0.000020>\n"
                                     "00:00:00.000050 qsort(1) = 0 <0.000300>\n"
                                     "00:00:00.000010/7 puts(1) = 0 <0.000005>\n"
                                     "00:00:00.000500/7 --- SIGUSR1 (User defined signal 1) ---\n"
                                     "00:00:00.001000 exit(0 <no return ...>\n";

TEST(Timeline, has_a_track_for_each_thread_with_the_outer_calls_first) {
  const auto timeline = timeline_of(kNested);

  ASSERT_EQ(timeline.tracks().size(), 2u);
  EXPECT_EQ(slices_of(timeline), (Texts{"qsort 50-350 0", "strcmp 100-110 1", "strcmp 200-220 1"}));
  EXPECT_EQ(timeline.tracks()[0].marks, (std::vector<Mark>{{1'000'000, "exit <no return>"}}));
  EXPECT_EQ(slices_of(timeline, 1), Texts{"puts 10-15 0"});
  EXPECT_EQ(timeline.tracks()[1].marks,
            (std::vector<Mark>{{500'000, "SIGUSR1 (User defined signal 1)"}}));
  EXPECT_EQ(timeline.first_ns(), 10'000u);
  EXPECT_EQ(timeline.last_ns(), 350'000u);
}

TEST(Timeline, clips_a_call_to_the_one_around_it_and_to_the_next) {
  EXPECT_EQ(slices_of(timeline_of("00:00:00.000100 a(1) = 0 <0.000060>\n"
                                  "00:00:00.000150 b(1) = 0 <0.000999>\n"
                                  "00:00:00.000050 outer(1) = 0 <0.000200>\n"
                                  "00:00:00.000240 next(1) = 0 <0.000010>\n")),
            (Texts{"outer 50-240 0", "a 100-150 1", "b 150-240 1", "next 240-250 0"}));
}

TEST(Timeline, keeps_the_longest_and_says_what_it_has_cut) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("00:00:00.{:06} f(1) = 0 <0.{:06}>\n", 100 + i * 10, i % 10 == 3 ? 7 : 2);
  text += "00:00:00.000050 outer(1) = 0 <0.900000>\n";
  TimelineOptions options;
  options.max_events = 101;

  const auto timeline = timeline_of(text, options);

  EXPECT_EQ(timeline.slices(), 101u);
  EXPECT_EQ(timeline.cut_slices(), 4900u);
  EXPECT_EQ(timeline.tracks()[0].slices[0].inside, 100u);
  EXPECT_EQ(slices_of(timeline)[100].back(), '1'); // still inside of outer
  EXPECT_EQ(timeline_note(timeline), "cut: 4,900 calls of at most 7.00us, so that the longest 101 "
                                     "are left (--max-events)\n");
}

TEST(Timeline, what_a_filter_refuses_is_left_out_of_those_around_it) {
  FilterOptions filter;
  filter.libraries = {"liba*"};

  EXPECT_EQ(slices_of(timeline_of("00:00:00.000100 x(1) = 0 <0.000010>\n"
                                  "00:00:00.000090 y(1) = 0 <0.000030>\n"
                                  "00:00:00.000050 z(1) = 0 <0.000300>\n"
                                  "+++ x is in liba.so +++\n+++ y is in libb.so +++\n"
                                  "+++ z is in liba.so +++\n",
                                  {}, filter)),
            (Texts{"z 50-350 0", "x 100-110 1"}));
}

TEST(Timeline, says_how_many_calls_have_no_time) {
  EXPECT_EQ(timeline_note(timeline_of("00:00:00.000100 x(1) = 0\n")),
            "not in the picture: 1 calls without a time (trace with -T -tt)\n");
}

/// Reads the wire format of Protocol Buffers, by itself: fields of a message in their order.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string bytes;
};
std::vector<Field> fields_of(std::string_view text) {
  std::vector<Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(text.at(at++));
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < text.size()) {
    const auto key = varint();
    Field field{key >> 3, varint(), {}};
    if ((key & 7) == 2) {
      field.bytes = text.substr(at, field.value);
      at += field.value;
    } else {
      EXPECT_EQ(key & 7, 0u);
    }
    fields.push_back(std::move(field));
  }
  EXPECT_EQ(at, text.size());
  return fields;
}
const Field* field(const std::vector<Field>& fields, std::uint64_t number) {
  for (const auto& one : fields)
    if (one.number == number) return &one;
  return nullptr;
}

TEST(TimelinePerfetto, opens_and_closes_each_slice_on_its_own_track_in_order_of_time) {
  const auto trace = timeline_perfetto(timeline_of(kNested));

  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<std::string>> events; // by track
  for (const auto& packet : fields_of(trace)) {
    const auto parts = fields_of(packet.bytes);
    EXPECT_EQ(field(parts, 10)->value, 1u); // a sequence
    if (const auto* interned = field(parts, 12))
      for (const auto& one : fields_of(interned->bytes))
        if (one.number == 2) {
          const auto name = fields_of(one.bytes);
          names[field(name, 1)->value] = field(name, 2)->bytes;
        }
    if (const auto* event = field(parts, 11)) {
      const auto of_event = fields_of(event->bytes);
      std::string text =
          fmt::format("{} {}", field(of_event, 9)->value, field(parts, 8)->value / 1000);
      if (const auto* name = field(of_event, 10)) text += " " + names.at(name->value);
      if (const auto* name = field(of_event, 23)) text += " " + name->bytes;
      events[field(of_event, 11)->value].push_back(text);
    }
  }
  EXPECT_EQ(names,
            (std::map<std::uint64_t, std::string>{{1, "qsort"}, {2, "strcmp"}, {3, "puts"}}));
  EXPECT_EQ(events[2], (Texts{"1 50 qsort", "1 100 strcmp", "2 110", "1 200 strcmp", "2 220",
                              "2 350", "3 1000 exit <no return>"}));
  EXPECT_EQ(events[3], (Texts{"1 10 puts", "2 15", "3 500 SIGUSR1 (User defined signal 1)"}));
}

TEST(TimelineChrome, has_complete_events_with_pid_and_tid) {
  const auto json = timeline_chrome(timeline_of("00:00:00.000010500/7 a\"b(1) = 0 <0.000005>\n"));

  EXPECT_NE(
      json.find(R"({"ph":"X","name":"a\"b","cat":"cpu","pid":1,"tid":7,"ts":10.500,"dur":5})"),
      std::string::npos)
      << json;
}

// speedscope 1.25 sorts these events by time, finds the end of a call of no time before its
// beginning, and leaves it open; all calls behind it are then drawn inside of it.
TEST(TimelineChrome, has_no_two_beginnings_and_ends_at_one_time) {
  const auto json = timeline_chrome(timeline_of("00:00:00.000010 a(1) = 0 <0.000000>\n"
                                                "00:00:00.000010 c(1) = 0 <0.000000>\n"
                                                "00:00:00.000010 b(1) = 0 <0.000002>\n"
                                                "00:00:00.000012 d(1) = 0 <0.000001>\n"));
  std::string events;
  for (std::size_t at = json.find("\"X\""); at != std::string::npos;
       at = json.find("\"X\"", at + 1)) {
    const auto name = json.find("\"name\":\"", at) + 8;
    const auto ts = json.find("\"ts\":", at) + 5;
    events += json.substr(name, 1) + " " + json.substr(ts, json.find('}', ts) - ts) + "\n";
  }

  EXPECT_EQ(events, "a 10,\"dur\":0.001\n"
                    "c 10.002,\"dur\":0.001\n"
                    "b 10.004,\"dur\":1.996\n"
                    "d 12.001,\"dur\":0.999\n");
}

TEST(TimelineChrome, counts_times_since_1970_from_midnight_which_leaves_room_for_nanoseconds) {
  const auto json = timeline_chrome(timeline_of("1796069752.000010 a(1) = 0 <0.000002>\n"));

  EXPECT_NE(json.find("\"ts_from\":\"1795996800 s since 1970\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"ts\":72952000010,\"dur\":2}"), std::string::npos) << json;
}

TEST(TimelineSvg, draws_short_calls_together) {
  const auto svg = timeline_svg(timeline_of("00:00:00.000000 a(1) = 0 <0.000001>\n"
                                            "00:00:00.000002 b(1) = 0 <0.000002>\n"
                                            "00:00:01.000000 c<d>(1) = 0 <1.000000>\n"),
                                {});

  EXPECT_NE(svg.find("<title>2 short calls, 3.00us in all\nthe longest: b 2.00us</title>"),
            std::string::npos);
  EXPECT_NE(svg.find(">c&lt;d&gt;</text>"), std::string::npos);
}

TEST(Bursts, finds_where_far_more_calls_begin_than_on_average) {
  std::string text = "00:00:00.000000 open(1) = 0 <0.000001>\n";
  for (int i = 0; i < 300; ++i)
    text += fmt::format("00:00:01.{:06} write(1) = 0 <0.000010>\n", 500'000 + i * 500);
  text += "00:00:03.999998 close(1) = 0 <0.000001>\n";
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {});
  FilterOptions options;
  options.functions = {"write"};
  auto filter = CallFilter::make(options);
  Bursts bursts(100'000'000);

  ASSERT_TRUE(bursts.add(*reader, *filter));

  EXPECT_DOUBLE_EQ(bursts.average(), 300 / 40.0);
  EXPECT_EQ(bursts.bursts(), (std::vector<Burst>{{kDay + 1'500'000'000, kDay + 1'700'000'000, 300,
                                                  3'000'000, 200}}));
  EXPECT_NE(bursts_text(bursts, kDay).find("burst: 1.500 s to 1.700 s: 300 calls (100.0 % of all)"),
            std::string::npos);
}

TEST(Bursts, makes_buckets_wider_where_there_are_too_many) {
  std::string text;
  for (int i = 0; i < 150'000; ++i)
    text += fmt::format("00:00:{:02}.{:06} w(1) = 0 <0.000000>\n", i / 10'000, i % 10'000 * 100);
  const log::test::TextFile file(text);
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make({});
  Bursts bursts(1000);

  ASSERT_TRUE(bursts.add(*reader, *filter));

  EXPECT_TRUE(bursts.was_widened());
  EXPECT_LE(bursts.buckets().size(), Bursts::kMostBuckets);
  EXPECT_EQ(bursts.calls(), 150'000u);
}

TEST(Bar, is_an_eighth_of_a_character_exact) {
  EXPECT_EQ(bar(1, 1, 3), "███");
  EXPECT_EQ(bar(1, 2, 3), "█▌");
  EXPECT_EQ(bar(1, 1000, 3), "▏");
  EXPECT_EQ(bar(0, 1000, 3), "");
  EXPECT_EQ(bar(5, 0, 3), "");
}

TEST(IntervalSet, joins_what_overlaps_or_touches) {
  IntervalSet set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 25);
  set.add(12, 15);
  EXPECT_EQ(set.length_ns(), 25u);
  set.add(5, 100);
  EXPECT_EQ(set.length_ns(), 95u);
  EXPECT_EQ(set.joined_ns(), 0u);
}

TEST(IntervalSet, says_by_how_much_it_may_be_too_long_when_there_are_too_many) {
  IntervalSet set(4);
  for (std::uint64_t i = 0; i < 5; ++i)
    set.add(100 * i, 100 * i + 10 + 10 * i);
  EXPECT_EQ(set.length_ns(), 10u + 20 + 30 + 40 + 50 + set.joined_ns());
  EXPECT_GT(set.joined_ns(), 0u);
}

TEST(StageTimes, tell_when_each_stage_was_at_work) {
  const auto stages = Stages::parse("[decode]\nfunc = \"avcodec*\"\n[infer]\nlib = \"libtorch*\"\n"
                                    "[mux]\nfunc = \"write\"\n",
                                    "stages");
  const log::test::TextFile file("00:00:01.000000 avcodec_a(1) = 0 <0.100000>\n"
                                 "00:00:01.050000/7 avcodec_b(1) = 0 <0.100000>\n"
                                 "00:00:01.400000 avcodec_a(1) = 0 <0.100000>\n"
                                 "00:00:01.570000 conv(1) = 0 <1.000000>\n"
                                 "00:00:02.500000/7 write(1) = 0 <0.100000>\n"
                                 "00:00:00.500000 puts(1) = 0 <0.100000>\n"
                                 "+++ conv is in libtorch.so +++\n");
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make({});
  StageTimes times(*stages);

  ASSERT_TRUE(times.add(*reader, *filter));

  EXPECT_EQ(render(stage_times_table(times.times(), kDay + 500'000'000), TableFormat::Csv),
            "stage,calls,first_start_ns,last_end_ns,busy_ns,busy_percent,gap_ns,longest_gap_ns,"
            "longest_gap_at_ns,wait_ns,overlap_ns\n"
            "decode,3,500000000,1000000000,250000000,50,250000000,250000000,650000000,,\n"
            "infer,1,1070000000,2070000000,1000000000,100,0,0,,70000000,\n"
            "mux,1,2000000000,2100000000,100000000,100,0,0,,,70000000\n"
            "other,1,0,100000000,100000000,100,0,0,,,\n");
}

TEST(HtmlPage, escapes_names_and_needs_nothing_from_elsewhere) {
  HtmlSection section;
  section.heading = "<h>";
  section.table.columns = {{"f", "function", true}, {"p", "%self"}};
  section.table.rows = {{std::string("a<b>&\x01"), Percent{12.34}}};

  const auto page = html_page("T & U", {section});

  EXPECT_NE(page.find("a&lt;b&gt;&amp;?"), std::string::npos) << page;
  EXPECT_NE(page.find("<title>T &amp; U</title>"), std::string::npos);
  EXPECT_NE(page.find("--p:12.3%"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
}

TEST(TopPlot, draws_a_bar_for_each_row_within_the_line) {
  const log::test::TextFile file(
      "some::quite_long_name_of_a_function_in_a_namespace(1) = 0 <0.002000>\n"
      "b(1) = 0 <0.001000>\n");
  auto reader = log::LogReader::open(file.path(), {});
  auto filter = CallFilter::make({});
  Top top({});
  ASSERT_TRUE(top.add(*reader, *filter));

  EXPECT_EQ(top_plot(top, 10, 50), "some::quite_lo…     2.00ms   66.7%  █████████████\n"
                                   "b                   1.00ms   33.3%  ██████▌\n");
}

} // namespace
} // namespace sonictrace::report
