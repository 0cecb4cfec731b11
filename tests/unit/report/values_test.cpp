#include <gtest/gtest.h>

#include "sonictrace/report/call_class.hpp"
#include "sonictrace/report/quantity.hpp"
#include "sonictrace/report/stages.hpp"
#include "sonictrace/report/table.hpp"

namespace sonictrace::report {
namespace {

TEST(FormatDuration, has_three_digits) {
  EXPECT_EQ(format_duration(0), "0ns");
  EXPECT_EQ(format_duration(999), "999ns");
  EXPECT_EQ(format_duration(1000), "1.00us");
  EXPECT_EQ(format_duration(9'999), "10.0us");
  EXPECT_EQ(format_duration(2'010'000), "2.01ms");
  EXPECT_EQ(format_duration(20'300'000), "20.3ms");
  EXPECT_EQ(format_duration(200'600'000), "200.6ms");
  EXPECT_EQ(format_duration(999'960'000), "1.00s");
  EXPECT_EQ(format_duration(6'960'000'000'000), "1h56m");
}

TEST(FormatSeconds, rounds_half_up) {
  EXPECT_EQ(format_seconds(1'871'000'000, 4), "1.8710");
  EXPECT_EQ(format_seconds(49'999, 4), "0.0000");
  EXPECT_EQ(format_seconds(50'000, 4), "0.0001");
  EXPECT_EQ(format_seconds(1'999'950'000, 4), "2.0000");
  EXPECT_EQ(format_seconds(7, 9), "0.000000007");
}

TEST(FormatCount, groups_thousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(13'220'000), "13,220,000");
}

TEST(ParseDuration, knows_units_and_refuses_the_rest) {
  EXPECT_EQ(parse_duration_ns("100us"), 100'000U);
  EXPECT_EQ(parse_duration_ns("0.5s"), 500'000'000U);
  EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000U);
  EXPECT_EQ(parse_duration_ns("0"), 0U);
  EXPECT_EQ(parse_size("256M"), 256U << 20);
  EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("18446744073709551615K"), std::nullopt);
  EXPECT_EQ(parse_size("1X"), std::nullopt);
  EXPECT_EQ(parse_size(""), std::nullopt);
  for (const char* wrong : {"", "5", "-1s", "1 s", "s", "1e3s", "nan", "1xs"})
    EXPECT_EQ(parse_duration_ns(wrong), std::nullopt) << wrong;
}

TEST(ClassOf, goes_by_the_name) {
  const auto of = [](const char* name) { return to_string(class_of({name, "", false, 0, 0})); };

  EXPECT_EQ(of("usleep"), "wait");
  EXPECT_EQ(of("pthread_cond_wait"), "wait");
  EXPECT_EQ(of("pthread_cond_timedwait"), "wait");
  EXPECT_EQ(of("futex"), "wait");
  EXPECT_EQ(of("waitpid"), "wait");
  EXPECT_EQ(of("wait4"), "wait");
  EXPECT_EQ(of("__read"), "io");
  EXPECT_EQ(of("write"), "io");
  EXPECT_EQ(of("openat"), "io");
  EXPECT_EQ(of("malloc"), "mem");
  EXPECT_EQ(of("operator new(unsigned long)"), "mem");
  EXPECT_EQ(of("at::native::read"), "cpu");
}

TEST(Stages, take_functions_before_libraries) {
  const auto stages =
      Stages::parse("# all\n[a]\nlib = [\"liba*\"]\n\n[b]\nfunc = \"f*\", \"g\" # two\n", "x");
  ASSERT_TRUE(stages);

  EXPECT_EQ(stages->stage_of({"f1", "liba.so", false, 0, 0}), "b");
  EXPECT_EQ(stages->stage_of({"h", "liba.so", false, 0, 0}), "a");
  EXPECT_EQ(stages->stage_of({"h", "", false, 0, 0}), "other");
}

TEST(Stages, say_where_a_file_is_wrong) {
  const auto error = [](const char* text) { return Stages::parse(text, "x").error().message(); };

  EXPECT_EQ(error("[a]\nwhat\n"),
            "x:2: neither [stage] nor func = \"glob\", \"glob\" nor lib = \"glob\"");
  EXPECT_EQ(error("func = \"a\"\n"), "x:1: before the first [stage]");
  EXPECT_EQ(error("[\n"), "x:1: no stage: it looks like [image encoding]");
  EXPECT_EQ(error("\n"), "x: no [stage] in it");
}

Table table() {
  return {{{"name", "name", true}, {"time_ns", "time"}, {"part", "%"}},
          {{std::string("a,\"b\"|\n"), Nanoseconds{2'010'000}, Percent{27.123456}},
           {std::string("\xff"), std::monostate(), Percent{0}}}};
}

TEST(RenderTable, is_aligned_for_people) {
  EXPECT_EQ(render(table(), TableFormat::Text), "name       time     %\n"
                                                "a,\"b\"|?  2.01ms  27.1\n"
                                                "\xff             -   0.0\n");
}

TEST(RenderTable, is_exact_for_programs) {
  EXPECT_EQ(render(table(), TableFormat::Csv),
            "name,time_ns,part\n\"a,\"\"b\"\"|\n\",2010000,27.1235\n\xff,,0\n");
  EXPECT_EQ(render(table(), TableFormat::JsonLines),
            "{\"name\":\"a,\\\"b\\\"|\\n\",\"time_ns\":2010000,\"part\":27.1235}\n"
            "{\"name\":\"\xef\xbf\xbd\",\"time_ns\":null,\"part\":0}\n");
  EXPECT_EQ(render({{{"a", "a"}}, {}}, TableFormat::Json), "[\n]\n");
}

TEST(RenderTable, keeps_a_row_in_its_line_in_markdown) {
  EXPECT_EQ(render(table(), TableFormat::Markdown),
            "| name | time | % |\n|---|---:|---:|\n"
            "| a,\"b\"\\|? | 2.01ms | 27.1 |\n| \xff | - | 0.0 |\n");
}

} // namespace
} // namespace sonictrace::report
