#include <gtest/gtest.h>

#include <csignal>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

TextOptions timed() {
  TextOptions options = whole_form();
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  return options;
}

TEST(WholeForm, writes_a_call_at_its_return_with_the_time_of_its_entry) {
  LogFixture t(timed());
  auto& b = t.build;
  b.enter(1, b.function("void qsort(addr, ulong, ulong, addr);"), {0x1000, 3, 8, 0x2000});
  b.call(1, b.function("int strcmp(string, string);"), {b.memory.text("c"), b.memory.text("a")}, 2);
  b.leave(1);

  EXPECT_EQ(t.finished(), R"(03:26:58.000001 strcmp("c", "a")                 = 2 <0.000001>
03:26:58.000000 qsort(0x1000, 3, 8, 0x2000)      = <void> <0.000003>
)");
}

TEST(WholeForm, writes_nothing_of_a_call_before_its_return) {
  LogFixture t(timed(), false, Buffering::Immediate);
  t.build.enter(1, t.build.function("int f();"));

  EXPECT_EQ(t.log(), "");
}

TEST(WholeForm, keeps_the_lines_of_threads_whole) {
  TextOptions options = whole_form();
  options.pid_prefix = true;
  options.brackets = false;
  LogFixture t(options);
  auto& b = t.build;
  const auto wait = b.function("int wait_for(int);");
  b.enter(10, wait, {1});
  b.enter(11, wait, {2});
  b.leave(10, 3);
  b.leave(11, 4);

  EXPECT_EQ(t.finished(), R"(10 wait_for(1)                                   = 3
11 wait_for(2)                                   = 4
)");
}

TEST(WholeForm, indents_by_depth) {
  TextOptions options = whole_form();
  options.indent = 2;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.enter(1, b.function("int g();"));
  b.call(1, b.function("int h();"));
  b.leave(1);
  b.leave(1);

  EXPECT_EQ(t.finished(), R"(    h()                                          = 0
  g()                                            = 0
f()                                              = 0
)");
}

TEST(WholeForm, writes_calls_still_open_at_the_end_in_the_order_they_were_entered) {
  LogFixture t(timed());
  auto& b = t.build;
  b.enter(1, b.function("int outer(int);"), {1});
  b.enter(2, b.function("uint sleep(uint);"), {60});
  b.enter(1, b.function("int inner(string);"), {b.memory.text("x")});
  b.call(1, b.function("int g();"));

  EXPECT_EQ(t.finished(), R"(03:26:58.000003 g()                              = 0 <0.000001>
03:26:58.000000 outer(1 <no return ...>
03:26:58.000001 sleep(60 <no return ...>
03:26:58.000002 inner("x" <no return ...>
)");
}

TEST(WholeForm, writes_open_calls_of_a_thread_at_its_end) {
  LogFixture t(whole_form());
  auto& b = t.build;
  b.thread(1, true);
  b.thread_of(1, 2);
  b.enter(1, b.function("int join(int);"), {2});
  b.enter(2, b.function("void pthread_exit(addr);"), {0});
  b.exited(2);
  b.leave(1, 0);
  b.enter(1, b.function("void exit(int);"), {77});
  b.exited(1, 77);

  EXPECT_EQ(t.finished(), R"(pthread_exit(nil <no return ...>
+++ exited (status 0) +++
join(2)                                          = 0
exit(77 <no return ...>
+++ exited (status 77) +++
)");
}

TEST(WholeForm, writes_open_calls_of_all_threads_of_a_process_at_exec) {
  TextOptions options = whole_form();
  options.pid_prefix = true;
  LogFixture t(options);
  auto& b = t.build;
  b.thread_of(10, 10, true);
  b.thread_of(10, 11);
  b.thread_of(20, 20);
  b.enter(20, b.function("int other_process();"));
  b.enter(11, b.function("uint sleep(uint);"), {9});
  b.enter(10, b.function("int execl(path);"), {b.memory.text("/bin/true")});
  b.exec(10);
  b.call(10, b.function("int puts(string);"), {b.memory.text("second")}, 7);
  b.leave(20, 1);

  EXPECT_EQ(t.finished(), R"([pid 11] sleep(9 <no return ...>
[pid 10] execl("/bin/true" <no return ...>
[pid 10] --- Called exec() ---
[pid 10] puts("second")                          = 7
[pid 20] other_process()                         = 1
)");
}

TEST(WholeForm, writes_the_return_of_a_forked_child_with_what_the_parent_captured) {
  TextOptions options = timed();
  options.pid_prefix = true;
  options.instruction_pointer = true;
  LogFixture t(options);
  auto& b = t.build;
  b.thread(10, true);
  b.enter(10, b.function("int clone_me(string);"), {b.memory.text("arg")});
  b.fork(10, 11);
  b.leave(10, 11);
  b.leave(11, 0);
  b.exited(11);

  EXPECT_EQ(t.finished(),
            R"([pid 10] 03:26:58.000000 [0x401184] clone_me("arg") = 11 <0.000001>
[pid 11] 03:26:58.000000 [0x401184] clone_me("arg") = 0 <0.000002>
[pid 11] 03:26:58.000003 [0xffffffffffffffff] +++ exited (status 0) +++
)");
}

TEST(WholeForm, does_not_write_a_call_again_for_a_child_that_never_returns_from_it) {
  TextOptions options = whole_form();
  options.pid_prefix = true;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(10, b.function("int system(string);"), {b.memory.text("exit 3")});
  b.fork(10, 11);
  b.exec(11);
  b.exited(11, 3);
  b.leave(10, 768);

  EXPECT_EQ(t.finished(), R"([pid 11] --- Called exec() ---
[pid 11] +++ exited (status 3) +++
[pid 10] system("exit 3")                        = 768
)");
}

TEST(WholeForm, writes_the_return_of_an_inherited_call_that_is_not_known_as_resumed) {
  LogFixture t(whole_form());
  const auto f = t.build.function("int fork();");
  t.sink.define(InheritedCall{11, f, 900, 1, 899});
  t.build.leave_as(11, f, 900, 1, 0, 10);

  EXPECT_EQ(t.finished(), "<... fork resumed> )                             = 0\n");
}

TEST(WholeForm, shows_calls_left_by_an_exception) {
  LogFixture t(timed());
  auto& b = t.build;
  b.enter(1, b.function("int f(int);"), {1});
  b.enter(1, b.function("void __cxa_throw(addr);"), {0x1000});
  b.unwind(1);
  b.unwind(1);

  EXPECT_EQ(t.finished(), R"(03:26:58.000001 __cxa_throw(0x1000)              = <unwound> <0.000001>
03:26:58.000000 f(1)                             = <unwound> <0.000003>
)");
}

TEST(WholeForm, puts_a_signal_before_the_line_of_the_call_that_it_interrupted) {
  LogFixture t(whole_form());
  auto& b = t.build;
  b.enter(1, b.function("int pause();"));
  b.signal(1, SIGALRM);
  b.leave(1, static_cast<std::uint64_t>(-1));

  EXPECT_EQ(t.finished(), R"(--- SIGALRM (Alarm clock) ---
pause()                                          = -1
)");
}

TEST(WholeForm, leaves_out_short_and_deep_calls_and_counts_them) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  options.min_time_ns = 10'000;
  options.max_depth = 2;
  LogFixture t(options);
  auto& b = t.build;
  const auto f = b.function("int f();"), g = b.function("int g();");
  const auto always_short = b.function("int s();"), always_deep = b.function("int d();");
  b.enter(1, f);
  b.call(1, g);
  b.call(1, always_short);
  b.enter(1, g);
  b.call(1, always_deep);
  b.now_ns += 10'000;
  b.leave(1);
  b.leave(1);

  EXPECT_EQ(t.finished({5, 0, 1, 0, "breakpoint", "", 0}),
            R"(g()                                              = 0
f()                                              = 0
+++ sonictrace: 5 calls, 4 functions, 1 module, 0 lost calls, 2 calls shorter than 10us not written, 1 call deeper than 2 not written, breakpoint engine +++
)");
}

} // namespace
} // namespace sonictrace
