#include <gtest/gtest.h>

#include <filesystem>

#include "unit/log/read_text.hpp"

namespace sonictrace::log {
namespace {

/// A log that ltrace 0.7.3 or 0.8 has written, byte for byte, and what is in it.
struct Golden {
  const char* name;
  std::string path; ///< below tests/
  std::uint64_t calls, skipped, unmatched, markers, no_return;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

class LtracesOwnLog : public testing::TestWithParam<Golden> {};

// The numbers were counted by hand in the files: lines that end in a result, that have no name, ...
TEST_P(LtracesOwnLog, is_read_whole) {
  const auto log = test::read_path(std::string(TEST_DATA_DIR) + "/../../" + GetParam().path);

  EXPECT_EQ(log.error, "");
  EXPECT_EQ(log.account.calls, GetParam().calls);
  EXPECT_EQ(log.account.skipped, GetParam().skipped);
  EXPECT_EQ(log.account.unmatched, GetParam().unmatched);
  EXPECT_EQ(log.account.markers, GetParam().markers);
  EXPECT_EQ(log.account.no_return, GetParam().no_return);
}

std::string golden(const std::string& name) { return "golden/cases/" + name + "/expected.073"; }

INSTANTIATE_TEST_SUITE_P(
    Of, LtracesOwnLog,
    testing::Values(Golden{"threads", golden("threads-f") + ".Ttt", 18, 0, 0, 15, 0},
                    Golden{"callbacks", golden("callback-x-n2") + ".Ttt", 13, 0, 0, 8, 0}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// Lines that end in a time; every one of them has to be used.
std::size_t completed(const std::string& path) {
  std::size_t count = 0;
  std::FILE* const file = std::fopen(path.c_str(), "r");
  char line[65536];
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    const std::string_view text(line);
    const auto mark = text.rfind(" <");
    count += text.ends_with(">\n") && mark != std::string_view::npos && text[mark + 2] >= '0' &&
             text[mark + 2] <= '9';
  }
  if (file != nullptr) std::fclose(file);
  return count;
}

TEST(LtracesOwnLogs, are_used_to_the_last_completed_call) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_DATA_DIR "/../../golden/cases"))
    if (entry.path().filename() != "attach-threads") // begins in the middle of calls
      paths.push_back(entry.path() / "expected.073.Ttt");
  for (const auto& entry : std::filesystem::directory_iterator(TEST_DATA_DIR "/ltrace08"))
    paths.push_back(entry.path());
  ASSERT_GT(paths.size(), 80U);
  std::size_t all = 0;
  for (const auto& path : paths) {
    if (!std::filesystem::exists(path)) continue;
    const auto log = test::read_path(path);

    EXPECT_EQ(log.account.timed_calls, completed(path)) << path;
    EXPECT_EQ(log.account.timed_lines, completed(path)) << path;
    all += log.account.timed_calls;
  }
  EXPECT_GT(all, 900U);
}

} // namespace
} // namespace sonictrace::log
