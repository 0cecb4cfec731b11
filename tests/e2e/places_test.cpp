// Functions that no symbol names: called after their places, libfoo.so+0x1234.
#include <set>

#include "counted.hpp"
#include "trace.hpp"

namespace sonictrace::test {
namespace {

/// What the library has said of its own calls.
std::vector<std::string> said_calls(const std::string& out) {
  std::vector<std::string> calls = lines_of(out);
  std::erase_if(calls,
                [](const std::string& line) { return !line.starts_with("libnameless.so+"); });
  return calls;
}

class Nameless : public WithEngine {
protected:
  static Traced run(const std::string& filter) {
    return traced({"-L", "-x", filter}, {tracee("nameless")});
  }
};

TEST_P(Nameless, functions_are_logged_by_their_places) {
  const Traced traced = run("libnameless.so+0x*");

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  std::vector<LoggedCall> logged = traced.log.calls;
  const auto expected = said_calls(traced.ended.out);
  ASSERT_GT(expected.size(), 15u);
  // Those that say nothing: `say` itself, and what is seldom called.
  std::set<std::string> names;
  for (const std::string& line : expected)
    names.insert(line.substr(0, line.find('(')));
  EXPECT_EQ(names.size(), 3u);
  std::erase_if(logged, [&](const LoggedCall& call) { return !names.contains(call.name); });
  EXPECT_LT(logged.size(), traced.log.calls.size());
  expect_calls_in_any_order(logged, expected);
}

TEST_P(Nameless, functions_are_selected_by_their_places) {
  const Traced all = run("libnameless.so+0x*");
  const auto printed = said_calls(all.ended.out);
  ASSERT_FALSE(printed.empty());
  const std::string place = printed.front().substr(0, printed.front().find('('));

  const Traced traced = run("*@libnameless.so,-nameless_run," + place);

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  auto expected = said_calls(traced.ended.out);
  std::erase_if(expected, [&](const std::string& line) { return !line.starts_with(place + "("); });
  expect_calls_in_any_order(traced.log.calls, expected);
  EXPECT_TRUE(traced.log.has_event(R"(\+\+\+ )" +
                                   std::regex_replace(place, std::regex("[+.]"), "\\$&") +
                                   R"( is in libnameless\.so \+\+\+)"))
      << traced.text;
}

TEST_P(Nameless, functions_are_not_selected_by_what_does_not_say_so) {
  const Traced traced = run("*@libnameless.so");

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  ASSERT_EQ(traced.log.calls.size(), 1u);
  EXPECT_EQ(traced.log.calls[0].name, "nameless_run");
}

TEST_P(Nameless, functions_that_do_not_begin_there_are_told) {
  const Traced traced = run("libnameless.so+0x1");

  EXPECT_TRUE(traced.ended.exited_with(0)) << traced.ended.end();
  EXPECT_NE(traced.ended.err.find("-x 'libnameless.so+0x1': matched no function"),
            std::string::npos)
      << traced.ended.err;
}

TEST_P(Nameless, functions_are_the_same_in_backtraces) {
  const Traced traced =
      Nameless::traced({"-L", "-x", "libnameless.so+0x*", "-w", "3"}, {tracee("nameless")});

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  EXPECT_TRUE(
      std::regex_search(traced.text, std::regex(R"(\n > libnameless\.so\+0x[0-9a-f]+ \[0x)")))
      << traced.text;
}

TEST_P(Nameless, local_functions_of_a_stripped_library_have_the_names_of_its_gnu_debugdata) {
  const std::string program = tracee("mini-debug/nameless");
  SKIP_WITHOUT(exists(program), "objcopy or xz");
  const Traced plain = run("libnameless.so+0x*");
  const Traced traced = Nameless::traced(
      {"-L", "-x", "add@libnameless.so,mostly@libnameless.so,recursive@libnameless.so", "-w", "3"},
      {program});

  ASSERT_TRUE(traced.ended.exited_with(0)) << traced.ended.end() << traced.ended.err;
  EXPECT_EQ(traced.log.of("mostly").size(), 3u) << traced.text;
  EXPECT_EQ(traced.log.of("recursive").size(), 9u);
  EXPECT_EQ(traced.log.calls.size(), said_calls(plain.ended.out).size());
  EXPECT_TRUE(std::regex_search(traced.text,
                                std::regex(R"(\n > libnameless\.so\(mostly\+0x[0-9a-f]+\) \[0x)")))
      << traced.text;
}

INSTANTIATE_OVER_ENGINES(Nameless);

} // namespace
} // namespace sonictrace::test
