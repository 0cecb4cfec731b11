// What the formats of printf and scanf ask for: ten thousand calls, of which
// tests/tracees/formats.py knew before what their lines must be.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

/// From the name to the last argument that the format asks for; behind it a va_list's address, and
/// the result.
bool is_expected(const std::string& line, const std::string& expected) {
  if (line.compare(0, expected.size(), expected) != 0) return false;
  const std::string rest = line.substr(expected.size());
  return rest[0] == ')' || rest.compare(0, 4, ", 0x") == 0;
}

class Formats : public WithEngine {};

TEST_P(Formats, show_the_arguments_that_they_ask_for) {
  if (!exists(tracee("formats"))) GTEST_SKIP() << "no python3, which writes the program";
  const auto expected = lines_of(read_file(tracee("formats.expected")));
  ASSERT_EQ(expected.size(), 10000u);

  const Traced traced = Formats::traced(
      {"--quiet", "-s", "2000", "-e",
       "printf,__printf_chk,snprintf,__snprintf_chk,dprintf,vdprintf,vsnprintf,sscanf"},
      {tracee("formats")});

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  auto lines = lines_of(traced.text);
  lines.resize(lines.size() - std::min<std::size_t>(lines.size(), 1)); // +++ exited +++
  ASSERT_EQ(lines.size(), expected.size());
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (is_expected(lines[at], expected[at])) continue;
    if (++wrong <= 10) ADD_FAILURE() << "expected: " << expected[at] << "\n is: " << lines[at];
  }
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_OVER_ENGINES(Formats);

} // namespace
} // namespace sonictrace::test
