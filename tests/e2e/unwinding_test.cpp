// Calls that nest deeply, end without returning, or are open on several stacks.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Unwinding : public TracedProgram {
protected:
  void expect_printed_calls_of(const std::vector<std::string>& argv, std::size_t at_least) {
    const Traced run = traced({"--split-lines", "-e", "tr_*"}, argv);

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_TRUE(run.log.strange.empty()) << run.log.strange.front();
    const auto expected = printed_calls(run.ended.out);
    EXPECT_GE(expected.size(), at_least);
    expect_calls(run.log.calls, expected);
  }
};

TEST_P(Unwinding, of_ten_thousand_levels_pairs_each_call) {
  expect_printed_calls_of({program("recursion"), "10000"}, 20002);
}
TEST_P(Unwinding, by_longjmp_ends_the_calls_it_passes) {
  expect_printed_calls_of({program("long_jump"), "1000"}, 3000);
}
TEST_P(Unwinding, by_exceptions_ends_the_calls_up_to_the_catch) {
  expect_printed_calls_of({program("exceptions"), "500"}, 2500);
}
// Whole lines: of split ones, it is not told which of several open calls has returned.
TEST_P(Unwinding, leaves_calls_on_other_stacks_alone) {
  for (const std::string stacks : {"neighbouring", "mapped"}) {
    SCOPED_TRACE(stacks);
    const Traced run = traced({"-e", "tr_*"}, {program("coroutines"), stacks});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_EQ(run.log.calls.size(), 400u);
    expect_calls_in_any_order(run.log.calls, printed_calls(run.ended.out));
  }
}
TEST_P(Unwinding, leaves_calls_below_an_alternate_stack_alone) {
  expect_printed_calls_of({program("alternate_stack")}, 600);
}

TEST_P(Unwinding, gives_whole_lines_the_same_calls) {
  const Traced run = traced({"-e", "tr_*"}, {program("long_jump"), "100"});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  expect_calls_in_any_order(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Unwinding, gives_unwound_calls_their_time) {
  const Traced run = traced({"-T", "-e", "tr_callback"}, {program("exceptions"), "20"});

  const auto calls = run.log.of("tr_callback");
  ASSERT_EQ(calls.size(), 80u);
  for (const auto& call : calls)
    EXPECT_FALSE(call.spent.empty());
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Unwinding);

} // namespace
} // namespace sonictrace::test
