// Which calls a filter takes, on a program with three libraries that prints what calls what.
#include <functional>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

struct Call {
  std::string caller, name, implementer;
};

using Selection = std::function<bool(const Call&)>;

struct Row {
  std::vector<std::string> options;
  Selection selects;
};

void PrintTo(const Row& row, std::ostream* out) {
  for (const auto& option : row.options)
    *out << option << " ";
}

Selection all() {
  return [](const Call&) { return true; };
}
Selection none() {
  return [](const Call&) { return false; };
}
Selection named(const std::string& regex) {
  return [regex](const Call& call) { return std::regex_match(call.name, std::regex(regex)); };
}
Selection in(const std::string& module) {
  return [module](const Call& call) { return call.implementer == module; };
}
Selection by(const std::string& caller) {
  return [caller](const Call& call) { return call.caller == caller; };
}
Selection operator&&(Selection a, Selection b) {
  return [=](const Call& call) { return a(call) && b(call); };
}
Selection operator||(Selection a, Selection b) {
  return [=](const Call& call) { return a(call) || b(call); };
}
Selection operator!(Selection a) {
  return [=](const Call& call) { return !a(call); };
}

std::vector<Row> rows() {
  return {
      {{}, by("MAIN")},
      {{"-e", "one_a"}, named("one_a")},
      {{"-e", "one_a@libone.so"}, named("one_a")},
      {{"-e", "one_a@libtwo.so"}, none()},
      {{"-e", "*@libone.so"}, in("libone.so")},
      {{"-e", "@libone*"}, in("libone.so")},
      {{"-e", "*@libtwo.so"}, in("libtwo.so")},
      {{"-e", "*@*/libthree.so"}, in("libthree.so")},
      {{"-e", "*@MAIN"}, by("MAIN")},
      {{"-e", "one_*"}, named("one_.*")},
      {{"-e", "one_?"}, named("one_.")},
      {{"-e", "one_[!a]"}, named("one_b")},
      {{"-e", "/one_[ab]/"}, named("one_[ab]")},
      {{"-e", "/one/"}, none()},
      {{"-e", "one_a,two_b"}, named("one_a|two_b")},
      {{"-e", "one_a+two_b"}, named("one_a|two_b")},
      {{"-e", "one_a", "-e", "two_b"}, named("one_a|two_b")},
      {{"-e", "one_*-one_b"}, named("one_a")},
      {{"-e", "*@libone.so-one_b"}, none()}, // the name of a library, as libstdc++.so.6 is
      {{"-e", "*@libone.so,-one_b"}, in("libone.so") && !named("one_b")},
      {{"-e", "-one_a"}, !named("one_a")},
      {{"-e", "*-@libone.so"}, !in("libone.so")},
      {{"-e", "MAIN->one_a"}, by("MAIN") && named("one_a")},
      {{"-e", "libtwo.so->*@libone.so"}, by("libtwo.so") && in("libone.so")},
      {{"-e", "libtwo.so->*"}, by("libtwo.so")},
      {{"-e", "shapes::*"}, named("shapes::.*")},
      {{"-e", "shapes::Circle::*"}, named("shapes::Circle::.*")},
      {{"-e", "shapes::Circle::area"}, named("shapes::Circle::area")},
      {{"-e", "shapes::operator+"}, named("shapes::operator\\+")},
      {{"-e", "_ZNK6shapes6Circle4areaEv"}, named("shapes::Circle::area")},
      {{"-e", "_ZN6shapes*"}, named("shapes::(Circle::Circle|total|largest<int>|operator\\+)")},
      {{"-e", "shapes::largest<int>"}, named("shapes::largest<int>")},
      {{"-l", "libone.so"}, in("libone.so")},
      {{"-l", "libone*"}, in("libone.so")},
      {{"-l", "libone.so", "-l", "libtwo.so"}, in("libone.so") || in("libtwo.so")},
      {{"-e", "shapes::total", "-l", "libtwo.so"}, named("shapes::total") || in("libtwo.so")},
      {{"-L"}, none()},
      {{"-L", "-x", "one_a@libone.so"}, named("one_a")},
      {{"-L", "-x", "two_*"}, named("two_.*")},
      {{"-L", "-x", "*@libone.so"}, in("libone.so")},
      {{"-L", "-x", "shapes::Circle::area"}, named("shapes::Circle::area")},
      // As ltrace: the library is the caller's, names are mangled, no commas, + means all.
      {{"--ltrace", "-e", "one_a@libtwo.so"}, by("libtwo.so") && named("one_a")},
      {{"--ltrace", "-e", "@MAIN"}, by("MAIN")},
      {{"--ltrace", "-e", "one_a,two_b"}, none()},
      {{"--ltrace", "-e", "+one_a"}, all()},
      {{"--ltrace", "-l", "libone.so"}, in("libone.so")},
      {{"--ltrace"}, by("MAIN")},
  };
}

/// What the program calls, by its own account.
std::vector<Call> account(const std::string& out) {
  std::vector<Call> calls;
  for (const auto& line : lines_of(out)) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex(R"((\S+) (.+) (lib\S+))")))
      calls.push_back({match[1], match[2], match[3]});
  }
  return calls;
}

class Selectors : public testing::TestWithParam<std::tuple<std::string, Row>> {};

TEST_P(Selectors, take_the_calls_that_they_describe) {
  const auto& [engine, row] = GetParam();
  const bool is_ltrace = !row.options.empty() && row.options[0] == "--ltrace";

  const Traced run =
      trace(engine,
            std::vector<std::string>{"--split-lines"} + row.options +
                (is_ltrace ? std::vector<std::string>{"-C"} : std::vector<std::string>{}),
            {tracee("selected-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  const auto calls = account(run.ended.out);
  ASSERT_EQ(calls.size(), 17u);
  std::vector<std::string> expected, logged;
  for (const auto& call : calls)
    if (row.selects(call)) expected.push_back(call.name);
  // Calls into the C and C++ libraries are not in the account.
  for (const auto& logged_call : run.log.calls) {
    std::string name = logged_call.name.substr(0, logged_call.name.find('('));
    name.erase(0, name.find(' ') + 1); // of -C: a template's result type
    if (std::any_of(calls.begin(), calls.end(),
                    [&](const Call& call) { return call.name == name; }))
      logged.push_back(name);
  }
  EXPECT_EQ(logged, expected);
}

INSTANTIATE_TEST_SUITE_P(E2e, Selectors,
                         testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(rows())),
                         [](const auto& tested) {
                           std::string name =
                               std::get<0>(tested.param) + "_" + std::to_string(tested.index);
                           for (const auto& option : std::get<1>(tested.param).options)
                             name += "_" + option;
                           return as_test_name(name);
                         });

class SelectorsAtTheEnd : public WithEngine {};

TEST_P(SelectorsAtTheEnd, that_matched_nothing_are_told) {
  const Traced run = traced({"-e", "one_a,nothing_like_it*"}, {tracee("selected-pie-lazy")});

  EXPECT_TRUE(run.ended.exited_with(0));
  EXPECT_NE(run.ended.err.find("nothing_like_it*"), std::string::npos) << run.ended.err;
  EXPECT_EQ(run.ended.err.find("one_a"), std::string::npos) << run.ended.err;
}

TEST_P(SelectorsAtTheEnd, that_run_into_a_librarys_name_are_answered_with_a_comma) {
  const Traced run = traced({"-e", "*@libone.so-one_b"}, {tracee("selected-pie-lazy")});

  EXPECT_TRUE(run.ended.exited_with(0));
  EXPECT_NE(run.ended.err.find("libone.so-one_b"), std::string::npos) << run.ended.err;
  EXPECT_NE(run.ended.err.find("comma"), std::string::npos) << run.ended.err;
}

TEST_P(SelectorsAtTheEnd, show_callers_where_they_select_by_them) {
  const Traced by_caller = traced({"-e", "libtwo.so->one_a"}, {tracee("selected-pie-lazy")});
  const Traced asked = traced({"--caller", "-e", "one_a"}, {tracee("selected-pie-lazy")});
  const Traced usual = traced({"-e", "one_a"}, {tracee("selected-pie-lazy")});

  ASSERT_EQ(by_caller.log.calls.size(), 2u);
  for (const auto& call : by_caller.log.calls)
    EXPECT_EQ(call.caller, "libtwo.so");
  ASSERT_EQ(asked.log.calls.size(), 3u);
  EXPECT_EQ(asked.log.calls[0].caller, "selected-pie-lazy");
  EXPECT_EQ(asked.log.calls[1].caller, "libtwo.so");
  for (const auto& call : usual.log.calls)
    EXPECT_EQ(call.caller, "");
}

TEST_P(SelectorsAtTheEnd, explain_what_they_would_trace_and_start_nothing) {
  Command how;
  how.argv = {SONICTRACE, "--engine=" + engine(),     "--explain", "-e",
              "one_*",    tracee("selected-pie-lazy")};
  const Ended ended = run_program(how);

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  EXPECT_EQ(ended.out.find("MAIN one_a libone.so"), std::string::npos) << "it ran";
  EXPECT_NE(ended.out.find("libtwo.so"), std::string::npos) << ended.out;
}

INSTANTIATE_OVER_ENGINES(SelectorsAtTheEnd);

} // namespace
} // namespace sonictrace::test
