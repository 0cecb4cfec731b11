#include "unit/sonicreport/run_command.hpp"

namespace sonictrace::sonicreport::test {
namespace {

using Arguments = std::vector<std::string>;

std::string repeated(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += line;
  return text;
}

TEST(RulesCommand, fails_with_strict_only) {
  const auto log = repeated(14'763, "futex@SYS(0x1000, 0) = 0 <0.000001>\n");

  const auto lenient = run_command({"rules", "--frames", "250", "LOG"}, log);
  const auto strict = run_command({"rules", "--frames", "250", "--strict", "LOG"}, log);
  const auto fewer =
      run_command({"rules", "--frames", "250", "--strict", "--wait-share", "100", "LOG"},
                  repeated(1'000, "futex@SYS(0x1000, 0) = 0 <0.000001>\n"));

  EXPECT_EQ(lenient.status, 0);
  EXPECT_TRUE(lenient.out.starts_with("WARN futex 14763 > 5 x 250 = 1250 (59.1 per frame)"))
      << lenient.out;
  EXPECT_EQ(strict.status, 1);
  EXPECT_EQ(fewer.status, 0);
  EXPECT_TRUE(fewer.out.starts_with("OK   futex 1000 <= 5 x 250 = 1250 (4.0 per frame)\n"))
      << fewer.out;
}

// Two libraries with functions of the same kind; what they are in is said at the end.
constexpr std::string_view kTwoLibraries =
    "00:00:00.000000 poll(1) = 0 <0.000010>\n"
    "00:00:00.010000 foo_wait(1) = 0 <0.000010>\n"
    "00:00:00.050000 poll(1) = 0 <0.000010>\n"
    "00:00:00.060000 malloc(10) = 0x1000 <0.000001>\n"
    "00:00:00.070000 malloc@libfoo.so(10) = 0x2000 <0.000001>\n"
    "00:00:00.090000 foo_wait(1) = 0 <0.000010>\n"
    "+++ poll is in libc.so.6 +++\n"
    "+++ malloc is in libc.so.6 +++\n"
    "+++ foo_wait is in libfoo.so +++\n";

TEST(LibraryOption, leaves_other_libraries_out_of_gaps) {
  const auto end = run_command({"gaps", "--format", "csv", "--lib", "libfoo*", "--top", "1", "LOG"},
                               kTwoLibraries);

  EXPECT_EQ(end.status, 0) << end.err;
  // From foo_wait's end to malloc@libfoo.so, over a poll and a malloc of the C library.
  EXPECT_NE(end.out.find(",59990000,"), std::string::npos) << end.out;
}

TEST(LibraryOption, leaves_other_libraries_out_of_balance_and_rules) {
  const auto balance = run_command({"balance", "--lib", "libc.so.6", "LOG"}, kTwoLibraries);
  const auto rules = run_command({"rules", "--lib", "libfoo.so", "LOG"}, kTwoLibraries);

  EXPECT_NE(balance.out.find("malloc:free: 1 of 1 not given back"), std::string::npos)
      << balance.out << balance.err;
  EXPECT_NE(rules.out.find("unmatched 1 of 1 allocations"), std::string::npos)
      << rules.out << rules.err;
}

TEST(LibraryOption, needs_a_file_that_can_be_read_twice_or_a_map) {
  EXPECT_EQ(run_command({"rules", "--lib", "libc.so.6", "-"}, "").status, 2);
}

TEST(MapOption, says_where_the_functions_of_a_log_of_ltrace_are) {
  const TextFile map("libtorch_cpu.so at::native::conv2d\nlibc.so.6 malloc\n");
  const std::string_view log = "at::native::conv2d(1) = 0 <0.000070>\nmalloc(1) = 0x1 <0.000020>\n"
                               "free(1) = <void> <0.000010>\n";

  const auto by_library = run_command(
      {"top", "--by", "lib", "--map", map.path(), "--format", "csv", "-U", "%self,function", "LOG"},
      log);
  const auto one = run_command({"top", "--lib", "libtorch*", "--map", map.path(), "--format", "csv",
                                "-U", "calls,function", "LOG"},
                               log);

  EXPECT_EQ(by_library.out,
            "self_percent,lib\n70,libtorch_cpu.so\n20,libc.so.6\n10,(not told by the log)\n");
  EXPECT_EQ(one.out, "calls,function\n1,at::native::conv2d\n");
}

TEST(MaxMemOption, wants_a_size) {
  EXPECT_EQ(run_command({"top", "--max-mem", "1K", "LOG"}, "f() = 0\n").status, 2);
  EXPECT_EQ(run_command({"top", "--max-mem", "much", "LOG"}, "f() = 0\n").status, 2);
}

TEST(HtmlCommand, has_all_sections) {
  const TextFile stages("[waiting]\nfunc = \"foo_wait\", \"poll\"\n");

  const auto end = run_command({"html", "--stages", stages.path(), "--from", "poll", "--to",
                                "foo_wait", "--frame-func", "poll", "LOG"},
                               kTwoLibraries);

  EXPECT_EQ(end.status, 0) << end.err;
  std::string headings;
  for (auto at = end.out.find("<h2>"); at != std::string::npos; at = end.out.find("<h2>", at + 1))
    headings += end.out.substr(at + 4, end.out.find("</h2>", at) - at - 4) + "|";
  EXPECT_EQ(headings, "Functions|Libraries|Stages|Stages by time|Classes|Threads|Rules|"
                      "Gaps from poll to foo_wait|Silence|Flame graph|Timeline|");
  // The gaps are 9.99 and 39.99 ms long, the longest silence 39.98 ms.
  EXPECT_NE(end.out.find("<td>40.0ms</td><td class=\"l\">poll</td>"), std::string::npos);
  EXPECT_NE(end.out.find("<td>40.0ms</td><td>0.0100</td><td class=\"l\">first</td>"
                         "<td class=\"l\">foo_wait</td><td class=\"l\">poll</td>"),
            std::string::npos)
      << end.out.substr(end.out.find("Silence</h2>"), 1500);
  EXPECT_NE(end.out.find("<td class=\"l\">waiting</td><td>4</td>"), std::string::npos);
}

TEST(RulesCommand, wants_one_way_to_count_frames) {
  EXPECT_EQ(run_command({"rules", "--frames", "1", "--frame-func", "x", "LOG"}, "f() = 0\n").status,
            2);
}

TEST(BalanceCommand, tells_what_was_not_given_back) {
  const std::string log = "malloc(10) = 0x1000\nmalloc(20) = 0x2000\nfree(0x1000) = <void>\n"
                          "fopen(\"/a\", \"r\") = 0x3000\n";

  const auto end = run_command({"balance", "--pair", "malloc:free", "--pair", "fopen:fclose",
                                "--list", "5", "--max-unmatched", "1", "LOG"},
                               log);

  EXPECT_EQ(end.status, 1);
  EXPECT_NE(end.out.find("malloc:free: 1 of 2 not given back, 20 bytes;"), std::string::npos)
      << end.out;
  EXPECT_NE(end.out.find("fopen:fclose: 1 of 1 not given back;"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("0x2000"), std::string::npos);
  EXPECT_NE(end.out.find("gate: 2 not given back > 1   FAILED\n"), std::string::npos);
  EXPECT_EQ(run_command({"balance", "--max-unmatched", "1", "LOG"}, log).status, 0);
}

TEST(BalanceCommand, does_not_pass_where_nothing_was_taken) {
  EXPECT_EQ(run_command({"balance", "--max-unmatched", "0", "LOG"}, "puts(\"a\") = 2\n").status, 2);
}

// The field note: adaptive_avg_pool2d takes time with the square of the resolution.
TEST(ScaleCommand, finds_the_square_of_the_resolution) {
  std::vector<TextFile> logs;
  std::string parameter = "resolution=";
  for (const unsigned resolution : {256U, 512U, 1024U}) {
    const unsigned us = resolution * resolution / 64;
    logs.emplace_back(repeated(
        resolution / 256, fmt::format("at::native::adaptive_avg_pool2d(1) = 0 <0.{:06}>\n", us)));
    parameter +=
        fmt::format("{}{}:{}", resolution == 256 ? "" : ",", resolution, logs.back().path());
  }

  const auto end =
      run_command({"scale", "--param", parameter, "--func", "at::native::adaptive_avg_pool2d"}, "");
  const auto gate = run_command({"scale", "--param", parameter, "--max-exponent", "1.5"}, "");

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(
      end.out.find("at::native::adaptive_avg_pool2d: k = 2.00 +- 0.00, R^2 = 1.0000, 3 points\n"),
      std::string::npos)
      << end.out;
  EXPECT_NE(end.out.find("2.00  0.00  1.0000     1.00     3.00"), std::string::npos) << end.out;
  EXPECT_EQ(gate.status, 1);
}

TEST(ScaleCommand, needs_three_values) {
  const TextFile log("f() = 0 <0.000001>\n");

  const auto end = run_command({"scale", "--param", fmt::format("n=1:{0},2:{0}", log.path())}, "");

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("an exponent needs logs of at least three"), std::string::npos) << end.err;
}

} // namespace
} // namespace sonictrace::sonicreport::test
