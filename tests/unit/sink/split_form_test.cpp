#include <gtest/gtest.h>

#include <csignal>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

TEST(SplitForm, ends_a_line_with_the_reason_for_its_end) {
  LogFixture t(split_form());
  auto& b = t.build;
  const auto f = b.function("int f(int);"), g = b.function("int g();");
  b.enter(1, f, {1});
  b.call(1, g);
  b.leave(1, 2);
  b.enter(1, f, {3});
  b.signal(1, SIGALRM);
  b.leave(1, 4);
  b.enter(1, f, {5});
  b.remark("stopped after 10s");
  b.enter(1, f, {6});

  EXPECT_EQ(t.finished(), R"(f(1 <unfinished ...>
g()                                              = 0
<... f resumed> )                                = 2
f(3 <unfinished ...>
--- SIGALRM (Alarm clock) ---
<... f resumed> )                                = 4
f(5 <unfinished ...>
+++ stopped after 10s +++
f(6 <no return ...>
)");
}

TEST(SplitForm, interleaves_threads_by_ending_the_line_of_another_one) {
  TextOptions options = split_form();
  options.pid_prefix = true;
  LogFixture t(options);
  auto& b = t.build;
  const auto wait = b.function("int wait_for(int);");
  b.enter(10, wait, {1});
  b.enter(11, wait, {2});
  b.leave(11, 0);
  b.enter(11, wait, {3});
  b.leave(10, 0);
  b.leave(11, 0);

  EXPECT_EQ(t.finished(), R"([pid 10] wait_for(1 <unfinished ...>
[pid 11] wait_for(2)                             = 0
[pid 11] wait_for(3 <unfinished ...>
[pid 10] <... wait_for resumed> )                = 0
[pid 11] <... wait_for resumed> )                = 0
)");
}

TEST(SplitForm, shows_calls_left_by_an_exception_with_their_time) {
  TextOptions options = split_form();
  options.durations = true;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(1, b.function("int f(int);"), {1});
  b.enter(1, b.function("void throws();"));
  b.unwind(1);
  b.unwind(1);
  b.call(1, b.function("int g();"));

  EXPECT_EQ(t.finished(), R"(f(1 <unfinished ...>
throws()                                         = <unwound> <0.000001>
<... f resumed> )                                = <unwound> <0.000003>
g()                                              = 0 <0.000001>
)");
}

TEST(SplitForm, ends_calls_of_a_tail_call_together) {
  LogFixture t(split_form());
  auto& b = t.build;
  b.enter(1, b.function("int outer();"));
  b.enter(1, b.function("int inner();"));
  b.leave(1, 7);
  b.leave(1, 7);

  EXPECT_EQ(t.finished(), R"(outer( <unfinished ...>
inner()                                          = 7
<... outer resumed> )                            = 7
)");
}

TEST(SplitForm, ends_a_call_that_is_not_the_innermost_one) { // swapcontext
  LogFixture t(split_form());
  auto& b = t.build;
  const auto a = b.function("int a();"), c = b.function("int c();");
  b.enter_as(1, a, 100, 1, {});
  b.enter_as(1, c, 101, 2, {});
  b.leave_as(1, a, 100, 1, 1, 10);
  b.leave_as(1, c, 101, 1, 2, 10);

  EXPECT_EQ(t.finished(), R"(a( <unfinished ...>
c( <unfinished ...>
<... a resumed> )                                = 1
<... c resumed> )                                = 2
)");
}

TEST(SplitForm, shows_an_open_call_at_once_where_somebody_looks_on) {
  LogFixture t(split_form(), false, Buffering::Immediate);
  auto& b = t.build;
  b.enter(1, b.function("uint sleep(uint);"), {10});

  EXPECT_EQ(t.visible(), "sleep(10");

  b.leave(1, 0);
  EXPECT_EQ(t.visible(), "sleep(10)                                        = 0\n");
}

TEST(SplitForm, becomes_whole_where_short_calls_are_left_out) {
  TextOptions options = split_form();
  options.min_time_ns = 10'000;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.call(1, b.function("int g();"));
  b.now_ns += 20'000;
  b.leave(1, 0);

  EXPECT_EQ(t.finished(), "f()                                              = 0\n");
}

TEST(SplitForm, leaves_out_both_halves_of_a_call_that_is_too_deep) {
  TextOptions options = split_form();
  options.max_depth = 1;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.call(1, b.function("int g();"));
  b.leave(1, 0);

  EXPECT_EQ(t.finished(), "f()                                              = 0\n");
}

TEST(SplitForm, leaves_signals_out_when_told_so) {
  TextOptions options = split_form();
  options.signals = false;
  LogFixture t(options);
  t.build.enter(1, t.build.function("int f();"));
  t.build.signal(1, SIGCHLD);
  t.build.leave(1);

  EXPECT_EQ(t.finished(), "f()                                              = 0\n");
}

TEST(SplitForm, names_signals) {
  LogFixture t(split_form());
  t.build.signal(1, SIGIO);
  t.build.signal(1, SIGRTMIN + 6);
  t.build.signal(1, SIGRTMIN);
  t.build.killed(1, SIGKILL);

  EXPECT_EQ(t.finished(), R"(--- SIGIO (I/O possible) ---
--- SIGRTMIN+6 (Real-time signal 6) ---
--- SIGRTMIN (Real-time signal 0) ---
+++ killed by SIGKILL +++
)");
}

TEST(SplitForm, shows_the_return_of_a_call_whose_beginning_it_did_not_see) {
  LogFixture t(split_form());
  const auto f = t.build.function("int f(int);");
  t.build.leave_as(1, f, 99, 1, 5, 10);

  EXPECT_EQ(t.finished(), "<... f resumed> )                                = 5\n");
}

} // namespace
} // namespace sonictrace
