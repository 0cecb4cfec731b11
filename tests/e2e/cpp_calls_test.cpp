// A library of 150 functions of C++, of all kinds, says in each of its functions what the log
// should show of the call: with debug information, and of what the function's name alone tells. By
// each compiler, each standard library, optimised and not.
#include "counted.hpp"
#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::vector<std::string> kBuilds = {"gcc-O0",       "gcc-O2",    "gcc-old-O0",
                                          "gcc-old-O2",   "clang-O0",  "clang-O2",
                                          "clang-old-O2", "libcxx-O0", "libcxx-O2"};

struct Line {
  std::string arguments, result;
};
/// The lines of each function, in the order of its calls.
using Lines = std::map<std::string, std::vector<Line>>;

/// The variants of a destructor that call each other have one name.
void append(std::vector<Line>& lines, const std::string& name, Line line) {
  const bool is_same = !lines.empty() && lines.back().arguments == line.arguments;
  if (is_same && name.find('~') != std::string::npos) return;
  lines.push_back(std::move(line));
}

struct Expected {
  Lines described, named;
};

Expected told_by(const std::string& out) {
  Expected all;
  for (const std::string& line : lines_of(out)) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      parts.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (parts.size() != 5) {
      ADD_FAILURE() << line;
      continue;
    }
    append(all.described[parts[0]], parts[0], {parts[1], parts[2]});
    append(all.named[parts[0]], parts[0], {parts[3], parts[4]});
  }
  return all;
}

/// Of functions that are called `expected`, and of no others.
Lines logged(const std::string& text, const Lines& expected) {
  static const std::regex form(R"((kinds::.*\)) +(?:= (.*)|<no return ...>))");
  static const std::regex elsewhere(R"(@libcpp_calls\.so|\[abi:cxx11\])");
  Lines all;
  for (const std::string& line : lines_of(text)) {
    const std::string call = std::regex_replace(line, elsewhere, "");
    std::smatch match;
    if (!std::regex_match(call, match, form)) continue;
    const std::string whole = match[1];
    std::string name; // one may begin with another
    for (const auto& [known, lines] : expected)
      if (known.size() > name.size() && whole.starts_with(known + "(")) name = known;
    EXPECT_FALSE(name.empty()) << line;
    append(all[name], name, {whole.substr(name.size()), match[2]});
  }
  return all;
}

/// Registers and floating-point arguments: no text, no list, no truth value.
bool is_numbers(const std::string& arguments) {
  static const std::regex numbers(R"(\([-0-9a-fx., ]*\))");
  return std::regex_match(arguments, numbers);
}

class CppCalls : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
  static std::string engine() { return std::get<0>(GetParam()); }

  Traced traced(const std::string& directory) const {
    return trace(engine(), {"--whole-lines", "-e", "!*", "-x", "kinds::*@libcpp_calls.so"},
                 {tracee("cpp_calls/" + directory) + "/cpp_calls"});
  }

  /// Nothing where the build is missing, which is said.
  std::optional<Traced> traced_build(const std::string& suffix) const {
    const std::string directory = std::get<1>(GetParam()) + suffix;
    const std::string path = tracee("cpp_calls/" + directory);
    if (!exists(path + "/cpp_calls")) return std::nullopt;
    return traced(directory);
  }
  std::string reason() const {
    const std::string file = tracee("cpp_calls/" + std::get<1>(GetParam())) + "/missing";
    return exists(file) ? read_file(file) : "its compiler, or objcopy,";
  }
};

TEST_P(CppCalls, are_shown_as_their_debug_information_describes_them) {
  const auto run = traced_build("");
  SKIP_WITHOUT(run, reason());

  ASSERT_TRUE(run->ended.exited_with(0)) << run->ended.end() << "\n" << run->ended.err;
  const Lines expected = told_by(run->ended.out).described;
  ASSERT_GE(expected.size(), 150U);
  const Lines shown = logged(run->text, expected);
  for (const auto& [name, lines] : expected) {
    const auto found = shown.find(name);
    ASSERT_TRUE(found != shown.end()) << name;
    ASSERT_EQ(found->second.size(), lines.size()) << name;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      EXPECT_EQ(found->second[at].arguments, lines[at].arguments) << name;
      EXPECT_EQ(found->second[at].result, lines[at].result) << name << lines[at].arguments;
    }
  }
}

/// The functions that may be shown as registers where only their names are known, with the reason
/// of each.
std::map<std::string, std::string> not_decoded() {
  std::map<std::string, std::string> reasons;
  for (const std::string& line :
       lines_of(read_file(SOURCE_DIR "/tests/e2e/cpp_calls_not_decoded.txt"))) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    EXPECT_TRUE(reasons.emplace("kinds::" + line.substr(0, colon), line.substr(colon + 2)).second)
        << line;
  }
  return reasons;
}

TEST_P(CppCalls, are_shown_as_their_names_tell_or_with_numbers) {
  const auto run = traced_build("-bare");
  SKIP_WITHOUT(run, reason());

  ASSERT_TRUE(run->ended.exited_with(0)) << run->ended.end() << "\n" << run->ended.err;
  const Lines expected = told_by(run->ended.out).named;
  ASSERT_GE(expected.size(), 150U);
  const Lines shown = logged(run->text, expected);
  const auto reasons = not_decoded();
  std::size_t decoded = 0;
  std::string left;
  for (const auto& [name, lines] : expected) {
    const auto found = shown.find(name);
    ASSERT_TRUE(found != shown.end()) << name;
    ASSERT_EQ(found->second.size(), lines.size()) << name;
    bool is_decoded = true;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      const Line& line = found->second[at];
      EXPECT_TRUE(is_as_expected(line.result, lines[at].result))
          << name << lines[at].arguments << " = " << line.result;
      if (is_as_expected(line.arguments, lines[at].arguments)) continue;
      EXPECT_TRUE(is_numbers(line.arguments))
          << "wrong: " << name << line.arguments << " is " << lines[at].arguments;
      is_decoded = false;
    }
    if (is_decoded)
      ++decoded;
    else
      left += name + "\n";
    EXPECT_TRUE(is_decoded || reasons.contains(name)) << "not decoded: " << name;
  }
  for (const auto& [name, reason] : reasons)
    EXPECT_TRUE(expected.contains(name)) << "no function: " << name << ": " << reason;
  RecordProperty("not_decoded", left);
  EXPECT_GE(decoded * 150, expected.size() * 120) << left;
}

INSTANTIATE_TEST_SUITE_P(Engines, CppCalls,
                         testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(kBuilds)),
                         [](const auto& tested) {
                           return as_test_name(std::get<0>(tested.param) + "_" +
                                               std::get<1>(tested.param));
                         });

} // namespace
} // namespace sonictrace::test
