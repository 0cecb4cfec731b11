// The log reader that the other tests compare by, on lines as tracers write them.
#include <gtest/gtest-spi.h>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

using End = LoggedCall::End;

TEST(LogReading, takes_a_whole_line_apart) {
  const Log log =
      parse_log("14:23:05.123456/4712 prog->tr_add@libtracee.so(1, 0x7f, \"a, b\") = 3 <0.000010>\n"
                "[pid 12] tr_nothing()                            = 0\n"
                "12 [0x401184] tr_one(5)   = 7\n"
                "  0.000343 tr_two(5)   = \"x\"\n");

  ASSERT_EQ(log.calls.size(), 4u);
  EXPECT_EQ(log.calls[0], (LoggedCall{"4712",
                                      "14:23:05.123456",
                                      "prog",
                                      "tr_add",
                                      "libtracee.so",
                                      {"1", "0x7f", "\"a, b\""},
                                      "3",
                                      "0.000010",
                                      End::Returned}));
  EXPECT_EQ(log.calls[1], (LoggedCall{"12", "", "", "tr_nothing", "", {}, "0", "", End::Returned}));
  EXPECT_EQ(log.calls[2].name, "tr_one");
  EXPECT_EQ(log.calls[2].thread, "12");
  EXPECT_EQ(log.calls[3].time, "0.000343");
  EXPECT_TRUE(log.strange.empty());
}

TEST(LogReading, joins_the_halves_of_split_lines_in_each_thread) {
  const Log log = parse_log("[pid 1] outer(1, 2 <unfinished ...>\n"
                            "[pid 2] outer(3 <unfinished ...>\n"
                            "[pid 1]   inner(4) = 5\n"
                            "[pid 1] <... outer resumed> ) = 6 <0.000100>\n"
                            "[pid 2] <... outer resumed> ) = 7\n"
                            "[pid 2] exit(77 <no return ...>\n"
                            "[pid 2] +++ exited (status 77) +++\n"
                            "[pid 1] left(1) = <unwound> <0.000100>\n"
                            "<... never resumed> ) = 1\n"
                            "what is this\n");

  ASSERT_EQ(log.calls.size(), 5u);
  EXPECT_EQ(to_expectation(log.calls[0], 9), "outer(1, 2) = 6");
  EXPECT_EQ(log.calls[0].spent, "0.000100");
  EXPECT_EQ(to_expectation(log.calls[1], 9), "outer(3) = 7");
  EXPECT_EQ(to_expectation(log.calls[2], 9), "inner(4) = 5");
  EXPECT_EQ(log.calls[3].end, End::NoReturn);
  EXPECT_EQ(log.calls[4].end, End::Unwound);
  EXPECT_EQ(log.events, std::vector<std::string>{"+++ exited (status 77) +++"});
  EXPECT_EQ(log.strange, (std::vector<std::string>{"<... never resumed> ) = 1", "what is this"}));
}

TEST(LogReading, finds_the_arguments_of_cxx_names) {
  const Log log = parse_log("std::function<int (char)>::operator()(1) = 2\n"
                            "shapes::operator<<(1) = 2\n"
                            "shapes::operator+(1) = 2\n"
                            "a::b<c, d>::e(1) = 2\n");

  ASSERT_EQ(log.calls.size(), 4u);
  EXPECT_EQ(log.calls[0].name, "std::function<int (char)>::operator()");
  EXPECT_EQ(log.calls[1].name, "shapes::operator<<");
  EXPECT_EQ(log.calls[2].name, "shapes::operator+");
  EXPECT_EQ(log.calls[3].name, "a::b<c, d>::e");
  for (const auto& call : log.calls)
    EXPECT_EQ(call.arguments, std::vector<std::string>{"1"});
}

const std::vector<LoggedCall>& two_calls() {
  static const auto calls = parse_log("f(1, 2, 3, 4) = 0xffffffff\nf(2, 3, 4, 5) = 7\n").calls;
  return calls;
}

TEST(ExpectCalls, fails_for_a_missing_a_surplus_and_a_different_call) {
  expect_calls(two_calls(), {"f(1) = -1", "f(2, 3) = 7"});
  EXPECT_FATAL_FAILURE(expect_calls(two_calls(), {"f(1) = -1"}), "");
  EXPECT_FATAL_FAILURE(expect_calls(two_calls(), {"f(1) = -1", "f(2) = 7", "f(3) = 7"}), "");
  EXPECT_FATAL_FAILURE(expect_calls(two_calls(), {"f(1) = -1", "f(2) = 8"}), "call 1");
  EXPECT_FATAL_FAILURE(expect_calls(two_calls(), {"f(1) = -1", "g(2) = 7"}), "call 1");
  EXPECT_FATAL_FAILURE(expect_calls({}, {}), "nothing to compare");
}

} // namespace
} // namespace sonictrace::test
