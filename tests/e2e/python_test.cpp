// --python: the Python function, file and line of each call, against what the program says itself.
#include <cstdlib>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::string kPython = "/usr/bin/python3";

/// ` > python FUNCTION FILE:LINE`
struct Place {
  std::string function, file, line;
  bool operator==(const Place&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.function << ' ' << place.file << ':' << place.line;
}

struct ToldCall {
  Place told;
  std::optional<Place> shown;
  std::size_t frames = 0; ///< lines below it
};

/// The calls of told(LINE, "FUNCTION", "FILE") in a log.
std::vector<ToldCall> told_calls(const std::string& log) {
  static const std::regex call(R"re((?:\d+ )?told\((\d+), "(.*)", "(.*)"\) +=.*)re");
  static const std::regex frame(R"( > python (\S+) (.+):(\d+|\?))");
  std::vector<ToldCall> all;
  bool is_below = false;
  for (const std::string& line : lines_of(log)) {
    std::smatch parts;
    if (std::regex_match(line, parts, call)) {
      all.push_back({{parts[2], parts[3], parts[1]}, {}, 0});
      is_below = true;
    } else if (!is_below || line.rfind(" > ", 0) != 0) {
      is_below = false;
    } else {
      if (std::regex_match(line, parts, frame)) all.back().shown = {parts[1], parts[2], parts[3]};
      ++all.back().frames;
    }
  }
  return all;
}

class PythonPlaces : public WithEngine {
protected:
  PythonPlaces() { write_file(directory_.path("told.conf"), "int told(int, string, string);\n"); }
  std::vector<std::string> options(const std::vector<std::string>& more) const {
    return std::vector<std::string>{
               "--python", "--quiet", "-f", "-s", "4096", "-F", directory_.path("told.conf")} +
           more;
  }
  static std::vector<std::string> program() {
    return {kPython, "-X", "utf8", SOURCE_DIR "/tests/tracees/python_places.py", TRACEE_DIR};
  }

  TemporaryDirectory directory_;
};

#define SKIP_WITHOUT_PYTHON()                                                                      \
  if (!run_program({{kPython, "-c",                                                                \
                     "import sys, ctypes, sqlite3, xmlrpc\n"                                       \
                     "sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 13))"}})                  \
           .exited_with(0))                                                                        \
  GTEST_SKIP() << "there is no python3 of a version from 3.8 to 3.13"

TEST_P(PythonPlaces, are_those_that_the_program_tells_itself) {
  SKIP_WITHOUT_PYTHON();

  const Traced traced = PythonPlaces::traced(options({"-e", "told"}), program());

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  const auto calls = told_calls(traced.text);
  ASSERT_GT(calls.size(), 900u);
  std::size_t wrong = 0;
  for (const ToldCall& call : calls) {
    if (call.shown == call.told) continue;
    if (++wrong > 10) continue;
    ADD_FAILURE() << "told: " << call.told
                  << "\n shown: " << (call.shown ? testing::PrintToString(*call.shown) : "nothing");
  }
  EXPECT_EQ(wrong, 0u) << "of " << calls.size();
}

INSTANTIATE_OVER_ENGINES(PythonPlaces);

} // namespace
} // namespace sonictrace::test
