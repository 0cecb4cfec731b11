#include <gtest/gtest.h>

#include <csignal>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

TEST(Backtrace, stands_behind_the_line_of_its_call) {
  LogFixture t(whole_form());
  auto& b = t.build;
  const auto puts = b.function("int puts(string);");
  b.enter(1, puts, {b.memory.text("a")});
  b.frames(1, {b.frame(0x7fe7ad105249, "libc.so.6", "qsort", 0x12),
               b.frame(0x7fe7ad200000, "libcpp.so", "_ZN1g1hEi", 0x0),
               b.frame(0x7fe7ad301234, "libstripped.so", "", 0x1234), b.frame(0x7fffdead0000)});
  b.call(1, b.function("int inner();"));
  b.leave(1, 2);
  b.call(1, puts, {b.memory.text("b")}, 2);

  EXPECT_EQ(t.finished(), R"(inner()                                          = 0
puts("a")                                        = 2
 > libc.so.6(qsort+0x12) [0x7fe7ad105249]
 > libcpp.so(g::h+0x0) [0x7fe7ad200000]
 > libstripped.so+0x1234 [0x7fe7ad301234]
 > [0x7fffdead0000]

puts("b")                                        = 2
)");
}

TEST(Backtrace, stands_behind_the_resumed_line) {
  LogFixture t(split_form());
  auto& b = t.build;
  const auto place = b.frame(0x401234, "prog", "main", 0x10);
  b.enter(1, b.function("int outer();"));
  b.frames(1, {place});
  b.enter(1, b.function("int inner();"));
  b.frames(1, {place});
  b.leave(1);
  b.leave(1);

  EXPECT_EQ(t.finished(), R"(outer( <unfinished ...>
inner()                                          = 0
 > prog(main+0x10) [0x401234]

<... outer resumed> )                            = 0
 > prog(main+0x10) [0x401234]

)");
}

TEST(Backtrace, is_told_of_a_call_that_does_not_return) {
  for (const TextOptions& options : {whole_form(), split_form()}) {
    LogFixture t(options);
    auto& b = t.build;
    b.thread(1, true);
    b.enter(1, b.function("void abort();"));
    b.frames(1, {b.frame(0x401234, "prog", "main", 0x10)});
    b.killed(1, SIGABRT);

    EXPECT_EQ(t.finished(), R"(abort( <no return ...>
 > prog(main+0x10) [0x401234]

+++ killed by SIGABRT +++
)");
  }
}

TEST(Backtrace, has_its_addresses_as_ltrace_has_them) {
  LogFixture t(ltrace_form());
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.frames(1, {b.frame(0x7fe7ad105249, "libc.so.6", "__libc_start_call_main", 0x79)});
  b.leave(1);

  EXPECT_EQ(t.finished(), R"(f()                                              = 0
 > libc.so.6(__libc_start_call_main+0x79) [7fe7ad105249]

)");
}

TEST(Backtrace, cannot_break_a_line_by_the_names_in_it) {
  LogFixture t(whole_form());
  auto& b = t.build;
  b.enter(1, b.function("int f();"));
  b.frames(1, {b.frame(0x10, "a\nb", "c\033d", 1), 77});
  b.leave(1);

  EXPECT_EQ(t.finished(), "f()                                              = 0\n"
                          " > a\\012b(c\\033d+0x1) [0x10]\n"
                          " > ?\n"
                          "\n");
}

TEST(Backtrace, of_a_call_that_is_left_out_is_left_out_too) {
  TextOptions options = whole_form();
  options.max_depth = 1;
  options.min_time_ns = 2000;
  LogFixture t(options);
  auto& b = t.build;
  const auto place = b.frame(0x401234, "prog", "main", 0x10);
  b.enter(1, b.function("int outer();"));
  b.enter(1, b.function("int inner();"));
  b.frames(1, {place});
  b.leave(1);
  b.leave(1);
  b.enter(1, b.function("int short_one();"));
  b.frames(1, {place});
  b.leave(1);

  EXPECT_EQ(t.finished(), "outer()                                          = 0\n");
}

} // namespace
} // namespace sonictrace
