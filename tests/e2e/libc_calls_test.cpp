// A program that calls several hundred functions of the C library, the mathematics library and zlib
// says what its log should be, line by line.
#include <set>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kFewestFunctions = 300;

std::string name_of(const std::string& line) { return line.substr(0, line.find('(')); }

/// What the program printed through expect.h, and not what it printed for other reasons.
Lines expected_lines(const std::string& out) {
  static const std::regex call(R"(\w+\(.*\) = .*)");
  Lines expected;
  for (const std::string& line : lines_of(out))
    if (std::regex_match(line, call)) expected.push_back(line);
  return expected;
}

/// The calls of a log, without their padding and the thread's number in front; and without those
/// that say what is expected, and those of the program's end.
Lines logged_lines(const std::string& log) {
  static const std::regex call(R"((?:\d+ )?(\w+)(\(.*\)) += (.*))");
  Lines logged;
  for (const std::string& line : lines_of(log)) {
    std::smatch match;
    if (!std::regex_match(line, match, call)) {
      // Signals and ends of threads; anything else is there to be compared, and is no call.
      if (line.find("+++ ") == std::string::npos && line.find("--- ") == std::string::npos)
        logged.push_back(line);
      continue;
    }
    if (!match[1].str().starts_with("expect_") && match[1] != "__cxa_finalize")
      logged.push_back(match[1].str() + match[2].str() + " = " + match[3].str());
  }
  return logged;
}

class LibcCalls : public TracedProgram {};

TEST_P(LibcCalls, are_logged_as_the_program_says) {
  const Traced run = traced({"--whole-lines"}, {program("libc_calls")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  const Lines expected = expected_lines(run.ended.out);
  const Lines logged = logged_lines(run.text);
  for (std::size_t at = 0; at < std::min(expected.size(), logged.size()); ++at)
    ASSERT_EQ(logged[at], expected[at]) << "line " << at;
  EXPECT_EQ(logged.size(), expected.size());
  std::set<std::string> names;
  for (const std::string& line : expected)
    names.insert(name_of(line));
  EXPECT_GE(names.size(), kFewestFunctions);
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(LibcCalls);

} // namespace
} // namespace sonictrace::test
