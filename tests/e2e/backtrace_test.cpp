// -w: the stack on which a call was made, against what the callee sees itself by backtrace(3).
#include <map>
#include <optional>
#include <sstream>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

struct ShownFrame {
  std::string module, function; ///< empty: not shown
  std::uint64_t address = 0;
};

using Addresses = std::vector<std::uint64_t>;

/// ` > MODULE(FUNCTION+0xOFFSET) [0xADDRESS]`
std::optional<ShownFrame> parse_frame(const std::string& line) {
  static const std::regex form(
      R"( > (?:([^(+]+)(?:\((.+)\+0x[0-9a-f]+\)|\+0x[0-9a-f]+) )?\[0x([0-9a-f]+)\])");
  std::smatch parts;
  if (!std::regex_match(line, parts, form)) return std::nullopt;
  return ShownFrame{parts[1], parts[2], std::stoull(parts[3], nullptr, 16)};
}

/// The frames below each call of a log, by `NAME(N`. Ends of calls that are open are at the end.
std::map<std::string, std::vector<ShownFrame>> frames_of(const std::string& log) {
  static const std::regex call(R"((?:[^ ]+ +)*?(\w+)(?:@[^(]+)?\((\d+).*)");
  std::map<std::string, std::vector<ShownFrame>> all;
  std::vector<ShownFrame>* current = nullptr;
  for (const auto& line : lines_of(log)) {
    std::smatch parts;
    if (const auto frame = parse_frame(line)) {
      if (current != nullptr) current->push_back(*frame);
    } else if (std::regex_match(line, parts, call)) {
      current = &all[parts[1].str() + "(" + parts[2].str() + ")"];
    } else {
      current = nullptr;
    }
  }
  return all;
}

Addresses addresses_of(const std::vector<ShownFrame>& frames) {
  Addresses addresses;
  for (const auto& frame : frames)
    addresses.push_back(frame.address);
  return addresses;
}

/// What the tracee has told, in the same form.
std::map<std::string, Addresses> told_by(const std::string& out) {
  std::map<std::string, Addresses> all;
  for (const auto& line : lines_of(out)) {
    std::istringstream words(line);
    std::string name, address;
    words >> name;
    auto& addresses = all[name];
    while (words >> address)
      addresses.push_back(std::stoull(address, nullptr, 16));
  }
  return all;
}

const std::vector<std::string> kBuilds = {"pie-lazy",  "pie-now",  "nopie-lazy",
                                          "nopie-now", "stripped", "noplt"};

class Backtraces : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
  static std::string build() { return std::get<1>(GetParam()); }
  static Traced run(const std::vector<std::string>& options) {
    return trace(std::get<0>(GetParam()), options,
                 {tracee("backtrace-" + build()), tracee("libbacktrace_plug.so")});
  }

  static void expect_what_was_told(const Traced& traced) {
    ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
    const auto told = told_by(traced.ended.out);
    ASSERT_EQ(told.size(), 10u) << traced.ended.out;
    const auto shown = frames_of(traced.text);
    for (const auto& [call, addresses] : told) {
      const auto found = shown.find(call);
      ASSERT_NE(found, shown.end()) << call << "\n" << traced.text;
      EXPECT_EQ(addresses_of(found->second), addresses) << call;
    }
  }
};

TEST_P(Backtraces, are_what_the_callee_sees_itself) {
  expect_what_was_told(run({"-w", "64", "-e", "bt_*"}));
}

TEST_P(Backtraces, are_so_at_a_functions_entry_too) {
  expect_what_was_told(run({"-w", "64", "-L", "-x", "bt_*"}));
}

TEST_P(Backtraces, show_no_more_frames_than_were_asked_for) {
  const Traced traced = run({"-w", "2", "-e", "bt_*"});
  const auto told = told_by(traced.ended.out);
  const auto shown = frames_of(traced.text);
  ASSERT_TRUE(shown.contains("bt_here(2)")) << traced.text;
  const auto& all = told.at("bt_here(2)");
  EXPECT_EQ(addresses_of(shown.at("bt_here(2)")), Addresses(all.begin(), all.begin() + 2));
}

TEST_P(Backtraces, name_module_and_function_where_they_are_known) {
  const Traced traced = run({"-w", "64", "-e", "bt_*"});
  const auto shown = frames_of(traced.text);
  ASSERT_TRUE(shown.contains("bt_here(3)") && shown.contains("bt_here(6)")) << traced.text;
  const auto& sorted = shown.at("bt_here(3)"); // compare, from qsort, from main
  const std::string program = "backtrace-" + build();
  EXPECT_EQ(sorted.front().module, program);
  const bool through_libc = std::any_of(sorted.begin(), sorted.end(), [](const ShownFrame& frame) {
    return frame.module == "libc.so.6" && frame.function == "qsort_r";
  });
  EXPECT_TRUE(through_libc) << traced.text;
  for (const auto& [call, frames] : shown)
    for (const auto& frame : frames)
      EXPECT_FALSE(frame.module.empty()) << call << "\n" << traced.text;

  std::vector<std::string> functions;
  for (const auto& frame : shown.at("bt_here(6)"))
    if (frame.module == program) functions.push_back(frame.function);
  if (build() == "stripped") {
    EXPECT_EQ(std::count(functions.begin(), functions.end(), ""),
              static_cast<std::ptrdiff_t>(functions.size()))
        << traced.text;
  } else {
    EXPECT_EQ(functions, (std::vector<std::string>{"on_fault", "faults_at_once", "main", "_start"}))
        << traced.text;
  }
}

INSTANTIATE_TEST_SUITE_P(E2e, Backtraces,
                         testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(kBuilds)),
                         [](const auto& tested) {
                           return as_test_name(std::get<0>(tested.param) + "_" +
                                               std::get<1>(tested.param));
                         });

TEST(BacktracesOfSystemCalls, begin_behind_the_instruction) {
  const Traced traced =
      trace("breakpoint", {"-S", "-L", "-w", "64"}, {tracee("backtrace-pie-lazy")});
  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.err;
  // That which writes the first line: below the library's frames are those that it tells.
  const auto told = told_by(traced.ended.out).at("bt_here(1)");
  Addresses shown;
  std::string first;
  bool inside = false;
  for (const auto& line : lines_of(traced.text)) {
    const auto frame = parse_frame(line);
    if (frame && inside) {
      if (shown.empty()) first = frame->function;
      shown.push_back(frame->address);
    } else {
      if (!shown.empty()) break;
      inside =
          line.find("write") != std::string::npos && line.find("bt_here(1)") != std::string::npos;
    }
  }
  EXPECT_EQ(first, "write");
  ASSERT_GT(shown.size(), told.size()) << traced.text.substr(0, 3000);
  EXPECT_EQ(Addresses(shown.end() - static_cast<std::ptrdiff_t>(told.size()), shown.end()), told);
}

} // namespace
} // namespace sonictrace::test
