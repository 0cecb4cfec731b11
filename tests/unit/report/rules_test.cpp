#include "sonictrace/report/rules.hpp"

#include <gtest/gtest.h>

#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

using log::test::TextFile;

Finding judge(std::string_view rule, const std::string& text, const RuleOptions& options = {}) {
  const TextFile file(text);
  log::ReaderOptions reading;
  reading.keep_arguments = true;
  auto filter = CallFilter::make({});
  auto reader = log::LogReader::open(file.path(), reading);
  Rules rules(options, *filter, reader->functions());
  EXPECT_TRUE(reader->pump(rules));
  for (auto& found :
       rules.findings(reader->accounting().clock, reader->accounting().fraction_digits))
    if (found.rule == rule) return found;
  ADD_FAILURE() << "no rule " << rule;
  return {};
}

std::string repeated(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += line;
  return text;
}

RuleOptions with_frames(std::uint64_t frames) {
  RuleOptions options;
  options.frames = frames;
  return options;
}

TEST(Rules, warn_of_more_than_five_futex_calls_a_frame) {
  const auto found =
      judge("futex", repeated(14'763, "futex@SYS(0x1000, 0) = 0 <0.000001>\n"), with_frames(250));

  EXPECT_EQ(found.verdict, Verdict::Warn);
  EXPECT_TRUE(found.text.starts_with("14763 > 5 x 250 = 1250 (59.1 per frame)")) << found.text;
}

TEST(Rules, are_content_with_fewer_futex_calls) {
  const auto found =
      judge("futex", repeated(1'000, "SYS_futex(0x1000, 0) = 0 <0.000001>\n"), with_frames(250));

  EXPECT_EQ(found.verdict, Verdict::Ok);
  EXPECT_EQ(found.text, "1000 <= 5 x 250 = 1250 (4.0 per frame)");
}

TEST(Rules, count_frames_by_a_function) {
  RuleOptions options;
  options.frame_function = *Glob::compile("write_frame*");
  const auto text =
      repeated(12, "futex@SYS(0x1000, 0) = 0\n") + repeated(2, "write_frame_rgb(1) = 0\n");

  EXPECT_EQ(judge("futex", text, options).text.substr(0, 23), "12 > 5 x 2 = 10 (6.0 pe");
}

TEST(Rules, count_calls_that_the_log_has_thinned) {
  const auto found = judge("futex",
                           "futex@SYS(0x1000, 0) = 0 <0.000001>\n"
                           "+++ futex@SYS: 99 more calls, 0.5 s, not written +++\n",
                           with_frames(10));

  EXPECT_EQ(found.value, 100);
  EXPECT_EQ(found.verdict, Verdict::Warn);
}

TEST(Rules, do_not_judge_what_the_log_does_not_show) {
  EXPECT_EQ(judge("futex", "puts(\"a\") = 2\n", with_frames(1)).verdict, Verdict::NotJudged);
  EXPECT_EQ(judge("futex", "futex@SYS(1) = 0\n").verdict, Verdict::NotJudged);
  EXPECT_EQ(judge("reread", "puts(\"a\") = 2\n").verdict, Verdict::NotJudged);
  EXPECT_EQ(judge("burst", "puts(\"a\") = 2\n").verdict, Verdict::NotJudged);
  EXPECT_EQ(judge("wait", "puts(\"a\") = 2\n").verdict, Verdict::NotJudged);
  EXPECT_EQ(judge("unmatched", "puts(\"a\") = 2\n").verdict, Verdict::NotJudged);
}

TEST(Rules, warn_of_a_file_that_is_opened_again_and_again) {
  const std::string round =
      "openat@SYS(AT_FDCWD, \"/a.wav\", O_RDONLY) = 3\n"
      "read@SYS(3, \"RIFF\", 4096) = 4096\n"
      "close@SYS(3) = 0\n"
      "openat@SYS(AT_FDCWD, \"/missing\", O_RDONLY) = -1 ENOENT (No such file)\n"
      "openat@SYS(AT_FDCWD, \"/proc/self/stat\", O_RDONLY) = 3\n"
      "close@SYS(3) = 0\n";

  const auto six = judge("reread", repeated(6, round));
  const auto five = judge("reread", repeated(5, round));

  EXPECT_EQ(six.verdict, Verdict::Warn);
  EXPECT_TRUE(six.text.starts_with("/a.wav opened 6 times > 5, 6 reads, 24,576 bytes")) << six.text;
  EXPECT_EQ(five.verdict, Verdict::Ok);
}

TEST(Rules, count_an_open_once_that_the_log_has_as_library_call_and_as_system_call) {
  const auto found = judge("reread", repeated(4, "openat@SYS(AT_FDCWD, \"/a.wav\", O_RDONLY) = 3\n"
                                                 "open(\"/a.wav\", 0) = 3\n"));

  EXPECT_EQ(found.verdict, Verdict::Ok);
  EXPECT_EQ(found.value, 4);
}

TEST(Rules, do_not_count_files_that_are_written) {
  for (const char* const line :
       {"open(\"/log\", O_WRONLY|O_APPEND) = 3\n", "open(\"/log\", 1025, 0600) = 3\n",
        "open(\"/log\", 02001, 0600) = 3\n", "fopen(\"/log\", \"a\") = 0x1000\n",
        "openat@SYS(AT_FDCWD, \"/log\", O_WRONLY) = 3\n"})
    EXPECT_EQ(judge("reread", repeated(9, line)).verdict, Verdict::NotJudged) << line;
  EXPECT_EQ(judge("reread", repeated(9, "fopen(\"/a\", \"r\") = 0x1000\n")).verdict, Verdict::Warn);
}

TEST(Rules, do_not_take_paths_for_the_same_that_are_cut) {
  const auto text = repeated(9, "open(\"/usr/lib/python3/dist-packages/\"..., 0) = 3\n");

  EXPECT_EQ(judge("reread", text).verdict, Verdict::NotJudged);
}

TEST(Rules, warn_of_a_burst_of_writes) {
  std::string text;
  for (unsigned i = 0; i < 50; ++i)
    text += fmt::format("10:00:{:02}.000000 write(1, \"x\", 1) = 1 <0.000001>\n", i);
  for (unsigned i = 0; i < 20; ++i)
    text += fmt::format("10:00:55.{:03}000 write(1, \"x\", 1) = 1 <0.000001>\n", 100 + 10 * i);
  RuleOptions options;
  options.burst_calls = 10;

  const auto found = judge("burst", text, options);
  options.burst_calls = 11;

  EXPECT_EQ(found.verdict, Verdict::Warn);
  EXPECT_TRUE(found.text.starts_with("11 writes in 100.0ms > 10, from 10:00:55.100000 on"))
      << found.text;
  EXPECT_EQ(judge("burst", text, options).verdict, Verdict::Ok);
}

TEST(Rules, warn_of_waits_that_are_most_of_the_time) {
  const auto found = judge("wait", "usleep(1) = 0 <0.600000>\nconv2d() = 0 <0.400000>\n");

  EXPECT_EQ(found.verdict, Verdict::Warn);
  EXPECT_EQ(found.text, "60.0 % of the traced time of all threads > 50 %: usleep 600.0ms");
  EXPECT_EQ(judge("wait", "usleep(1) = 0 <0.400000>\nconv2d() = 0 <0.600000>\n").verdict,
            Verdict::Ok);
}

TEST(Rules, warn_of_allocations_that_are_not_freed) {
  std::string text;
  for (unsigned i = 0; i < 150; ++i)
    text += fmt::format("malloc(16) = {:#x}\n", 0x1000 + 16 * i);
  std::string freed;
  for (unsigned i = 0; i < 140; ++i)
    freed += fmt::format("free({:#x}) = <void>\n", 0x1000 + 16 * i);

  EXPECT_EQ(judge("unmatched", text).verdict, Verdict::Warn);
  EXPECT_EQ(judge("unmatched", text + freed).verdict, Verdict::Ok);
}

} // namespace
} // namespace sonictrace::report
