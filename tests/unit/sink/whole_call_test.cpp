// Calls that one record tells all of: the same lines as from two, and what only they can say.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sink_fixture.hpp"
#include "sonictrace/sink/count_sink.hpp"
#include "sonictrace/sink/json_sink.hpp"
#include "sonictrace/wire/histogram.hpp"

namespace sonictrace {
namespace {

struct TextFixture : SinkFixture<TextSink> {
  explicit TextFixture(const TextOptions& options) : SinkFixture(options, false) {}
};

TextOptions timed() {
  TextOptions options = whole_form();
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  return options;
}

struct Form {
  const char* name;
  TextOptions options;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

std::vector<Form> forms() {
  std::vector<Form> all;
  const auto add = [&](const char* name, auto change) {
    Form form{name, timed()};
    change(form.options);
    all.push_back(form);
  };
  add("microseconds", [](TextOptions&) {});
  add("nothing", [](TextOptions& o) { o = whole_form(); });
  add("seconds", [](TextOptions& o) { o.time = TimeStamp::Seconds; });
  add("epoch_in_nanoseconds", [](TextOptions& o) {
    o.time = TimeStamp::Epoch;
    o.nanoseconds = true;
  });
  add("nanoseconds", [](TextOptions& o) { o.nanoseconds = true; });
  add("relative", [](TextOptions& o) { o.time = TimeStamp::Relative; });
  add("threads", [](TextOptions& o) { o.thread_after_time = true; });
  add("threads_without_time", [](TextOptions& o) {
    o.thread_after_time = true;
    o.time = TimeStamp::None;
  });
  add("pids", [](TextOptions& o) { o.pid_prefix = true; });
  add("pids_without_brackets", [](TextOptions& o) {
    o.pid_prefix = true;
    o.brackets = false;
  });
  add("instruction", [](TextOptions& o) { o.instruction_pointer = true; });
  add("indent", [](TextOptions& o) { o.indent = 3; });
  add("wide_indent", [](TextOptions& o) { o.indent = 200; });
  add("aligned_far_out", [](TextOptions& o) { o.align = 150; });
  add("aligned_very_far_out", [](TextOptions& o) { o.align = 9000; });
  add("not_aligned", [](TextOptions& o) { o.align = 0; });
  add("short_texts", [](TextOptions& o) {
    o.string_limit = 3;
    o.whole_paths = false;
  });
  add("no_texts", [](TextOptions& o) { o.string_limit = 0; });
  add("ltrace", [](TextOptions& o) {
    const TextOptions own = ltrace_form();
    o.ltrace = own.ltrace;
    o.demangle = own.demangle;
  });
  return all;
}

class OneRecord : public testing::TestWithParam<Form> {};

/// Calls of functions of all kinds, to both: `call(thread, function, arguments, result)`.
template <class Call>
void many_calls(RecordBuilder& b, Call call) {
  const auto text = b.memory.text("a text of thirty-five characters, so");
  const auto odd = b.memory.text("q\"b\\n\n\x01\x7f\xff, and then plain text");
  const auto format = b.memory.text("%s: %d of %ld\n");
  const auto eight = b.memory.text("12345678"), seven = b.memory.text("1234567");
  const std::uint64_t wild = 0x10;
  const std::vector<std::uint64_t> numbers = {0,
                                              1,
                                              9,
                                              10,
                                              99,
                                              100,
                                              999,
                                              1000,
                                              9999,
                                              10000,
                                              10001,
                                              65535,
                                              0x7fffffff,
                                              0x80000000,
                                              1 << 20,
                                              0xffff,
                                              0xffffffff,
                                              0x7f00123456,
                                              0xabcdef01,
                                              ~0ull,
                                              ~0ull - 9998,
                                              ~0ull - 9999,
                                              ~0ull - 10000,
                                              1ull << 63,
                                              0x123456789abcdef0};
  b.thread(7, true);
  b.thread_of(7, 8);
  const FunctionId functions[] = {
      b.unknown("a_function_of_which_nothing_is_known_and_with_a_name_of_some_length"),
      b.function("int signed_(int, long, short, char);"),
      b.function("uint unsigned_(uint, ulong, ushort, bool(int));"),
      b.function("addr pointers(addr, hex(int), hex(long), oct(int));"),
      b.function("void nothing();"),
      b.function("hide(int) hidden(hide(int), int);"),
      b.function("string strings(string, path, bytes[arg4], int);"),
      b.function("int format_(format);"),
      b.function("double floats(double, float);"),
      b.function("int filled(+string[retval], ulong);"),
      b.function("int nested(array(int, 3)*, struct(int, long)*, +int*);"),
      b.function("int named(enum(A, B=7), flags(O=0,P=1,Q=2));"),
  };
  for (const FunctionId function : functions)
    for (const std::uint64_t number : numbers)
      call(number % 3 == 0 ? 8 : 7, function, {number, number ^ 0xff, number / 3, number % 20},
           number);
  for (const std::uint64_t address : {text, odd, eight, seven, wild, std::uint64_t{0}})
    for (const FunctionId function : {functions[6], functions[7], functions[9], functions[10]})
      call(7, function, {address, address, address, 9}, address);
  call(7, functions[7], {format, text, 7, 12}, 3);
}

TEST_P(OneRecord, gives_the_lines_that_two_give) {
  TextFixture two(GetParam().options), one(GetParam().options);
  many_calls(two.build, [&](pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments,
                            std::uint64_t result) {
    two.build.call(tid, function, std::move(arguments), result);
  });
  many_calls(one.build, [&](pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments,
                            std::uint64_t result) {
    one.build.whole_call(tid, function, {.arguments = std::move(arguments), .result = result});
  });

  EXPECT_EQ(one.finished(), two.finished());
}

TEST_P(OneRecord, gives_the_lines_that_two_give_in_each_depth_and_of_each_duration) {
  TextFixture two(GetParam().options), one(GetParam().options);
  const auto f = two.build.function("int f(int);"), g = one.build.function("int f(int);");
  for (const std::uint64_t duration_ns :
       {0ull, 999ull, 1000ull, 99'999ull, 100'000ull, 999'999'999ull, 1'000'000'000ull,
        123'456'789'012ull, ~0ull}) {
    for (const unsigned depth : {1u, 2u, 60u, 500u}) {
      const auto depth16 = static_cast<std::uint16_t>(depth);
      two.build.enter_as(1, f, 5, depth16, {5});
      two.build.leave_as(1, f, 5, depth16, 0, duration_ns);
      one.build.whole_call(1, g, {.arguments = {5}, .duration_ns = duration_ns, .depth = depth16});
    }
  }

  EXPECT_EQ(one.finished(), two.finished());
}

INSTANTIATE_TEST_SUITE_P(Forms, OneRecord, testing::ValuesIn(forms()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(OneRecordInText, is_a_line_between_those_of_two_records_in_the_order_of_the_ends) {
  TextFixture t(timed());
  auto& b = t.build;
  const auto f = b.function("int f(int);"), g = b.function("int g(format);");
  b.whole_call(1, f, {.arguments = {1}});
  b.enter(1, f, {2});
  b.whole_call(1, g, {.arguments = {b.memory.text("x")}});
  b.whole_call(1, f, {.arguments = {3}});
  b.leave(1);

  EXPECT_EQ(t.finished(), R"(03:26:58.000000 f(1)                             = 0 <0.000001>
03:26:58.000003 g("x")                           = 0 <0.000001>
03:26:58.000005 f(3)                             = 0 <0.000001>
03:26:58.000002 f(2)                             = 0 <0.000005>
)");
}

TEST(OneRecordInText, ends_the_open_line_of_the_split_form) {
  TextFixture t(split_form());
  auto& b = t.build;
  const auto f = b.function("int f(int);");
  b.enter(1, f, {1});
  b.whole_call(2, f, {.arguments = {2}});
  b.whole_call(1, f, {.arguments = {3}});
  b.leave(1);

  EXPECT_EQ(t.finished(), "f(1 <unfinished ...>\n"
                          "f(2)                                             = 0\n"
                          "f(3)                                             = 0\n"
                          "<... f resumed> )                                = 0\n");
}

TEST(OneRecordInText, tells_of_calls_that_were_unwound_and_of_those_whose_end_nobody_saw) {
  TextFixture t(timed());
  auto& b = t.build;
  const auto f = b.function("int f(int, +int*);");
  b.whole_call(1, f, {.arguments = {1, 0x1000}, .flags = wire::kCallUnwound});
  b.whole_call(1, f, {.arguments = {2, 0x1000}, .flags = wire::kCallResultUnknown});

  EXPECT_EQ(t.finished(),
            "03:26:58.000000 f(1, 0x1000)                     = <unwound> <0.000001>\n"
            "03:26:58.000002 f(2, 0x1000)                     = ?\n");
}

TEST(OneRecordInText, is_nothing_of_an_unwound_call_where_ltrace_has_none) {
  TextFixture t(ltrace_form());
  t.build.whole_call(1, t.build.function("int f();"), {.flags = wire::kCallUnwound});

  EXPECT_EQ(t.finished(), "");
}

TEST(OneRecordInText, shows_what_is_missing) {
  TextFixture t(whole_form());
  const auto f = t.build.unknown("f"), g = t.build.function("int g(string);");
  RecordBuffer buffer;
  buffer.call({1, f, 1, 0, 5, 5, 5}, 64);
  buffer.commit_call(0, 0);
  buffer.call({1, g, 1, 0, 5, 5, 5}, 64);
  buffer.commit_call(0, 0);
  auto room = buffer.call({1, f, 1, 0, 5, 5, 5}, 64);
  std::fill(room.begin(), room.end(), std::byte{0xff}); // a field that runs over the end
  buffer.commit_call(32, 64);
  buffer.call({1, 12345, 1, 0, 5, 5, 5}, 0); // a function that was never defined
  buffer.commit_call(0, 0);
  t.sink.write(buffer.batch());

  EXPECT_EQ(t.finished(), "f(?, ?, ?, ?)                                    = ?\n"
                          "g(?)                                             = ?\n"
                          "f(?, ?, ?, ?)                                    = ?\n"
                          "?(?, ?, ?, ?)                                    = ?\n");
}

TEST(OneRecordInText, takes_the_name_that_a_function_has_by_now) {
  TextFixture t(whole_form());
  auto& b = t.build;
  const auto one = b.module("libone.so"), two = b.module("libtwo.so");
  const auto f = b.function("int f();", {one}), g = b.function("int f();", {two});
  b.whole_call(1, f);
  b.whole_call(1, g);
  b.whole_call(1, f);

  EXPECT_EQ(t.finished(), "f()                                              = 0\n"
                          "f@libtwo.so()                                    = 0\n"
                          "f@libone.so()                                    = 0\n");
}

TEST(OneRecordInText, is_left_out_as_the_options_say) {
  for (const auto form : {LineForm::Whole, LineForm::Split}) {
    TextOptions options = split_form();
    options.form = form;
    options.closing_lines = true;
    options.min_time_ns = 100;
    options.max_depth = 2;
    options.sample = 2;
    TextFixture t(options);
    const auto f = t.build.function("int f(int);");
    std::uint64_t number = 0;
    for (const std::uint64_t duration_ns : {50U, 100U, 200U, 300U, 400U})
      t.build.whole_call(1, f, {.arguments = {++number}, .duration_ns = duration_ns});
    t.build.whole_call(1, f, {.duration_ns = 1000, .depth = 3});
    t.build.whole_call(1, f, {.duration_ns = 1000, .flags = wire::kCallResultUnknown});

    EXPECT_EQ(t.finished(),
              "f(3)                                             = 0\n"
              "f(5)                                             = 0\n"
              "+++ sonictrace: 0 calls, 1 function, 0 modules, 0 lost calls, "
              "2 calls shorter than 100ns not written, 1 call deeper than 2 not written, "
              "2 calls not written by --sample=2 +++\n");
  }
}

TEST(OneRecordInText, is_thinned_and_the_engine_is_told_of_which_functions) {
  for (const auto form : {LineForm::Whole, LineForm::Split}) {
    TextOptions options = split_form();
    options.form = form;
    options.thin_after = 500'000; // bytes: of about 9400 lines
    TextFixture t(options);
    auto& b = t.build;
    const auto hot = b.function("int hot();"), warm = b.function("int warm();");
    EXPECT_TRUE(t.sink.take_thinned().empty());
    for (int n = 0; n < 9'999; ++n)
      b.whole_call(1, hot);
    EXPECT_TRUE(t.sink.take_thinned().empty());
    b.whole_call(1, hot);
    EXPECT_EQ(t.sink.take_thinned(), std::vector{hot});
    EXPECT_TRUE(t.sink.take_thinned().empty()) << "is told once";
    for (int n = 0; n < 10'000; ++n)
      b.whole_call(1, warm);
    EXPECT_EQ(t.sink.take_thinned(), std::vector{warm});
    b.whole_call(1, hot, {.duration_ns = kThinnedBelowNs - 1});
    b.whole_call(1, hot, {.duration_ns = kThinnedBelowNs});
    b.counts(1, hot, {1000, 50'000, 1, 100, 0});

    const std::string log = t.finished();
    EXPECT_TRUE(log.ends_with("\nhot()                                            = 0\n"
                              "+++ hot: 1001 more calls, 0.000149999 s, not written +++\n"))
        << log.substr(log.size() - 300);
  }
}

TEST(OneRecordInText, leaves_frequent_functions_to_the_engine_that_were_so_when_thinning_begins) {
  TextOptions options = whole_form();
  options.thin_after = 800'000; // bytes: of about 15,000 lines
  TextFixture t(options);
  const auto hot = t.build.function("int hot();"), cold = t.build.function("int cold();");
  t.build.whole_call(1, cold);
  for (int n = 0; n < 16'000; ++n)
    t.build.whole_call(1, hot);

  EXPECT_EQ(t.sink.take_thinned(), std::vector{hot});
}

TEST(CountedCallsInText, are_told_where_nothing_else_was_left_out) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  TextFixture t(options);
  auto& b = t.build;
  const auto f = b.function("int f();"), g = b.function("int g();");
  b.counts(1, f, {3, 4'500, 1'000, 2'000, 2}, {{20, 1}, {30, 2}});
  b.counts(2, f, {1, 500, 500, 500, 0});
  b.counts(2, g, {1, 1'000'000'000, 1, 1, 0});
  b.counts(2, g, {0, 0, 0, 0, 0});
  t.sink.tick(b.now_ns);
  EXPECT_EQ(t.visible(), "");
  b.now_ns += 10'000'000'000;
  t.sink.tick(b.now_ns);

  const std::string told = "+++ f: 4 more calls, 0.000005000 s, not written +++\n"
                           "+++ g: 1 more call, 1.000000000 s, not written +++\n";
  EXPECT_EQ(t.visible(), told);
  EXPECT_EQ(t.finished(), told +
                              "+++ sonictrace: 0 calls, 2 functions, 0 modules, 0 lost calls, "
                              "5 short calls of frequent functions counted and not written +++\n");
}

// ---- the other sinks -------------------------------------------------------------------------

CountOptions table_only() {
  CountOptions options;
  options.closing_lines = false;
  return options;
}

TEST(OneRecordInTable, counts_as_a_return_does) {
  SinkFixture<CountSink> t(table_only());
  auto& b = t.build;
  const auto f = b.unknown("f");
  t.call(1, f, 3'000);
  b.whole_call(1, f, {.duration_ns = 4'000});
  b.whole_call(1, f, {.duration_ns = 5'000, .flags = wire::kCallUnwound});
  b.whole_call(1, b.unknown("setjmp"), {.flags = wire::kCallResultUnknown});
  b.counts(1, f, {10, 88'000, 1'000, 20'000, 0});

  EXPECT_EQ(t.finished(), R"(% time     seconds  usecs/call     calls      function
------ ----------- ----------- --------- --------------------
100.00    0.000100           7        13 f
  0.00    0.000000           0         1 setjmp
------ ----------- ----------- --------- --------------------
100.00    0.000100                    14 total
)");
}

TEST(OneRecordInTable, has_percentiles_and_so_have_counts) {
  CountOptions options = table_only();
  options.percentiles = true;
  SinkFixture<CountSink> apart(options), counted(options);
  const auto f = apart.build.unknown("f"), g = counted.build.unknown("f");
  std::vector<wire::CountedBucket> buckets;
  wire::CountsPayload sums = {};
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    const std::uint64_t duration_ns = n * n;
    apart.build.whole_call(1, f, {.duration_ns = duration_ns});
    buckets.push_back({static_cast<std::uint32_t>(wire::bucket_of(duration_ns)), 1});
    ++sums.calls;
    sums.sum_ns += duration_ns;
    sums.most_ns = duration_ns;
  }
  apart.build.whole_call(1, f, {.flags = wire::kCallResultUnknown}); // no value of a percentile
  ++sums.calls;
  counted.build.counts(1, g, sums, buckets);

  EXPECT_EQ(counted.finished(), apart.finished());
  EXPECT_NE(counted.visible().find("    1000.000 f\n"), std::string::npos) << counted.visible();
}

TEST(OneRecordInTable, counts_when_it_ends) {
  CountOptions options = table_only();
  options.interval_ns = 1'000'000'000;
  SinkFixture<CountSink> t(options);
  auto& b = t.build;
  const auto f = b.unknown("f");
  b.whole_call(1, f);
  b.whole_call(1, f, {.duration_ns = 1'500'000'000});
  b.now_ns += 1'600'000'000;
  t.sink.tick(b.now_ns);

  const std::string log = t.finished();
  EXPECT_NE(log.find(": 1 call in 1.000 s"), std::string::npos) << log;
}

TEST(OneRecordInTable, is_left_out_as_the_options_say) {
  CountOptions options;
  options.min_time_ns = 1'000;
  options.max_depth = 1;
  SinkFixture<CountSink> t(options);
  const auto f = t.build.unknown("f");
  t.build.whole_call(1, f, {.duration_ns = 999});
  t.build.whole_call(1, f, {.duration_ns = 1'000});
  t.build.whole_call(1, f, {.duration_ns = 1'000, .depth = 2});

  const std::string log = t.finished();
  EXPECT_NE(log.find(" 1 f\n"), std::string::npos) << log;
  EXPECT_NE(log.find("1 call shorter than 1us not written, 1 call deeper than 1 not written"),
            std::string::npos)
      << log;
}

JsonOptions json() {
  JsonOptions options;
  options.host = "here";
  options.summary = false;
  return options;
}

TEST(OneRecordInJson, gives_the_objects_that_two_give) {
  SinkFixture<JsonSink> two(json()), one(json());
  many_calls(two.build, [&](pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments,
                            std::uint64_t result) {
    two.build.call(tid, function, std::move(arguments), result);
  });
  many_calls(one.build, [&](pid_t tid, FunctionId function, std::vector<std::uint64_t> arguments,
                            std::uint64_t result) {
    one.build.whole_call(tid, function, {.arguments = std::move(arguments), .result = result});
  });

  EXPECT_EQ(one.finished(), two.finished());
}

TEST(OneRecordInJson, says_how_the_call_ended) {
  SinkFixture<JsonSink> t(json());
  const auto f = t.build.function("int f(int);");
  t.build.whole_call(1, f, {.arguments = {1}, .depth = 3, .flags = wire::kCallUnwound});
  t.build.whole_call(1, f, {.arguments = {2}, .flags = wire::kCallResultUnknown});

  const std::string log = t.finished();
  EXPECT_NE(log.find(R"("args":[1],"result":null,"duration_ns":1000,"depth":3,"state":"unwound"})"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find(R"("args":[2],"result":null,"duration_ns":null,"depth":1,"state":"unknown"})"),
            std::string::npos)
      << log;
}

TEST(OneRecordInJson, is_left_out_as_the_options_say_and_counts_are_in_the_summary) {
  JsonOptions options = json();
  options.summary = true;
  options.min_time_ns = 100;
  options.max_depth = 1;
  options.sample = 2;
  SinkFixture<JsonSink> t(options);
  const auto f = t.build.function("int f();");
  t.build.whole_call(1, f, {.duration_ns = 99});
  t.build.whole_call(1, f, {.depth = 2});
  t.build.whole_call(1, f);
  t.build.counts(1, f, {17, 1, 1, 1, 0});

  const std::string log = t.finished();
  EXPECT_EQ(log.find(R"("kind":"call")"), std::string::npos) << log;
  EXPECT_NE(log.find(R"("functions":1,"left_out_short":1,"left_out_deep":1,"left_out_sampled":1,)"
                     R"("left_out_counted":17})"),
            std::string::npos)
      << log;
}

} // namespace
} // namespace sonictrace
