#include "unit/sonicreport/run_command.hpp"

namespace sonictrace::sonicreport::test {
namespace {

// The field note's second case: sound and picture are 70 ms apart.
constexpr std::string_view kLate = "4711 14:23:07.390000 avcodec_decode_audio4(1) = 0 <0.010000>\n"
                                   "4711 14:23:07.400000 avcodec_decode_audio4(2) = 0 <0.010000>\n"
                                   "4711 14:23:07.411000 usleep(61200) = 0 <0.061200>\n"
                                   "4711 14:23:07.474000 read(3, \"\", 1) = 0 <0.005000>\n"
                                   "4711 14:23:07.480000 generate_first_frame() = 0 <0.020000>\n";

const std::vector<std::string> kArguments = {
    "gaps", "--from", "avcodec_decode_audio4", "--to", "generate_first_frame", "LOG"};

std::vector<std::string> with(std::vector<std::string> more) {
  auto all = kArguments;
  all.insert(all.end() - 1, more.begin(), more.end());
  return all;
}

TEST(GapsCommand, tells_the_70_ms_between_the_sound_and_the_first_frame) {
  const auto end = run_command(kArguments, kLate);

  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(end.out.starts_with(
      "from end 14:23:07.410000 (tid 4711)  to start 14:23:07.480000 (tid 4711)  gap 70.000 ms   "
      "in between: usleep 61.2ms, read 5.00ms, untraced 3.80ms (5.4 %)\n"))
      << end.out;
}

TEST(GapsCommand, fails_where_a_gap_is_longer_than_max) {
  const auto over = run_command(with({"--max", "50ms"}), kLate);
  const auto under = run_command(with({"--max", "70ms"}), kLate);

  EXPECT_EQ(over.status, 1);
  EXPECT_NE(over.out.find("gate: 70.000 ms > 50.000 ms   FAILED\n"), std::string::npos) << over.out;
  EXPECT_EQ(under.status, 0);
  EXPECT_NE(under.out.find("gate: 70.000 ms <= 70.000 ms   ok\n"), std::string::npos) << under.out;
}

TEST(GapsCommand, says_so_on_stderr_where_programs_read_the_output) {
  const auto end = run_command(with({"--max", "50ms", "--format", "csv"}), kLate);

  EXPECT_EQ(end.status, 1);
  EXPECT_NE(end.out.find(",14:23:07.480000,4711,70000000,3800000,usleep=61200000 read=5000000\n"),
            std::string::npos)
      << end.out;
  EXPECT_EQ(end.err, "sonicreport: gate: 70.000 ms > 50.000 ms   FAILED\n");
}

TEST(GapsCommand, is_no_gate_that_measures_nothing_and_passes) {
  const auto end = run_command(
      {"gaps", "--from", "avcodec_decode", "--to", "generate*", "--max", "50ms", "LOG"}, kLate);

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("no call for --from 'avcodec_decode'"), std::string::npos) << end.err;
}

TEST(GapsCommand, needs_times) {
  const auto end = run_command({"gaps", "LOG"}, "puts(\"a\") = 2\n");

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("the lines have no times; trace with -tt -T"), std::string::npos);
}

TEST(GapsCommand, names_a_thread_where_the_log_does) {
  const auto end =
      run_command(kArguments, "10:00:00.000000 avcodec_decode_audio4() = 0 <0.001000>\n"
                              "10:00:00.002000 generate_first_frame() = 0 <0.001000>\n");

  EXPECT_TRUE(end.out.starts_with("from end 10:00:00.001000 (first thread)  to start "
                                  "10:00:00.002000 (first thread)  gap 1.000 ms"))
      << end.out;
}

TEST(GapsCommand, shows_the_longest_times_without_a_call) {
  const auto end = run_command({"gaps", "--top", "1", "--format", "csv", "LOG"}, kLate);

  EXPECT_EQ(end.status, 0);
  EXPECT_NE(end.out.find(",1800000,14:23:07.472200,14:23:07.474000,4711,usleep,read\n"),
            std::string::npos)
      << end.out;
}

} // namespace
} // namespace sonictrace::sonicreport::test
