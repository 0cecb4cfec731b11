// A library of C++ functions without debug information says, from within each function, what the
// log should show of the call.
#include <map>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

using Counts = std::map<std::string, int>;

std::vector<std::string> expected_calls(const std::string& out) {
  std::vector<std::string> calls;
  for (const std::string& line : lines_of(out))
    if (line.starts_with("named::")) calls.push_back(line);
  return calls;
}

/// The calls of a log, without the results.
std::vector<std::string> logged_calls(const std::string& log) {
  static const std::regex form(R"((?:\d+ )?(named::.*\)) +(?:=|<).*)");
  std::vector<std::string> calls;
  for (const std::string& line : lines_of(log)) {
    std::smatch match;
    if (std::regex_match(line, match, form)) calls.push_back(match[1]);
  }
  return calls;
}

/// The function's name.
std::string name_of(const std::string& call) {
  const std::size_t from = call.find("operator()") == std::string::npos ? 0 : call.find("()") + 2;
  return call.substr(0, call.find('(', from));
}

/// Registers as numbers: no text, no list, no truth value.
bool is_numbers(const std::string& call) {
  static const std::regex numbers(R"([-0-9a-fx., ]*)");
  const std::string arguments = call.substr(name_of(call).size());
  return std::regex_match(arguments.substr(1, arguments.size() - 2), numbers);
}

/// Where a `?` is expected, anything but a text may stand.
bool is_as_expected(const std::string& logged, const std::string& expected) {
  const std::size_t at = expected.find('?');
  if (at == std::string::npos) return logged == expected;
  const std::string tail = expected.substr(at + 1);
  if (logged.size() < at + tail.size() || !logged.ends_with(tail)) return false;
  return logged.substr(0, at) == expected.substr(0, at) &&
         logged.substr(at, logged.size() - at - tail.size()).find('"') == std::string::npos;
}

class NamedFunctions : public TracedProgram {};

TEST_P(NamedFunctions, are_shown_with_their_arguments_or_with_numbers) {
  const Traced run = traced({"--whole-lines", "-e", "*@libnames.so"}, {program("names")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  std::vector<std::string> expected = expected_calls(run.ended.out);
  std::vector<std::string> logged = logged_calls(run.text);
  ASSERT_GE(expected.size(), 80u);
  EXPECT_EQ(logged.size(), expected.size()) << run.text;
  std::vector<std::string> left;
  for (const std::string& call : logged) {
    const auto same = std::find_if(expected.begin(), expected.end(), [&](const std::string& each) {
      return is_as_expected(call, each);
    });
    if (same == expected.end())
      left.push_back(call);
    else
      expected.erase(same);
  }
  Counts names;
  for (const std::string& call : expected)
    ++names[name_of(call)];
  for (const std::string& call : left) {
    EXPECT_TRUE(is_numbers(call)) << "wrong: " << call;
    --names[name_of(call)];
  }
  for (const auto& [name, count] : names)
    EXPECT_EQ(count, 0) << name;
  // Most of them are known; which ones depends on what registers happen to hold.
  const std::size_t most = logged.size() / 8;
  std::string list;
  for (const std::string& call : left)
    list += call + "\n";
  RecordProperty("numbers", list);
  EXPECT_LE(left.size(), most) << list;
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(NamedFunctions);

} // namespace
} // namespace sonictrace::test
