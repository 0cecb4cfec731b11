#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/log.hpp"
#include "support/run_program.hpp"

namespace sonictrace::test {

/// Every end-to-end test runs once with each of these.
inline const std::vector<std::string> kEngines = {"breakpoint", "inline"};

/// The builds of each tracee, see tests/tracees.
inline const std::vector<std::string> kVariants = {"pie-lazy", "pie-now", "nopie-lazy",
                                                   "nopie-now"};

inline std::string tracee(const std::string& name) { return std::string(TRACEE_DIR) + "/" + name; }
inline bool exists(const std::string& path) { return std::filesystem::exists(path); }

/// For gtest's test names, which hold letters, digits and _.
std::string as_test_name(std::string text);

/// A directory that is gone, with what is in it, at the end of its scope.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "sonictrace-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_ : path_ + "/" + name;
  }

private:
  std::string path_;
};

std::string read_file(const std::string& path);

void write_file(const std::string& path, const std::string& text, int mode = 0644);

std::vector<std::string> lines_of(const std::string& text);

/// Waits for something that announces itself in no other way, such as a state in /proc.
template <class Condition>
bool wait_until(Condition condition, std::chrono::seconds limit = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sched_yield();
  }
  return true;
}

/// The field NAME of /proc/PID/status.
std::string status_field(pid_t pid, const std::string& name);

/// How many bytes of a process's code differ from its files, by file: a breakpoint that was left
/// behind would.
std::map<std::string, std::size_t> changed_code(pid_t pid);

/// The first child of a process of one thread; 0: it has none.
pid_t child_of(pid_t pid);

/// A program that ran under the tracer, and the log of it.
struct Traced {
  Ended ended;
  std::string text;
  Log log;
};

Traced read_back(Ended ended, const std::string& log_path);

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b);

/// `sonictrace --engine=ENGINE -o LOG OPTIONS PROGRAM`; `how` may say more of how to start it.
Traced trace(const std::string& engine, const std::vector<std::string>& options,
             const std::vector<std::string>& program, Command how = {});

/// The calls that a tracee has printed, without those lines that begin with "child ", or only
/// those.
std::vector<std::string> printed_calls(const std::string& out, bool of_children = false);

/// As the tracee would print it: without prototypes, a tracer shows more arguments than there are,
/// and an int as the whole register.
std::string as_printed(const LoggedCall& call, const std::string& expected);

/// Each call printed is logged, in this order, and no other.
void expect_calls(const std::vector<LoggedCall>& logged, const std::vector<std::string>& expected);

/// The same without an order: of calls in several processes or threads, or of whole lines.
void expect_calls_in_any_order(const std::vector<LoggedCall>& logged,
                               std::vector<std::string> expected);

/// Does the log show what a program has told? A `?` in what it told stands for anything but a text.
bool is_as_expected(const std::string& shown, const std::string& expected);

/// TEST_P over engines and builds.
class TracedProgram : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
  static std::string engine() { return std::get<0>(GetParam()); }
  static std::string variant() { return std::get<1>(GetParam()); }
  static std::string program(const std::string& name) { return tracee(name + "-" + variant()); }
  static Traced traced(const std::vector<std::string>& options,
                       const std::vector<std::string>& argv, Command how = {}) {
    return trace(engine(), options, argv, std::move(how));
  }
};

#define INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Suite)                                               \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      E2e, Suite, testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(kVariants)),     \
      [](const auto& tested) {                                                                     \
        return as_test_name(std::get<0>(tested.param) + "_" + std::get<1>(tested.param));          \
      })

/// TEST_P over engines.
class WithEngine : public testing::TestWithParam<std::string> {
protected:
  static std::string engine() { return GetParam(); }
  static Traced traced(const std::vector<std::string>& options,
                       const std::vector<std::string>& argv, Command how = {}) {
    return trace(engine(), options, argv, std::move(how));
  }
};

#define INSTANTIATE_OVER_ENGINES(Suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(E2e, Suite, testing::ValuesIn(kEngines),                                \
                           [](const auto& tested) { return as_test_name(tested.param); })

} // namespace sonictrace::test
