// -w: the stack on which a call was made, against what the callee sees itself by backtrace(3).
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

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

class BacktracesOfSystemCalls : public WithEngine {};

TEST_P(BacktracesOfSystemCalls, begin_behind_the_instruction) {
  const Traced traced = this->traced({"-S", "-w", "64"}, {tracee("backtrace-pie-lazy")});
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

INSTANTIATE_OVER_ENGINES(BacktracesOfSystemCalls);

// ---- both engines say the same ----------------------------------------------------------------

/// A call of a log with its frames, without addresses, which differ from run to run.
struct ShownCall {
  std::string line; ///< without arguments and results: there are no prototypes
  std::vector<std::string> frames;
  bool begins_at_first_frame = false; ///< -i shows the same address

  bool operator==(const ShownCall&) const = default;
};

void PrintTo(const ShownCall& call, std::ostream* out) {
  *out << call.line;
  for (const auto& frame : call.frames)
    *out << "\n  " << frame;
}

/// By `NAME(N`. The frames stand behind the line that tells the call's end.
std::map<std::string, ShownCall> shown_calls(const std::string& log) {
  static const std::regex call(R"((?:\d+ )?\[(0x[0-9a-f]+)\] ( *)(sk_\w+|qsort)\((\w+).*)");
  std::map<std::string, ShownCall> all;
  ShownCall* current = nullptr;
  std::string instruction;
  for (const auto& line : lines_of(log)) {
    std::smatch parts;
    if (const auto frame = parse_frame(line)) {
      if (current == nullptr) continue;
      if (current->frames.empty())
        current->begins_at_first_frame = std::stoull(instruction, nullptr, 16) == frame->address;
      current->frames.push_back(line.substr(0, line.rfind('[')));
    } else if (std::regex_match(line, parts, call)) {
      instruction = parts[1];
      current = &all[parts[3].str() + "(" + (parts[3] == "qsort" ? "" : parts[4].str())];
      const bool unwound = line.find("<unwound>") != std::string::npos;
      current->line = parts[2].str() + parts[3].str() + (unwound ? " unwound" : "");
    } else {
      current = nullptr;
    }
  }
  return all;
}

class BothEngines : public testing::TestWithParam<std::string> {
protected:
  static std::map<std::string, ShownCall> run(const std::string& engine,
                                              const std::string& frames) {
    const Traced traced = trace(engine, {"-i", "-n", "2", "-w", frames, "-e", "sk_*+qsort"},
                                {tracee("stacks-" + GetParam()), tracee("libstacks_plug.so")});
    EXPECT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
    return shown_calls(traced.text);
  }
};

TEST_P(BothEngines, show_the_same_frames_instruction_and_indentation) {
  const auto expected = run("breakpoint", "8");
  const auto inside = run("inline", "8");

  EXPECT_GT(expected.size(), 40u);
  for (const auto& [name, call] : expected) {
    ASSERT_TRUE(inside.contains(name)) << name;
    const ShownCall& other = inside.at(name);
    EXPECT_EQ(other.line, call.line);
    EXPECT_TRUE(other.begins_at_first_frame) << name;
    // wide(910, ...) has more on its stack than is copied.
    if (name == "sk_call(910" || name == "sk_note(911")
      EXPECT_TRUE(other.frames.size() <= call.frames.size() &&
                  std::equal(other.frames.begin(), other.frames.end(), call.frames.begin()))
          << testing::PrintToString(other);
    else
      EXPECT_EQ(other, call);
  }
  EXPECT_EQ(inside.size(), expected.size());
}

TEST_P(BothEngines, agree_on_a_deep_stack_as_far_as_it_is_copied) {
  const auto expected = run("breakpoint", "200");
  const auto inside = run("inline", "200");

  const auto& all = expected.at("sk_note(800").frames;
  const auto& cut = inside.at("sk_note(800").frames;
  ASSERT_EQ(all.size(), 200u);
  EXPECT_GT(cut.size(), 100u); // 32 KB
  EXPECT_LT(cut.size(), all.size());
  EXPECT_TRUE(std::equal(cut.begin(), cut.end(), all.begin())) << testing::PrintToString(cut);
}

INSTANTIATE_TEST_SUITE_P(E2e, BothEngines,
                         testing::Values("pie-lazy", "pie-now", "nopie-lazy", "nopie-now",
                                         "frameless", "noplt"),
                         [](const auto& tested) { return as_test_name(tested.param); });

/// All frames of a log, in order, without addresses.
std::vector<std::string> shown_frames(const Traced& traced) {
  std::vector<std::string> all;
  for (const auto& line : lines_of(traced.text))
    if (parse_frame(line)) all.push_back(line.substr(0, line.rfind('[')));
  return all;
}

TEST(BacktracesOnMusl, are_the_same_with_both_engines) {
  const std::string program = tracee("musl/calls-pie");
  if (!exists(program)) GTEST_SKIP() << "there is no musl-gcc here";

  const Traced expected = trace("breakpoint", {"-w", "6"}, {program});
  const Traced inside = trace("inline", {"-w", "6"}, {program});

  EXPECT_GT(shown_frames(expected).size(), 100u);
  EXPECT_EQ(shown_frames(inside), shown_frames(expected));
  EXPECT_NE(inside.text.find("inline engine"), std::string::npos);
}

// ---- a process that was traced before -----------------------------------------------------------

/// The stacks that calls of tr_add were made on.
std::set<std::vector<std::string>> stacks_of_attach(pid_t pid, std::vector<std::string> options) {
  const TemporaryDirectory directory;
  Command command;
  command.argv =
      std::vector<std::string>{SONICTRACE, "--engine=inline", "-o", directory.path("log"), "-e",
                               "tr_add",   "--max-calls=500"} +
      std::move(options) + std::vector<std::string>{"-p", std::to_string(pid)};
  const Ended ended = run_program(command);
  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  const std::string text = read_file(directory.path("log"));
  EXPECT_NE(text.find("tr_add("), std::string::npos) << text.substr(0, 1000);
  std::set<std::vector<std::string>> stacks;
  std::vector<std::string> current;
  for (const auto& line : lines_of(text)) {
    if (parse_frame(line)) {
      current.push_back(line.substr(0, line.rfind('[')));
      continue;
    }
    if (!current.empty()) stacks.insert(std::exchange(current, {}));
  }
  return stacks;
}

TEST(BacktracesAfterAnotherSession, are_those_of_a_first_one) {
  const auto start = [] {
    Command command;
    command.argv = {tracee("service-pie-lazy"), "2"};
    return command;
  };
  RunningProgram fresh(start(), true), traced_before(start(), true);
  ASSERT_TRUE(fresh.read_until("ready"));
  ASSERT_TRUE(traced_before.read_until("ready"));

  const auto expected = stacks_of_attach(fresh.pid(), {"-w", "8"});
  EXPECT_TRUE(stacks_of_attach(traced_before.pid(), {}).empty());
  const auto again = stacks_of_attach(traced_before.pid(), {"-w", "8"});

  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(again, expected);
  for (RunningProgram* const service : {&fresh, &traced_before}) {
    service->write_line("stop");
    EXPECT_TRUE(service->wait().exited_with(0));
  }
}

} // namespace
} // namespace sonictrace::test
