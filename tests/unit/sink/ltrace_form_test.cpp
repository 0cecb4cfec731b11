// The expected texts are what ltrace itself printed for a program that makes these calls, pids and
// addresses included; the golden case is named at each.

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

constexpr pid_t kMain = 4822;

TEST(LtraceForm, hello) {
  LogFixture t(ltrace_form());
  t.build.thread(kMain, true);
  t.build.call(kMain, t.build.function("int puts(string);"), {t.build.memory.text("hello")}, 6);
  t.build.call(kMain, t.build.function("ulong strlen(string);"), {t.build.memory.text("./prog")},
               6);
  t.build.call(kMain, t.build.function("addr malloc(ulong);"), {106}, 0x555e8f8322b0);
  t.build.call(kMain, t.build.function("addr strcpy(addr, string);"),
               {0x555e8f8322b0, t.build.memory.text("abc")}, 0x555e8f8322b0);
  t.build.call(kMain, t.build.function("void free(addr);"), {0x555e8f8322b0});
  t.build.exited(kMain, 0);

  EXPECT_EQ(t.finished(), R"(puts("hello")                                    = 6
strlen("./prog")                                 = 6
malloc(106)                                      = 0x555e8f8322b0
strcpy(0x555e8f8322b0, "abc")                    = 0x555e8f8322b0
free(0x555e8f8322b0)                             = <void>
+++ exited (status 0) +++
)");
}

TEST(LtraceForm, align_edge) {
  TextOptions options = ltrace_form();
  options.align = 20;
  LogFixture t(options);
  const auto strlen_id = t.build.function("ulong strlen(string);");
  for (std::size_t size = 6; size <= 11; ++size)
    t.build.call(kMain, strlen_id,
                 {t.build.memory.text(std::string("12345678901").substr(0, size))}, size);
  t.build.exited(kMain);

  EXPECT_EQ(t.finished(), R"(strlen("123456")   = 6
strlen("1234567")  = 7
strlen("12345678") = 8
strlen("123456789") = 9
strlen("1234567890") = 10
strlen("12345678901") = 11
+++ exited (status 0) +++
)");
}

TEST(LtraceForm, align_0_and_1_do_not_pad) {
  for (const unsigned align : {0u, 1u}) {
    TextOptions options = ltrace_form();
    options.align = align;
    LogFixture t(options);
    t.build.call(kMain, t.build.function("int f();"), {}, 6);

    EXPECT_EQ(t.finished(), "f() = 6\n");
  }
}

TEST(LtraceForm, callback_n2) {
  TextOptions options = ltrace_form();
  options.indent = 2;
  LogFixture t(options);
  auto& b = t.build;
  const auto qsort_id = b.function("void qsort(addr, ulong, ulong, addr);");
  const auto strcmp_id = b.function("int strcmp(string, string);");
  const auto bsearch_id = b.function("addr bsearch(string, addr, ulong, ulong, addr);");
  const auto letter_a = b.memory.text("a"), letter_b = b.memory.text("b"),
             letter_c = b.memory.text("c");
  b.call(kMain, b.unknown("__cxa_atexit"), {0x562b6ccb119e, 0, 0x562b6ccb4030, 0x562b6ccb3dd8}, 0);
  b.enter(kMain, qsort_id, {0x7ffd49eedb90, 3, 8, 0x562b6ccb1179});
  b.call(kMain, strcmp_id, {letter_c, letter_a}, 2);
  b.call(kMain, strcmp_id, {letter_b, letter_a}, 1);
  b.call(kMain, strcmp_id, {letter_b, letter_c}, static_cast<std::uint64_t>(-1));
  b.leave(kMain);
  b.enter(kMain, bsearch_id, {letter_b, 0x7ffd49eedb90, 3, 8, 0x562b6ccb1179});
  b.call(kMain, strcmp_id, {letter_b, letter_b}, 0);
  b.leave(kMain, 0x7ffd49eedb98);
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("bye")}, 4);
  b.exited(kMain);

  EXPECT_EQ(t.finished(), R"(__cxa_atexit(0x562b6ccb119e, 0, 0x562b6ccb4030, 0x562b6ccb3dd8) = 0
qsort(0x7ffd49eedb90, 3, 8, 0x562b6ccb1179 <unfinished ...>
  strcmp("c", "a")                               = 2
  strcmp("b", "a")                               = 1
  strcmp("b", "c")                               = -1
<... qsort resumed> )                            = <void>
bsearch("b", 0x7ffd49eedb90, 3, 8, 0x562b6ccb1179 <unfinished ...>
  strcmp("b", "b")                               = 0
<... bsearch resumed> )                          = 0x7ffd49eedb98
puts("bye")                                      = 4
+++ exited (status 0) +++
)");
}

// golden/deep: `f` calls itself; ltrace gives up at the 64th call, so the expected text is made.
TEST(LtraceForm, deep) {
  TextOptions options = ltrace_form();
  options.indent = 1;
  LogFixture t(options);
  const auto f = t.build.function("int f(int);", {kNoModule, kNoModule, true, true});
  std::string expected;
  for (int n = 70; n > 0; --n) {
    t.build.enter(kMain, f, {static_cast<std::uint64_t>(n)});
    expected += std::string(static_cast<std::size_t>(70 - n), ' ') + "f(" + std::to_string(n);
    if (n > 1) expected += " <unfinished ...>\n";
  }
  for (int n = 1; n <= 70; ++n) {
    t.build.leave(kMain, 7);
    std::string line = std::string(static_cast<std::size_t>(70 - n), ' ') + "<... f resumed> ) ";
    if (n == 1) {
      line = std::string(69, ' ') + "f(1) ";
      expected.resize(expected.size() - 69 - 3);
    }
    if (line.size() < 49) line.resize(49, ' ');
    expected += line + "= 7\n";
  }

  EXPECT_EQ(t.finished(), expected);
}

TEST(LtraceForm, fork_f) {
  TextOptions options = ltrace_form();
  options.pid_prefix = true;
  LogFixture t(options);
  auto& b = t.build;
  const auto fork_id = b.function("int fork();");
  const auto waitpid_id = b.function("int waitpid(int, addr, int);");
  const auto puts_id = b.function("int puts(string);");
  b.thread(kMain, true);
  b.enter(kMain, fork_id);
  b.fork(kMain, 4823);
  b.leave(kMain, 4823);
  b.enter(kMain, waitpid_id, {4823, 0x7ffe627cc518, 0});
  b.leave(4823, 0);
  b.call(4823, puts_id, {b.memory.text("child")}, 6);
  b.enter(4823, b.function("void exit(int);"), {3});
  b.exited(4823, 3);
  b.signal(kMain, SIGCHLD);
  b.leave(kMain, 4823);
  b.call(kMain, puts_id, {b.memory.text("parent")}, 7);
  b.exited(kMain);

  EXPECT_EQ(t.finished(), R"([pid 4822] fork()                                = 4823
[pid 4822] waitpid(4823, 0x7ffe627cc518, 0 <unfinished ...>
[pid 4823] <... fork resumed> )                  = 0
[pid 4823] puts("child")                         = 6
[pid 4823] exit(3 <no return ...>
[pid 4823] +++ exited (status 3) +++
[pid 4822] --- SIGCHLD (Child exited) ---
[pid 4822] <... waitpid resumed> )               = 4823
[pid 4822] puts("parent")                        = 7
[pid 4822] +++ exited (status 0) +++
)");
}

TEST(LtraceForm, fork_f_o_has_no_brackets) {
  TextOptions options = ltrace_form();
  options.pid_prefix = true;
  options.brackets = false;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(4805, b.function("int fork();"));
  b.fork(4805, 4806);
  b.leave(4805, 4806);
  b.enter(4805, b.function("int waitpid(int, addr, int);"), {4806, 0x7ffee57aeba8, 0});
  b.leave(4806, 0);
  b.exited(4806, 3);
  b.signal(4805, SIGCHLD);

  EXPECT_EQ(t.finished(), R"(4805 fork()                                      = 4806
4805 waitpid(4806, 0x7ffee57aeba8, 0 <unfinished ...>
4806 <... fork resumed> )                        = 0
4806 +++ exited (status 3) +++
4805 --- SIGCHLD (Child exited) ---
)");
}

TEST(LtraceForm, opt_i) {
  TextOptions options = ltrace_form();
  options.instruction_pointer = true;
  LogFixture t(options);
  auto& b = t.build;
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("hello")}, 6, 0x401184);
  b.call(kMain, b.function("ulong strlen(string);"), {b.memory.text("./prog")}, 6, 0x401193);
  b.enter(kMain, b.unknown("raise"), {34, 0x7ffd97a2ac50, 0, 0x7fa5d0c1b11f}, 0x56216ca6b208);
  b.signal(kMain, SIGRTMIN);
  b.leave(kMain, 0);
  b.enter(kMain, b.unknown("execl"), {1, 2, 3, 0}, 0x56216ca6b274);
  b.exec(kMain);
  b.exited(kMain);

  EXPECT_EQ(t.finished(), R"([0x401184] puts("hello")                         = 6
[0x401193] strlen("./prog")                      = 6
[0x56216ca6b208] raise(34, 0x7ffd97a2ac50, 0, 0x7fa5d0c1b11f <no return ...>
[0x7fa5d0c69eec] --- UNKNOWN_SIGNAL (Real-time signal 0) ---
[0x56216ca6b208] <... raise resumed> )           = 0
[0x56216ca6b274] execl(1, 2, 3, 0 <no return ...>
[0x7f65e1296b70] --- Called exec() ---
[0xffffffffffffffff] +++ exited (status 0) +++
)");
}

TEST(LtraceForm, opt_r) {
  TextOptions options = ltrace_form();
  options.time = TimeStamp::Relative;
  LogFixture t(options);
  auto& b = t.build;
  const auto start = b.now_ns;
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("hello")}, 6);
  b.now_ns = start + 5'419'000;
  b.call(kMain, b.function("ulong strlen(string);"), {b.memory.text("./prog")}, 6);
  b.now_ns = start + 5'419'000 + 111'000;
  b.call(kMain, b.function("addr malloc(ulong);"), {106}, 0x55d2eeeba2b0);
  b.now_ns = start + 5'419'000 + 111'000 + 1'234'000'086'999;
  b.exited(kMain);

  EXPECT_EQ(t.finished(), R"(  0.000000 puts("hello")                         = 6
  0.005419 strlen("./prog")                      = 6
  0.000111 malloc(106)                           = 0x55d2eeeba2b0
1234.000086 +++ exited (status 0) +++
)");
}

TEST(LtraceForm, signal_handler) { // golden/sig-handler
  LogFixture t(ltrace_form());
  auto& b = t.build;
  const auto text = b.memory.text("h\n");
  b.call(kMain, b.unknown("getpid"), {}, 5287);
  b.enter(kMain, b.unknown("raise"), {10, 0x7ffffcc88400, 0, 0x7f27b2e9d11f});
  b.signal(kMain, SIGUSR1);
  b.call(kMain, b.function("ulong strlen(string);"), {text}, 2);
  b.call(kMain, b.function("long write(int, bytes[arg3], ulong);"), {1, text, 2}, 2);
  b.leave(kMain, 0);
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("end")}, 4);
  b.killed(kMain, SIGSEGV);

  EXPECT_EQ(t.finished(), R"(getpid(0, 0, 0, 0)                               = 5287
raise(10, 0x7ffffcc88400, 0, 0x7f27b2e9d11f <no return ...>
--- SIGUSR1 (User defined signal 1) ---
strlen("h\n")                                    = 2
write(1, "h\n", 2)                               = 2
<... raise resumed> )                            = 0
puts("end")                                      = 4
+++ killed by SIGSEGV +++
)");
}

TEST(LtraceForm, longjmp_passes_calls_without_a_word) {
  LogFixture t(ltrace_form());
  auto& b = t.build;
  b.enter(kMain, b.unknown("qsort"), {1, 2, 3, 4});
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("in cmp")}, 7);
  b.enter(kMain, b.unknown("longjmp"), {1, 7, 1, 4096});
  b.unwind(kMain);
  b.unwind(kMain);
  b.call(kMain, b.function("int puts(string);"), {b.memory.text("after")}, 6);

  EXPECT_EQ(t.finished(), R"(qsort(1, 2, 3, 4 <unfinished ...>
puts("in cmp")                                   = 7
longjmp(1, 7, 1, 4096 <unfinished ...>
puts("after")                                    = 6
)");
}

TEST(LtraceForm, entries_and_callers) { // golden/solib-x-and-e
  TextOptions options = ltrace_form();
  options.show_caller = true;
  LogFixture t(options);
  auto& b = t.build;
  const auto low = b.module("liblow.so.1"), prog = b.module("prog");
  const auto by_plt = b.unknown("low_add", {low, low});
  const auto by_entry = b.unknown("low_add", {low, kNoModule, true});
  b.enter(kMain, by_plt, {5, 5, 5, 0x55d8d1120da8});
  b.enter(kMain, by_entry, {5, 5, 5, 0x55d8d1120da8});
  b.leave(kMain, 10);
  b.leave(kMain, 10);
  b.call(kMain, b.function("int puts(string);", {kNoModule, prog}), {b.memory.text("hello")}, 6);
  b.call(kMain, b.function("int main();", {prog, kNoModule, true, true}), {}, 0);

  EXPECT_EQ(t.finished(), R"(liblow.so.1->low_add(5, 5, 5, 0x55d8d1120da8 <unfinished ...>
low_add@liblow.so.1(5, 5, 5, 0x55d8d1120da8)     = 10
<... low_add resumed> )                          = 10
prog->puts("hello")                              = 6
main()                                           = 0
)");
}

TEST(LtraceForm, durations_and_times) { // golden/solib-x-T-tt
  TextOptions options = ltrace_form();
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  LogFixture t(options);
  auto& b = t.build;
  const auto low = b.module("liblow.so.1");
  const auto twice = b.function("int low_twice(int);", {low, kNoModule, true});
  const auto add = b.unknown("low_add", {low, kNoModule, true});
  b.now_ns = RecordBuilder::kStart + 158'849'000;
  b.enter(kMain, twice, {5});
  b.now_ns = RecordBuilder::kStart + 158'971'999;
  b.enter(kMain, add, {5, 5, 5, 0x557753190da8});
  b.now_ns = RecordBuilder::kStart + 159'044'998;
  b.leave(kMain, 10);
  b.now_ns = RecordBuilder::kStart + 1'234'068'000;
  b.leave(kMain, 10);

  EXPECT_EQ(t.finished(), R"(03:26:58.158849 low_twice@liblow.so.1(5 <unfinished ...>
03:26:58.158971 low_add@liblow.so.1(5, 5, 5, 0x557753190da8) = 10 <0.000072>
03:26:59.234068 <... low_twice resumed> )        = 10 <1.075219>
)");
}

TEST(LtraceForm, vfork_exec_f) {
  TextOptions options = ltrace_form();
  options.pid_prefix = true;
  LogFixture t(options);
  auto& b = t.build;
  b.enter(5589, b.unknown("vfork"), {1, 2, 3, 4});
  b.fork(5589, 5590);
  b.leave(5590, 0);
  b.enter(5590, b.unknown("execl"), {5, 6, 0, 7});
  b.exec(5590);
  b.leave(5589, 5590);
  b.enter(5589, b.unknown("waitpid"), {5590, 8, 0, 9});
  b.exited(5590, 0);
  b.signal(5589, SIGCHLD);
  b.leave(5589, 5590);

  EXPECT_EQ(t.finished(), R"([pid 5589] vfork(1, 2, 3, 4 <unfinished ...>
[pid 5590] <... vfork resumed> )                 = 0
[pid 5590] execl(5, 6, 0, 7 <no return ...>
[pid 5590] --- Called exec() ---
[pid 5589] <... vfork resumed> )                 = 5590
[pid 5589] waitpid(5590, 8, 0, 9 <no return ...>
[pid 5590] +++ exited (status 0) +++
[pid 5589] --- SIGCHLD (Child exited) ---
[pid 5589] <... waitpid resumed> )               = 5590
)");
}

} // namespace
} // namespace sonictrace
