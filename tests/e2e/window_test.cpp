// --start-on and --stop-on: a part of a program's run.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Window : public TracedProgram {
protected:
  static std::vector<std::string> names(const Log& log) {
    std::vector<std::string> all;
    for (const auto& call : log.calls)
      all.push_back(call.name);
    return all;
  }
};

TEST_P(Window, begins_with_the_call_itself) {
  const Traced run = traced({"-e", "tr_*", "--start-on=tr_sum7"}, {program("calls")});

  EXPECT_EQ(names(run.log), (std::vector<std::string>{"tr_sum7", "tr_compare", "tr_nothing",
                                                      "tr_double", "tr_string"}));
  expect_calls({run.log.calls.front()}, {"tr_sum7(1, 2, 3, 4) = 28"});
}

TEST_P(Window, ends_with_the_return_of_a_call) {
  const Traced run =
      traced({"-e", "tr_*", "--start-on=tr_sum7", "--stop-on=tr_double"}, {program("calls")});

  EXPECT_EQ(names(run.log),
            (std::vector<std::string>{"tr_sum7", "tr_compare", "tr_nothing", "tr_double"}));
  EXPECT_EQ(run.log.calls.back().end, LoggedCall::End::Returned);
  EXPECT_NE(run.text.find("--stop-on=tr_double reached"), std::string::npos) << run.text;
  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end();
}

TEST_P(Window, takes_calls_as_its_marks_that_are_not_in_the_log) {
  const Traced run =
      traced({"-e", "tr_compare,tr_nothing", "--start-on=tr_sum7", "--stop-on=tr_double"},
             {program("calls")});

  EXPECT_EQ(names(run.log), (std::vector<std::string>{"tr_compare", "tr_nothing"}));
}

TEST_P(Window, that_never_begins_is_empty_and_says_so) {
  const Traced run = traced({"--start-on=no_such_function"}, {program("calls")});

  EXPECT_TRUE(run.log.calls.empty());
  EXPECT_NE(run.text.find("no call was made that --start-on=no_such_function selects"),
            std::string::npos)
      << run.text;
  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end();
}

TEST_P(Window, begins_in_a_process_with_busy_threads) {
  const Traced run = traced({"-e", "tr_*", "--start-on=tr_add"}, {program("threads")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_FALSE(run.log.of("tr_add").empty());
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Window);

} // namespace
} // namespace sonictrace::test
