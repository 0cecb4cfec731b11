#include "sonictrace/log/log_reader.hpp"

#include <gtest/gtest.h>

#include "sonictrace/log/module_map.hpp"

#include "unit/log/read_text.hpp"

namespace sonictrace::log {
namespace {

using test::read_text;

TEST(LogReader, takes_the_calls_inside_off_a_call_of_a_whole_line) {
  const auto log = read_text("00:00:00.000200 strcmp(1) = 0 <0.000010>\n"
                             "00:00:00.000300 strcmp(2) = 0 <0.000020>\n"
                             "00:00:00.000100 qsort(1) = <void> <0.000500>\n"
                             "00:00:00.000700 puts(1) = 1 <0.000007>\n");

  EXPECT_EQ(log.only("qsort").self_us(), 470U);
  EXPECT_EQ(log.only("qsort").call.children, 2U);
  EXPECT_EQ(log.only("puts").self_us(), 7U);
  EXPECT_EQ(log.only("puts").call.children, 0U);
}

TEST(LogReader, takes_only_what_is_right_inside_off) {
  const auto log = read_text("00:00:00.000300 inner(1) = 0 <0.000100>\n"
                             "00:00:00.000200 middle(1) = 0 <0.000300>\n"
                             "00:00:00.000100 outer(1) = 0 <0.000500>\n");

  EXPECT_EQ(log.only("middle").self_us(), 200U);
  EXPECT_EQ(log.only("outer").self_us(), 200U);
  EXPECT_EQ(log.only("outer").call.children, 1U);
}

TEST(LogReader, takes_the_calls_between_two_halves_off_a_call) {
  const auto log = read_text("qsort(0x1 <unfinished ...>\n"
                             "strcmp(1) = 0 <0.000010>\n"
                             "strcmp(2) = 0 <0.000020>\n"
                             "<... qsort resumed> ) = <void> <0.000500>\n"
                             "puts(1) = 1 <0.000007>\n");

  EXPECT_EQ(log.only("qsort").self_us(), 470U);
  EXPECT_EQ(log.only("qsort").call.children, 2U);
  EXPECT_EQ(log.only("qsort").call.depth, 0U);
  EXPECT_EQ(log.calls[0].call.depth, 1U);
  EXPECT_EQ(log.only("qsort").arguments, "0x1");
  EXPECT_EQ(log.only("qsort").result, "<void>");
  EXPECT_EQ(log.account.split, 1U);
}

TEST(LogReader, puts_the_arguments_of_two_lines_together) {
  const auto log =
      read_text("read(3 <unfinished ...>\n<... read resumed> , \"a\", 5) = 1\n"
                "pthread_create( <unfinished ...>\n<... pthread_create resumed> 1, nil) = 0\n");

  EXPECT_EQ(log.only("read").arguments, "3, \"a\", 5");
  EXPECT_EQ(log.only("pthread_create").arguments, "1, nil");
}

TEST(LogReader, never_makes_self_time_negative) {
  const auto log =
      read_text("a( <unfinished ...>\nb() = 0 <0.000900>\n<... a resumed> ) = 0 <0.000500>\n");

  EXPECT_EQ(log.only("a").self_us(), 0U);
}

// strlen and malloc begin in one microsecond: strlen took none, so it may well have been over.
TEST(LogReader, tells_siblings_from_children_where_the_clock_is_too_coarse) {
  const auto log = read_text("00:00:00.000100 strlen(1) = 0 <0.000000>\n"
                             "00:00:00.000100 malloc(1) = 0 <0.000005>\n"
                             "00:00:00.000200 inner(1) = 0 <0.000003>\n"
                             "00:00:00.000200 outer(1) = 0 <0.000005>\n");

  EXPECT_EQ(log.only("malloc").call.children, 0U);
  EXPECT_EQ(log.only("outer").call.children, 1U);
  EXPECT_EQ(log.only("outer").self_us(), 2U);
}

// What `sonictrace -n 2 -T` writes of a program whose main calls qsort, which calls compare twice.
TEST(LogReader, takes_blanks_in_front_of_names_for_nesting_where_lines_have_no_times) {
  const auto log = read_text("puts(1) = 1 <0.000007>\n"
                             "    strlen(1) = 0 <0.000001>\n"
                             "  strcmp(1) = 0 <0.000010>\n"
                             "  strcmp(2) = 0 <0.000020>\n"
                             "qsort(1) = <void> <0.000500>\n"
                             "  malloc(1) = 0 <0.000002>\n"
                             "fopen(1) = 0 <0.000050>\n"
                             "fclose(1) = 0 <0.000003>\n");

  EXPECT_EQ(log.only("qsort").self_us(), 470U);
  EXPECT_EQ(log.only("qsort").call.children, 2U);
  EXPECT_EQ(log.calls[2].call.children, 1U);
  EXPECT_EQ(log.calls[2].self_us(), 9U);
  EXPECT_EQ(log.calls[3].call.children, 0U);
  EXPECT_EQ(log.only("fopen").self_us(), 48U);
  EXPECT_EQ(log.only("fclose").call.children, 0U);
  EXPECT_EQ(log.only("puts").call.children, 0U);
}

TEST(LogReader, keeps_blanks_of_two_threads_and_of_two_programs_apart) {
  const auto log = read_text("1   a() = 0 <0.000010>\n"
                             "2 b() = 0 <0.000500>\n"
                             "1   c() = 0 <0.000010>\n"
                             "1 --- Called exec() ---\n"
                             "1 d() = 0 <0.000100>\n");

  EXPECT_EQ(log.only("b").call.children, 0U);
  EXPECT_EQ(log.only("d").call.children, 0U);
}

// ltrace splits what has something inside: the blanks say the same as the halves.
TEST(LogReader, takes_halves_before_blanks) {
  const auto log = read_text("qsort(1 <unfinished ...>\n"
                             "  strcmp(1) = 0 <0.000010>\n"
                             "<... qsort resumed> ) = <void> <0.000500>\n"
                             "puts(1) = 1 <0.000007>\n");

  EXPECT_EQ(log.only("qsort").self_us(), 490U);
  EXPECT_EQ(log.only("puts").call.children, 0U);
}

TEST(LogReader, knows_modules_from_a_map_until_the_log_says_better) {
  ModuleMap map;
  map.add("puts", "libfoo.so");
  map.add("gone", "libbar.so");
  map.add("puts", "libother.so");
  ReaderOptions options;
  options.modules = std::make_shared<const ModuleMap>(std::move(map));
  const test::TextFile file("gone() = 0\nputs(1) = 1\nfree@libc.so.6(1) = <void>\n"
                            "+++ puts is in libc.so.6 +++\n");
  auto reader = LogReader::open(file.path(), options);
  struct Seen final : CallVisitor {
    const FunctionTable* functions = nullptr;
    std::string modules;
    void on_call(const Call& call) override { modules += (*functions)[call.function].module + " "; }
  } seen;
  seen.functions = &reader->functions();

  ASSERT_TRUE(reader->pump(seen));

  EXPECT_EQ(seen.modules, "libbar.so libfoo.so libc.so.6 ");
  EXPECT_EQ(reader->functions().told_modules().module_of("puts"), "libc.so.6");
  EXPECT_EQ(reader->functions().told_modules().size(), 1U);
}

TEST(ModuleMap, reads_lists_and_logs) {
  const test::TextFile list("# a comment\n\nlibc.so.6 puts\nlibfoo.so\tstd::f(int, char)  \n");
  const test::TextFile log("00:00:00.000100 puts(1) = 1 <0.000007>\n+++ puts is in libc.so.6 +++\n"
                           "+++ f() is in libfoo.so +++"); // the last one without an end
  const test::TextFile neither("libc.so.6 puts\nputs\n");

  const auto from_list = ModuleMap::read(list.path());
  const auto from_log = ModuleMap::read(log.path());
  const auto from_neither = ModuleMap::read(neither.path());

  ASSERT_TRUE(from_list && from_log);
  EXPECT_EQ(from_list->module_of("puts"), "libc.so.6");
  EXPECT_EQ(from_list->module_of("std::f(int, char)"), "libfoo.so");
  EXPECT_EQ(from_list->size(), 2U);
  EXPECT_EQ(from_log->module_of("puts"), "libc.so.6");
  EXPECT_EQ(from_log->module_of("f()"), "libfoo.so");
  EXPECT_EQ(from_log->module_of("g"), "");
  ASSERT_FALSE(from_neither);
  EXPECT_NE(from_neither.error().message().find(":2: neither MODULE FUNCTION"), std::string::npos)
      << from_neither.error().message();
}

TEST(LogReader, keeps_threads_apart) {
  const auto log = read_text("1 00:00:00.000200 a() = 0 <0.000010>\n"
                             "2 00:00:00.000100 b() = 0 <0.000500>\n"
                             "00:00:00.000100/3 c() = 0 <0.000500>\n");

  EXPECT_EQ(log.only("b").self_us(), 500U);
  EXPECT_EQ(log.account.threads, 3U);
}

TEST(LogReader, follows_several_open_calls_of_several_threads) {
  const auto log = read_text("[pid 1] qsort( <unfinished ...>\n"
                             "[pid 2] usleep(1 <unfinished ...>\n"
                             "[pid 1] cmp( <unfinished ...>\n"
                             "[pid 1] strcmp() = 0 <0.000001>\n"
                             "[pid 2] <... usleep resumed> ) = 0 <0.000100>\n"
                             "[pid 1] <... cmp resumed> ) = 0 <0.000010>\n"
                             "[pid 1] <... qsort resumed> ) = 0 <0.000050>\n");

  EXPECT_EQ(log.only("cmp").self_us(), 9U);
  EXPECT_EQ(log.only("qsort").self_us(), 40U);
  EXPECT_EQ(log.only("usleep").self_us(), 100U);
  EXPECT_EQ(log.account.unmatched, 0U);
}

TEST(LogReader, counts_an_end_without_a_beginning_apart) {
  const auto log = read_text("a() = 0 <0.000001>\n<... usleep resumed> ) = 0 <0.000100>\n");

  EXPECT_EQ(log.calls.size(), 1U);
  EXPECT_EQ(log.account.unmatched, 1U);
  EXPECT_EQ(log.account.timed_lines, 2U);
  EXPECT_EQ(log.account.timed_calls, 1U);
}

TEST(LogReader, counts_a_beginning_without_an_end_apart) {
  const auto log = read_text("outer( <unfinished ...>\njumper( <unfinished ...>\n"
                             "<... outer resumed> ) = 0 <0.000100>\nlast( <unfinished ...>\n");

  EXPECT_EQ(log.only("jumper").call.end, Call::End::Unfinished);
  EXPECT_FALSE(log.only("jumper").call.has_duration());
  EXPECT_EQ(log.only("last").call.end, Call::End::Unfinished);
  EXPECT_EQ(log.only("outer").call.end, Call::End::Returned);
  EXPECT_EQ(log.account.unfinished, 2U);
  EXPECT_EQ(log.account.calls, 1U);
}

TEST(LogReader, counts_calls_that_do_not_return) {
  const auto log =
      read_text("main(1 <no return ...>\nexit(0 <no return ...>\n+++ exited (status 0) +++\n");

  EXPECT_EQ(log.only("exit").call.end, Call::End::NoReturn);
  EXPECT_EQ(log.only("exit").arguments, "0");
  EXPECT_EQ(log.account.no_return, 2U);
  EXPECT_EQ(log.account.calls, 2U);
}

// ltrace says so before every event, whatever comes of the call.
TEST(LogReader, believes_an_end_more_than_that_there_is_none) {
  const auto log = read_text("raise(10 <no return ...>\n--- SIGUSR1 (User defined signal 1) ---\n"
                             "<... raise resumed> ) = 0 <0.000100>\n");

  EXPECT_EQ(log.only("raise").call.end, Call::End::Returned);
  EXPECT_EQ(log.account.calls, 1U);
  EXPECT_EQ(log.account.no_return, 0U);
  EXPECT_EQ(log.events, std::vector<std::string>{"SIGUSR1 (User defined signal 1)"});
}

TEST(LogReader, counts_calls_that_were_unwound_with_their_time) {
  const auto log = read_text("f(1) = <unwound> <0.000041>\n");

  EXPECT_EQ(log.only("f").call.end, Call::End::Unwound);
  EXPECT_EQ(log.only("f").self_us(), 41U);
  EXPECT_EQ(log.account.unwound, 1U);
}

TEST(LogReader, gives_a_forked_child_the_call_that_it_was_born_in) {
  const auto log = read_text("[pid 1] spawner( <unfinished ...>\n[pid 1] fork( <unfinished ...>\n"
                             "[pid 1] <... fork resumed> ) = 2 <0.000100>\n"
                             "[pid 2] <... fork resumed> ) = 0 <0.000200>\n"
                             "[pid 2] <... spawner resumed> ) = 0 <0.000300>\n"
                             "[pid 1] <... spawner resumed> ) = 2 <0.000400>\n");

  EXPECT_EQ(log.account.unmatched, 0U);
  EXPECT_EQ(log.account.calls, 4U);
  EXPECT_EQ(log.calls[1].call.tid, 2U);
  EXPECT_EQ(log.calls[1].self_us(), 200U);
  EXPECT_EQ(log.account.unfinished, 0U);
}

TEST(LogReader, does_not_count_what_a_forked_child_leaves_open) {
  const auto log =
      read_text("[pid 1] spawner( <unfinished ...>\n[pid 1] fork( <unfinished ...>\n"
                "[pid 2] <... fork resumed> ) = 0 <0.000200>\n[pid 2] +++ exited (status 0) +++\n");

  EXPECT_EQ(log.account.unfinished, 2U); // the parent's
}

TEST(LogReader, forgets_a_thread_that_has_ended) {
  const auto log = read_text("7 00:00:00.000100 a() = 0 <0.000010>\n7 b( <unfinished ...>\n"
                             "7 00:00:00.000200 +++ exited (status 0) +++\n"
                             "7 00:00:00.000050 other_process() = 0 <0.000500>\n"
                             "7 00:00:00.000600 <... b resumed> ) = 0 <0.000010>\n");

  EXPECT_EQ(log.only("other_process").call.children, 0U);
  EXPECT_EQ(log.account.unmatched, 1U);
  EXPECT_EQ(log.account.threads, 2U);
}

TEST(LogReader, forgets_the_calls_of_a_program_that_is_replaced) {
  const auto log =
      read_text("execve(1 <no return ...>\n--- Called exec() ---\nputs(1) = 0 <0.000001>\n");

  EXPECT_EQ(log.only("puts").call.depth, 0U);
  EXPECT_EQ(log.only("execve").call.end, Call::End::NoReturn);
}

TEST(LogReader, counts_the_time_of_a_recursive_function_once) {
  const auto log = read_text("00:00:00.000300 fib(0) = 0 <0.000010>\n"
                             "00:00:00.000400 fib(1) = 0 <0.000020>\n"
                             "00:00:00.000200 fib(2) = 0 <0.000300>\n"
                             "00:00:00.000600 fib(1) = 0 <0.000030>\n"
                             "00:00:00.000100 fib(3) = 0 <0.001000>\n");
  std::uint64_t total = 0, self = 0;
  for (const auto& one : log.calls) {
    total += one.outermost_us();
    self += one.self_us();
  }

  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(self, 1000U);
}

TEST(LogReader, counts_the_time_of_a_recursive_function_once_in_split_lines) {
  const auto log =
      read_text("f( <unfinished ...>\ng( <unfinished ...>\nf() = 0 <0.000010>\n"
                "<... g resumed> ) = 0 <0.000020>\n<... f resumed> ) = 0 <0.000050>\n");

  EXPECT_EQ(log.calls[0].outermost_us() + log.calls[2].outermost_us(), 50U);
}

TEST(LogReader, knows_what_thousands_of_calls_inside_one_took) {
  std::string text;
  const auto add = [&text](std::uint64_t at, std::string_view name, std::uint64_t took) {
    text +=
        fmt::format("00:{:02}:{:02}.{:06} {}() = 0 <{}.{:06}>\n", at / 60'000'000,
                    at / 1'000'000 % 60, at % 1'000'000, name, took / 1'000'000, took % 1'000'000);
  };
  for (std::uint64_t i = 0; i < 30'000; ++i)
    add(1000 + 10 * i, "before", 5);
  for (std::uint64_t i = 0; i < 100'000; ++i)
    add(400'001 + 10 * i, "inside", 5);
  add(400'000, "outer", 1'100'000);
  const auto log = read_text(text);

  // 600 ms; the oldest of the calls inside may be taken together with some before it.
  EXPECT_GE(log.only("outer").self_us(), 600'000U);
  EXPECT_LE(log.only("outer").self_us(), 600'000U + 500'000U / 64);
}

TEST(LogReader, knows_modules_from_names_and_remarks) {
  const auto log = read_text("a@libx.so(1) = 0\nb(1) = 0\nread@SYS(1) = 0\nSYS_write(1) = 0\n"
                             "+++ b is in liby.so.1 +++\n+++ b is in libz.so +++\n");

  ASSERT_NE(log.function("a"), nullptr);
  EXPECT_EQ(log.function("a")->module, "libx.so");
  EXPECT_EQ(log.function("b")->module, "liby.so.1");
  EXPECT_TRUE(log.function("read")->is_syscall);
  EXPECT_TRUE(log.function("write")->is_syscall);
}

TEST(LogReader, pairs_halves_of_which_one_says_the_module) {
  const auto log =
      read_text("getcwd( <unfinished ...>\n  getcwd@SYS(\"/usr\", 4096 <unfinished ...>\n"
                "  <... getcwd resumed> ) = 5 <0.000001>\n<... getcwd resumed> ) = 5 <0.000003>\n");

  EXPECT_EQ(log.account.unmatched, 0U);
  EXPECT_TRUE(log.all_functions[log.calls[0].call.function].is_syscall);
  EXPECT_FALSE(log.all_functions[log.calls[1].call.function].is_syscall);
}

TEST(LogReader, adds_up_thinned_calls) {
  const auto log = read_text("+++ strlen: 3 more calls, 0.000000007 s, not written +++\n"
                             "00:00:01 +++ strlen: 4 more calls, 1.5 s, not written +++\n");

  EXPECT_EQ(log.function("strlen")->thinned_calls, 7U);
  EXPECT_EQ(log.function("strlen")->thinned_ns, 1'500'000'007U);
  EXPECT_EQ(log.account.thinned_calls, 7U);
}

TEST(LogReader, reads_the_closing_line) {
  const auto log = read_text(
      "+++ sonictrace: 16 calls, 14 functions, 3 modules, 2 lost calls, breakpoint engine, "
      "41.8 us own cost a call +++\n");

  EXPECT_TRUE(log.account.is_closed);
  EXPECT_EQ(log.account.lost, 2U);
  EXPECT_EQ(log.account.own_cost_ns, 41'800U);
}

TEST(LogReader, reads_a_closing_line_with_a_single_lost_call) {
  EXPECT_EQ(read_text("+++ sonictrace: 16 calls, 1 lost call, inline engine +++\n").account.lost,
            1U);
}

TEST(LogReader, goes_on_over_midnight) {
  const auto log = read_text("23:59:59.000000 a() = 0 <0.000001>\n"
                             "00:00:01.000000 b() = 0 <0.000001>\n"
                             "23:59:58.000000 around() = 0 <4.000000>\n"
                             "00:00:03.000000 c() = 0 <0.000001>\n");

  EXPECT_EQ(log.only("b").call.entry_ns - log.only("a").call.entry_ns, 2'000'000'000U);
  EXPECT_EQ(log.only("a").call.entry_ns - log.only("around").call.entry_ns, 1'000'000'000U);
  EXPECT_EQ(log.only("around").call.children, 2U);
  EXPECT_EQ(log.only("c").call.entry_ns - log.only("a").call.entry_ns, 4'000'000'000U);
  EXPECT_EQ(log.account.span_ns(), 5'000'001'000U);
}

TEST(LogReader, knows_a_call_of_many_hours_from_a_midnight) {
  const auto log = read_text("20:00:00 a() = 0 <0.000001>\n"
                             "06:00:00 main() = 0 <50400.000000>\n"
                             "05:59:00 start( <no return ...>\n"
                             "20:00:01 b() = 0 <0.000001>\n");

  EXPECT_EQ(log.only("a").call.entry_ns - log.only("main").call.entry_ns, 50400'000'000'000U);
  EXPECT_EQ(log.only("b").call.entry_ns - log.only("a").call.entry_ns, 1'000'000'000U);
}

TEST(LogReader, adds_up_relative_times) {
  const auto log = read_text("  0.000000 a() = 0\n  0.000270 b() = 0\n  1.000000 c() = 0\n");

  EXPECT_EQ(log.only("c").call.entry_ns, 1'000'270'000U);
}

TEST(LogReader, tells_lines_that_it_can_not_use) {
  const auto log = read_text("first words\na() = 0\nmore\nb() = 0\n\x01third\nfourth\nc(\n");

  EXPECT_EQ(log.account.skipped, 5U);
  ASSERT_EQ(log.account.first_skipped.size(), 3U);
  EXPECT_EQ(log.account.first_skipped[0], (SkippedLine{1, "first words"}));
  EXPECT_EQ(log.account.first_skipped[2], (SkippedLine{5, "?third"}));
}

TEST(LogReader, reads_a_line_of_a_megabyte) {
  const std::string argument(1'000'000, 'x');
  const auto log = read_text("a(1) = 0\nputs(\"" + argument + "\") = 1 <0.000003>\nb(1) = 0\n");

  EXPECT_EQ(log.calls.size(), 3U);
  EXPECT_EQ(log.only("puts").arguments.size(), argument.size() + 2);
}

TEST(LogReader, skips_a_line_that_is_longer_than_any_log_has) {
  const auto log = read_text("a(1) = 0\nputs(\"" + std::string(20'000'000, 'x') +
                             "\") = 1 <0.000003>\nb(1) = 0\n");

  EXPECT_EQ(log.calls.size(), 2U);
  EXPECT_EQ(log.account.skipped, 1U);
  EXPECT_EQ(log.account.lines, 3U);
}

TEST(LogReader, says_the_same_with_any_number_of_threads) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    text += fmt::format("{} 00:00:{:02}.{:06} f{}(\"some argument\", {} <unfinished ...>\n", i % 3,
                        i / 10000 % 60, i % 1000000, i % 50, i);
    text += fmt::format("{} 00:00:{:02}.{:06} g(1) = 1 <0.000002>\n", i % 3, i / 10000 % 60,
                        i % 1000000);
    text += fmt::format("{} 00:00:{:02}.{:06} <... f{} resumed> ) = 1 <0.000007>\nnothing\n\n",
                        i % 3, i / 10000 % 60, i % 1000000, i % 50);
  }
  const auto one = read_text(text, {1});
  const auto four = read_text(text, {4});

  ASSERT_EQ(one.calls.size(), 80'000U);
  ASSERT_EQ(four.calls.size(), one.calls.size());
  for (std::size_t i = 0; i < one.calls.size(); ++i) {
    ASSERT_EQ(four.calls[i].name, one.calls[i].name);
    ASSERT_EQ(four.calls[i].call.line, one.calls[i].call.line);
    ASSERT_EQ(four.calls[i].call.self_ns, one.calls[i].call.self_ns);
    ASSERT_EQ(four.calls[i].arguments, one.calls[i].arguments);
  }
  EXPECT_EQ(four.all_functions, one.all_functions);
  EXPECT_EQ(four.account.first_skipped, one.account.first_skipped);
  EXPECT_EQ(four.account.skipped, 40'000U);
}

TEST(LogReader, takes_functions_beyond_its_capacity_together) {
  std::string text;
  for (std::size_t i = 0; i < FunctionTable::kCapacity + 10; ++i)
    text += fmt::format("f{}() = 0\n", i);
  const auto log = read_text(text);
  const auto others = std::count_if(log.calls.begin(), log.calls.end(), [](const auto& one) {
    return one.name == "(other functions)";
  });

  EXPECT_EQ(others, 11); // one place is theirs
  EXPECT_TRUE(log.account.functions_overflowed);
}

TEST(LogReader, gives_the_frames_of_a_backtrace) {
  const auto log =
      read_text("puts(1) = 0\n > libc.so.6(main+0x1) [0x7f]\n\t../csu/libc-start.c:360:3\n\n");

  EXPECT_EQ(log.frames, std::vector<std::string>{"libc.so.6(main+0x1) [0x7f]"});
  EXPECT_EQ(log.account.markers, 3U);
}

} // namespace
} // namespace sonictrace::log
