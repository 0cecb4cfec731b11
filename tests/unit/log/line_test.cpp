#include "sonictrace/log/line.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace sonictrace::log {
namespace {

/// What a line says, in one string: `kind tid time caller->name (arguments) = result <ns>`.
std::string told(std::string_view text) {
  const auto line = parse_line(text);
  static constexpr const char* kKinds[] = {"call",   "begun",  "no-return", "resumed", "signal",
                                           "exec",   "exited", "module",    "thinned", "closing",
                                           "remark", "frame",  "blank",     "bad"};
  std::string all = kKinds[static_cast<int>(line.kind)];
  if (line.kind == LineKind::Bad) return all;
  if (line.tid != kNoTid) all += fmt::format(" tid={}", line.tid);
  if (line.time_ns != kNoTime)
    all += fmt::format(" {}={}",
                       line.clock == Clock::TimeOfDay ? "tod"
                       : line.clock == Clock::Epoch   ? "epoch"
                                                      : "rel",
                       line.time_ns);
  if (!line.caller(text).empty()) all += fmt::format(" caller={}", line.caller(text));
  if (!line.name(text).empty()) all += fmt::format(" name={}", line.name(text));
  if (line.kind <= LineKind::Resumed) {
    const auto call = split_call(text, line);
    all += fmt::format(" ({})", call.arguments);
    if (!call.result.empty()) all += fmt::format(" = {}", call.result);
  }
  if (line.duration_ns != kNoDuration) all += fmt::format(" <{}>", line.duration_ns);
  if (line.unwound) all += " unwound";
  return all;
}

struct Case {
  const char* name;
  std::string text;
  const char* expected;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class ParseLine : public testing::TestWithParam<Case> {};

TEST_P(ParseLine, tells_what_the_line_says) {
  EXPECT_EQ(told(GetParam().text), GetParam().expected);
}

// Prefixes, all as real logs have them.
INSTANTIATE_TEST_SUITE_P(
    Prefix, ParseLine,
    testing::Values(
        Case{"none", "strlen(\"123456\")   = 6", "call name=strlen (\"123456\") = 6"},
        Case{"time_of_day", "05:41:28 puts(\"a\") = 2 <0.000010>",
             "call tod=20488000000000 name=puts (\"a\") = 2 <10000>"},
        Case{"microseconds", "00:00:01.000002 puts(\"a\") = 2 <0.000010>",
             "call tod=1000002000 name=puts (\"a\") = 2 <10000>"},
        Case{"nanoseconds", "00:00:01.000000002 puts(\"a\") = 2 <0.000000017>",
             "call tod=1000000002 name=puts (\"a\") = 2 <17>"},
        Case{"milliseconds", "14:23:05.123 malloc(8) = 0x1 <0.000010>",
             "call tod=51785123000000 name=malloc (8) = 0x1 <10000>"},
        Case{"epoch", "1796009218.757446 puts(\"a\") = 2",
             "call epoch=1796009218757446000 name=puts (\"a\") = 2"},
        Case{"relative", "  0.000270 strlen(\"./prog\")                      = 6",
             "call rel=270000 name=strlen (\"./prog\") = 6"},
        Case{"pid_on_stderr", "[pid 4571] 00:00:00.000001 free(0x1) = <void> <0.000001>",
             "call tid=4571 tod=1000 name=free (0x1) = <void> <1000>"},
        Case{"pid_in_a_file", "4571 00:00:00.000001 free(0x1) = <void>",
             "call tid=4571 tod=1000 name=free (0x1) = <void>"},
        Case{"pid_and_no_time", "4571 free(0x1) = <void>",
             "call tid=4571 name=free (0x1) = <void>"},
        Case{"pid_and_relative", "[pid 7]   0.000270 free(0x1) = <void>",
             "call tid=7 rel=270000 name=free (0x1) = <void>"},
        Case{"thread_behind_the_time", "05:41:28.000000/21764 usleep(1000) = 0 <0.001086>",
             "call tid=21764 tod=20488000000000 name=usleep (1000) = 0 <1086000>"},
        Case{"address", "[0x401184] puts(\"hello\") = 6", "call name=puts (\"hello\") = 6"},
        Case{
            "everything",
            "[pid 9] 00:00:00.000001 [0x401184]     lib-x.so.1->low@liblow.so.1(5) = 10 <0.000002>",
            "call tid=9 tod=1000 caller=lib-x.so.1 name=low@liblow.so.1 (5) = 10 <2000>"}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Name, ParseLine,
    testing::Values(
        Case{"cxx", "at::native::upsample_bilinear2d(0x1, 2) = 0x3 <0.002010>",
             "call name=at::native::upsample_bilinear2d (0x1, 2) = 0x3 <2010000>"},
        Case{"parentheses_in_a_template",
             "std::function<int (char)>::operator()(0x1, 'a') = 1 <0.000002>",
             "call name=std::function<int (char)>::operator() (0x1, 'a') = 1 <2000>"},
        Case{"operator_call", "operator()(1) = 2", "call name=operator() (1) = 2"},
        Case{"anonymous_namespace", "(anonymous namespace)::f(1) = 2",
             "call name=(anonymous namespace)::f (1) = 2"},
        Case{"anonymous_within", "ns::(anonymous namespace)::f(1) = 2",
             "call name=ns::(anonymous namespace)::f (1) = 2"},
        Case{"braces", "{anonymous}::f(1) = 2", "call name={anonymous}::f (1) = 2"},
        Case{"full_without_parameters", "at::native::conv2d()(1) = 0x2",
             "call name=at::native::conv2d() (1) = 0x2"},
        Case{"full", "foo(int, char*)(1, 2) = 3", "call name=foo(int, char*) (1, 2) = 3"},
        Case{"full_const", "A::f() const(0x1) = 3", "call name=A::f() const (0x1) = 3"},
        Case{"full_of_nothing", "foo()() = 3", "call name=foo() () = 3"},
        Case{"full_template", "void f<int>(int)(3) = 1", "call name=void f<int>(int) (3) = 1"},
        Case{"operator_new", "operator new(unsigned long)(72, 1) = 0x5",
             "call name=operator new(unsigned long) (72, 1) = 0x5"},
        Case{"operator_new_short", "operator new(72) = 0x5", "call name=operator new (72) = 0x5"},
        Case{"manipulator",
             "std::ostream::operator<<(std::ostream& (*)(std::ostream&))(0x1, 0x2) = 0x3",
             "call name=std::ostream::operator<<(std::ostream& (*)(std::ostream&)) (0x1, 0x2) = "
             "0x3"},
        Case{"shift_of_templates",
             "std::ostream& std::operator<< <char, std::char_traits<char> >(std::ostream&, char "
             "const*)(0x1, 0x2) = 0x3",
             "call name=std::ostream& std::operator<< <char, std::char_traits<char> "
             ">(std::ostream&, char const*) (0x1, 0x2) = 0x3"},
        Case{"operator_arrow", "A::operator->(0x1) = 2", "call name=A::operator-> (0x1) = 2"},
        Case{"operator_less", "A::operator<(0x1) = 2", "call name=A::operator< (0x1) = 2"},
        Case{"an_operator_that_is_none", "my_operator(1) = 2", "call name=my_operator (1) = 2"},
        Case{"rust", "<alloc::string::String as core::fmt::Display>::fmt(0x1) = 2",
             "call name=<alloc::string::String as core::fmt::Display>::fmt (0x1) = 2"},
        Case{"lambda", "main::{lambda(int)#1}::operator()(0x1) = 2",
             "call name=main::{lambda(int)#1}::operator() (0x1) = 2"},
        Case{"flags_as_first_argument", "openat@SYS(AT_FDCWD, \"/a\", O_RDONLY, 00) = 3",
             "call name=openat@SYS (AT_FDCWD, \"/a\", O_RDONLY, 00) = 3"},
        Case{"mangled", "_ZN2at6native6conv2dEv(1) = 2",
             "call name=_ZN2at6native6conv2dEv (1) = 2"},
        Case{"caller", "libmid.so->low_add(5) = 6", "call caller=libmid.so name=low_add (5) = 6"}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(
    End, ParseLine,
    testing::Values(
        Case{"no_name", "(0x7f, 3) = 0x7f <0.000010>", "call (0x7f, 3) = 0x7f <10000>"},
        Case{"time_in_a_string", "puts(\"a <0.5> b\") = 3 <0.000010>",
             "call name=puts (\"a <0.5> b\") = 3 <10000>"},
        Case{"only_a_time_in_a_string", "puts(\"a <0.5>\") = 3",
             "call name=puts (\"a <0.5>\") = 3"},
        Case{"result_like_a_call", "getenv(\"x\") = \"a) = b\" <0.000001>",
             "call name=getenv (\"x\") = \"a) = b\" <1000>"},
        Case{"void_result", "free(0x1)                          = <void>",
             "call name=free (0x1) = <void>"},
        Case{"unwound", "qsort(0x1, 2, 4, 0x2) = <unwound> <0.000041>",
             "call name=qsort (0x1, 2, 4, 0x2) = <unwound> <41000> unwound"},
        Case{"unknown_end", "_setjmp(0x55) = ?", "call name=_setjmp (0x55) = ?"},
        Case{"an_error",
             "openat@SYS(3, \"/no\", 0, 00)   = -1 ENOENT (No such file or directory) <0.000001>",
             "call name=openat@SYS (3, \"/no\", 0, 00) = -1 ENOENT (No such file or directory) "
             "<1000>"},
        Case{"parenthesis_in_a_string", "puts(\"a)(b\") = 3", "call name=puts (\"a)(b\") = 3"},
        Case{"quote_in_a_string_of_ltrace", "puts(\"say \"hi\" ) now\") = 3",
             "call name=puts (\"say \"hi\" ) now\") = 3"},
        Case{"begun", "raise(10 <unfinished ...>", "begun name=raise (10)"},
        Case{"begun_without_arguments", "pthread_create( <unfinished ...>",
             "begun name=pthread_create ()"},
        Case{"no_return", "exit(0 <no return ...>", "no-return name=exit (0)"},
        Case{"resumed", "<... qsort resumed> )     = <void> <0.000041>",
             "resumed name=qsort () = <void> <41000>"},
        Case{"resumed_with_arguments", "<... getcwd resumed> \"/usr\", 4096) = \"/usr\"",
             "resumed name=getcwd (\"/usr\", 4096) = \"/usr\""},
        Case{"resumed_in_full", "<... foo(int) resumed> ) = 1", "resumed name=foo(int) () = 1"},
        Case{"crlf", "puts(\"a\") = 2 <0.000010>\r", "call name=puts (\"a\") = 2 <10000>"}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Other, ParseLine,
    testing::Values(
        Case{"signal", "05:41:28.639532 --- SIGUSR1 (User defined signal 1) ---",
             "signal tod=20488639532000 name=SIGUSR1 (User defined signal 1)"},
        Case{"exec", "--- Called exec() ---", "exec name=Called exec()"},
        Case{"exited", "[0xffffffffffffffff] +++ exited (status 0) +++",
             "exited name=exited (status 0)"},
        Case{"killed", "[pid 5] +++ killed by SIGKILL +++", "exited tid=5 name=killed by SIGKILL"},
        Case{"module", "+++ strcmp is in libc.so.6 +++", "module name=strcmp is in libc.so.6"},
        Case{
            "thinned", "05:41:28 +++ strlen: 53211 more calls, 0.012345678 s, not written +++",
            "thinned tod=20488000000000 name=strlen: 53211 more calls, 0.012345678 s, not written"},
        Case{"closing", "+++ sonictrace: 16 calls +++", "closing name=sonictrace: 16 calls"},
        Case{"remark", "+++ tracing 12345 (python3) +++", "remark name=tracing 12345 (python3)"},
        Case{"frame", " > libc.so.6(__libc_start_call_main+0x79) [0x7fe7ad105249]", "frame"},
        Case{"source_of_a_frame", "\t../csu/libc-start.c:360:3", "frame"},
        Case{"a_tab_and_text", "\tat line: 3 of x", "bad"}, Case{"blank", "", "blank"},
        Case{"crlf_only", "\r", "blank"}, Case{"text", "Starting server on port 80", "bad"},
        Case{"text_with_parentheses", "Loaded model (3 files)", "bad"},
        Case{"cut_in_the_name", "05:41:28.639532 str", "bad"},
        Case{"cut_in_the_time", "05:41:28.6395", "bad"},
        Case{"cut_in_the_arguments", "05:41:28.639532 puts(\"hel", "bad"},
        Case{"cut_in_the_end", "05:41:28.639532 +++ exited (st", "bad"},
        Case{"cut_at_unfinished", "raise(10 <unfinished", "bad"},
        Case{"a_parenthesis_that_is_no_call", "(see above) = 2 <0.000010>", "bad"},
        Case{"a_name_with_nul", std::string("\0\0\0puts(1) = 2", 14), "bad"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(SplitThinned, reads_calls_and_time) {
  const std::string_view text = "+++ std::f: g: 53211 more calls, 1.012345678 s, not written +++";

  const auto thinned = split_thinned(text, parse_line(text));

  EXPECT_EQ(thinned.function, "std::f: g");
  EXPECT_EQ(thinned.calls, 53211U);
  EXPECT_EQ(thinned.total_ns, 1'012'345'678U);
}

TEST(SplitThinned, reads_a_single_call) {
  const std::string_view text = "+++ puts: 1 more call, 0.000345678 s, not written +++";

  const auto thinned = split_thinned(text, parse_line(text));

  EXPECT_EQ(parse_line(text).kind, LineKind::Thinned);
  EXPECT_EQ(thinned.calls, 1U);
  EXPECT_EQ(thinned.total_ns, 345'678U);
}

TEST(SplitModule, reads_function_and_module) {
  const std::string_view text = "+++ at::native::f is in libtorch_cpu.so +++";

  const auto module = split_module(text, parse_line(text));

  EXPECT_EQ(module.function, "at::native::f");
  EXPECT_EQ(module.module, "libtorch_cpu.so");
}

} // namespace
} // namespace sonictrace::log
