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
