// Libraries with debug information, wherever it lies, say from within each function what the log
// should show of the call: line by line, none may differ.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

/// Where the debug information of the libraries is.
const std::vector<std::string> kPlaces = {"module", "link",       "build-id",
                                          "dwz",    "compressed", "clang"};

class Described : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
  void SetUp() override {
    if (!exists(directory() + "/described"))
      GTEST_SKIP() << directory() << ": what makes it is not installed";
  }
  std::string engine() const { return std::get<0>(GetParam()); }
  std::string place() const { return std::get<1>(GetParam()); }
  std::string directory() const { return tracee("described-" + place()); }

  Traced traced(std::vector<std::string> options, const std::string& program,
                const std::string& library) const {
    options.insert(options.begin(),
                   {SONICTRACE, "--engine=" + engine(), "--whole-lines", "-e", "*@" + library,
                    "--debug-directory=" + directory() + "/debug"});
    TemporaryDirectory scratch;
    options.insert(options.end(), {"-o", scratch.path("log"), directory() + "/" + program});
    Command how;
    how.argv = options;
    return read_back(run_program(how), scratch.path("log"));
  }
};

std::vector<std::string> sorted_lines(const std::string& text, const std::string& begin) {
  static const std::regex spaces(R"(\) +([=<]))");
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    const std::size_t name = line.find(begin);
    if (name != std::string::npos && !line.starts_with("+++"))
      lines.push_back(std::regex_replace(line.substr(name), spaces, ") $1"));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_P(Described, functions_of_c_are_shown_with_all_that_their_types_say) {
  const Traced run = traced({}, "described", "libdescribed.so");

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  const auto expected = sorted_lines(run.ended.out, "described_");
  ASSERT_GE(expected.size(), 28U);
  EXPECT_EQ(sorted_lines(run.text, "described_"), expected);
}

TEST_P(Described, functions_of_cpp_are_shown_with_all_that_their_types_say) {
  const Traced run = traced({}, "describedpp", "libdescribedpp.so");

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  const auto expected = sorted_lines(run.ended.out, "described::");
  ASSERT_GE(expected.size(), 28U);
  EXPECT_EQ(sorted_lines(run.text, "described::"), expected);
}

TEST_P(Described, functions_are_numbers_again_without_debug_information) {
  const Traced run = traced({"--no-debug-info"}, "described", "libdescribed.so");

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.text.find("\"hello\""), std::string::npos) << run.text;
  EXPECT_NE(run.text.find("described_text("), std::string::npos) << run.text;
}

INSTANTIATE_TEST_SUITE_P(Engines, Described,
                         testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(kPlaces)),
                         [](const auto& tested) {
                           return as_test_name(std::get<0>(tested.param) + "_" +
                                               std::get<1>(tested.param));
                         });

} // namespace
} // namespace sonictrace::test
