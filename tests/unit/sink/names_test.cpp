#include <gtest/gtest.h>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

/// `NAME()` and its padding.
std::string line(std::string text) {
  text += "() ";
  if (text.size() < 49) text.resize(49, ' ');
  return text + "= 0\n";
}

TEST(Names, tell_modules_apart_from_when_there_are_two) {
  LogFixture t(whole_form());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), jemalloc = b.module("libjemalloc.so.2"),
             prog = b.module("prog");
  const auto first = b.function("int free();", {libc, prog});
  const auto never_called = b.function("int free();", {jemalloc, jemalloc});
  const auto second = b.function("int free();", {jemalloc, prog});
  const auto other = b.function("int puts();", {libc, prog});
  b.call(1, first);
  b.call(1, other);
  b.call(1, first);
  b.call(1, second);
  b.call(1, first);
  b.call(1, other);
  (void)never_called;

  EXPECT_EQ(t.finished(), line("free") + line("puts") + line("free") +
                              line("free@libjemalloc.so.2") + line("free@libc.so.6") +
                              line("puts"));
}

TEST(Names, are_bare_where_several_modules_call_one_function) {
  LogFixture t(whole_form());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), low = b.module("liblow.so"), prog = b.module("prog");
  b.call(1, b.function("int free();", {libc, prog}));
  b.call(1, b.function("int free();", {libc, low}));
  b.call(1, b.function("int free();", {kNoModule, low}));

  EXPECT_EQ(t.finished(), line("free") + line("free") + line("free"));
}

TEST(Names, follow_a_function_that_turns_out_to_be_elsewhere) {
  LogFixture t(whole_form());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), jemalloc = b.module("libjemalloc.so.2");
  const auto first = b.function("int free();", {libc});
  const auto second = b.function("int free();", {libc});
  b.call(1, first);
  b.call(1, second);
  b.rebind(second, jemalloc);
  b.call(1, second);
  b.rebind(first, jemalloc);
  b.call(1, first);

  EXPECT_EQ(t.finished(),
            line("free") + line("free") + line("free@libjemalloc.so.2") + line("free"));
}

TEST(Names, of_functions_that_were_taken_for_others_show_nothing_of_their_calls) {
  LogFixture t(whole_form());
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), mine = b.module("libmine.so");
  const auto f = b.function("int f(int, int);", {libc});
  b.enter(1, f, {11, 12});
  b.rebind(f, mine, true);
  b.leave(1, 13);
  b.call(1, f, {21, 22});

  const std::string log = t.finished();
  EXPECT_EQ(log, "f(...)                                           = ?\n"
                 "f(...)                                           = ?\n");
}

TEST(Names, are_not_told_apart_in_ltraces_form) {
  TextOptions options = whole_form();
  options.ltrace = true;
  LogFixture t(options);
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), jemalloc = b.module("libjemalloc.so.2");
  b.call(1, b.function("int free();", {libc}));
  b.call(1, b.function("int free();", {jemalloc}));

  EXPECT_EQ(t.finished(), line("free") + line("free"));
}

TEST(Names, say_their_module_at_the_end_for_each_function_called) {
  TextOptions options = whole_form();
  options.closing_lines = true;
  LogFixture t(options, true);
  auto& b = t.build;
  const auto libc = b.module("libc.so.6"), jemalloc = b.module("libjemalloc.so.2");
  const auto free_of_libc = b.function("int free();", {libc, libc});
  const auto free_again = b.function("int free();", {libc, jemalloc});
  const auto free_of_jemalloc = b.function("int free();", {jemalloc});
  const auto never_called = b.function("int puts();", {libc});
  const auto nowhere = b.function("int local();");
  b.call(1, free_of_libc);
  b.call(1, free_again);
  b.call(1, free_of_jemalloc);
  b.call(1, nowhere);
  (void)never_called;

  const std::string log = t.finished({4, 0, 2, 14'249, "breakpoint", "", 0});

  EXPECT_EQ(log.substr(log.find("+++")), R"(+++ free is in libc.so.6 +++
+++ free is in libjemalloc.so.2 +++
+++ sonictrace: 4 calls, 3 functions, 2 modules, 0 lost calls, breakpoint engine, 14.2 us own cost a call +++
)");
}

TEST(Names, are_demangled_as_asked) {
  const struct {
    DemangleStyle style;
    const char* expected;
  } cases[] = {{DemangleStyle::None, "_ZN2at6native6conv2dEv"},
               {DemangleStyle::Short, "at::native::conv2d"},
               // as `ltrace -C`: the parameters' types in front of their values
               {DemangleStyle::Full, "at::native::conv2d()"}};
  for (const auto& [style, expected] : cases) {
    TextOptions options = whole_form();
    options.demangle = style;
    LogFixture t(options);
    t.build.call(1, t.build.function("int _ZN2at6native6conv2dEv();"));

    EXPECT_EQ(t.finished(), line(expected));
  }
}

TEST(Names, with_control_characters_cannot_break_a_line) {
  TextOptions options = whole_form();
  options.show_caller = true;
  options.closing_lines = true;
  LogFixture t(options, true);
  auto& b = t.build;
  const auto evil = b.module("lib\x1b[2J.so"), caller = b.module("a\nb");
  b.call(1, b.unknown("f\n+++ exited", {evil, caller}), {1, 2, 3, 4});
  b.call(1, b.unknown("g\x7f\x9b", {evil, kNoModule, true}), {1, 2, 3, 4});
  b.remark("x\r\ny");

  const std::string log = t.finished({0, 0, 0, 0, "a\tb", "c\nd", 0});

  for (const char c : log)
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 6);
  EXPECT_EQ(log.substr(0, log.find('(')), "a\\012b->f\\012+++ exited");
}

TEST(Names, of_functions_that_were_never_defined_are_a_question_mark) {
  LogFixture t(whole_form());
  RecordBuffer buffer;
  for (const std::uint32_t function : {0u, 5u, 0xffffffffu}) {
    buffer.enter(1, function, function + 1ull, 1, 1, 1, 0);
    buffer.commit(0);
    buffer.leave(1, function, function + 1ull, 1, 2, 1, 0);
    buffer.commit(0);
  }

  t.sink.write(buffer.batch());

  const std::string expected = "?(?, ?, ?, ?)                                    = ?\n";
  EXPECT_EQ(t.finished(), expected + expected + expected);
}

} // namespace
} // namespace sonictrace
