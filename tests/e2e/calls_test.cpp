// What is called is logged: each call that a tracee prints, in order, with arguments and result.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::vector<std::string> kPrinted = {"--split-lines", "-e", "tr_*,own_ifunc"};

class PrintedCalls : public TracedProgram {
protected:
  void expect_printed_calls_of(const std::string& path, int status) {
    const Traced run = traced(kPrinted, {path});

    EXPECT_TRUE(run.ended.exited_with(status)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_TRUE(run.log.strange.empty()) << run.log.strange.front();
    EXPECT_TRUE(run.log.has_event("\\+\\+\\+ exited \\(status " + std::to_string(status) +
                                  "\\) \\+\\+\\+"));
    expect_calls(run.log.calls, printed_calls(run.ended.out));
  }
};

TEST_P(PrintedCalls, in_a_row_are_logged) { expect_printed_calls_of(program("calls"), 3); }
TEST_P(PrintedCalls, from_callbacks_are_logged) {
  expect_printed_calls_of(program("callbacks"), 0);
}
TEST_P(PrintedCalls, that_jump_on_through_the_plt_are_logged) {
  expect_printed_calls_of(program("tail_call"), 0);
}
TEST_P(PrintedCalls, of_ifuncs_are_logged_under_their_names) {
  expect_printed_calls_of(program("indirect_functions"), 0);
}
TEST_P(PrintedCalls, of_two_versions_of_a_name_are_logged) {
  expect_printed_calls_of(program("versions"), 0);
}
TEST_P(PrintedCalls, around_main_are_logged) {
  expect_printed_calls_of(program("constructors"), 0);
}

TEST_P(PrintedCalls, of_a_function_whose_address_is_taken_are_logged) {
  const Traced run = traced({"--split-lines", "-e", "tr_twice"}, {program("address_taken")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  // Its calls by pointer come last, and may be seen or not.
  auto calls = run.log.calls;
  while (!calls.empty() && calls.back().arguments.at(0).size() == 3)
    calls.pop_back();
  EXPECT_LE(run.log.calls.size() - calls.size(), 2u);
  expect_calls(calls, printed_calls(run.ended.out));
}

TEST_P(PrintedCalls, are_the_same_when_the_environment_binds_now) {
  Command how;
  how.environment = {"LD_BIND_NOW=1"};
  const Traced run = traced(kPrinted, {program("calls")}, how);

  ASSERT_TRUE(run.ended.exited_with(3)) << run.ended.end();
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(PrintedCalls, appear_whole_with_the_times_of_their_entries) {
  const Traced run = traced({"-T", "-ttt", "--ns", "-e", "tr_*"}, {program("callbacks")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end();
  auto calls = run.log.calls;
  EXPECT_EQ(run.text.find("<unfinished"), std::string::npos);
  for (const auto& call : calls) {
    ASSERT_FALSE(call.time.empty());
    ASSERT_FALSE(call.spent.empty());
  }
  // A line stands where its call returned; by the times of the entries, it is the printed order.
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return a.time < b.time; // as many digits each; a double has too few of them
  });
  EXPECT_EQ(calls.back().name, "tr_add");
  expect_calls_in_any_order(run.log.calls, printed_calls(run.ended.out));
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(PrintedCalls);

/// Other linkers, compilers and options; programs that are not there say why.
struct Shape {
  const char* program;
  int status;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.program; }

class OtherShapes : public testing::TestWithParam<std::tuple<std::string, Shape>> {};

TEST_P(OtherShapes, are_logged_as_they_are_printed) {
  const auto& [engine, shape] = GetParam();
  if (!exists(tracee(shape.program))) GTEST_SKIP() << "its compiler or linker is not installed";

  const Traced run = trace(engine, kPrinted, {tracee(shape.program)});

  EXPECT_TRUE(run.ended.exited_with(shape.status)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_TRUE(run.log.strange.empty()) << run.log.strange.front();
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

INSTANTIATE_TEST_SUITE_P(
    E2e, OtherShapes,
    testing::Combine(testing::ValuesIn(kEngines),
                     testing::Values(Shape{"calls-ibt-pie-lazy", 3}, Shape{"calls-ibt-pie-now", 3},
                                     Shape{"calls-ibt-nopie-lazy", 3},
                                     Shape{"calls-ibt-nopie-now", 3}, Shape{"calls-gold-lazy", 3},
                                     Shape{"calls-gold-now", 3}, Shape{"calls-lld-lazy", 3},
                                     Shape{"calls-lld-now", 3}, Shape{"calls-lld-nopie-lazy", 3},
                                     Shape{"calls-lld-nopie-now", 3},
                                     Shape{"calls-lld-ibt-lazy", 3}, Shape{"calls-lld-ibt-now", 3},
                                     Shape{"calls-lld-retpoline-lazy", 3},
                                     Shape{"calls-lld-retpoline-now", 3},
                                     Shape{"calls-mold-lazy", 3}, Shape{"calls-mold-now", 3},
                                     Shape{"calls-noplt", 3}, Shape{"calls-noplt-nopie", 3},
                                     Shape{"calls-noplt-optimised", 3}, Shape{"calls-optimised", 3},
                                     Shape{"calls-stripped", 3}, Shape{"calls-packed", 3},
                                     Shape{"calls-rust", 0}, Shape{"hoisted-gcc", 0},
                                     Shape{"hoisted-clang", 0}, Shape{"hoisted-clang-nopie", 0},
                                     Shape{"musl/calls-pie", 3}, Shape{"musl/calls-no-pie", 3})),
    [](const auto& tested) {
      return as_test_name(std::get<0>(tested.param) + "_" + std::get<1>(tested.param).program);
    });

class Entries : public WithEngine {};

TEST_P(Entries, of_a_librarys_function_are_logged_once_for_each_call) {
  const Traced run =
      traced({"--split-lines", "-L", "-x", "tr_add@libtracee.so"}, {tracee("calls-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(3)) << run.ended.end() << run.ended.err;
  std::vector<std::string> expected;
  for (const auto& call : printed_calls(run.ended.out))
    if (call.starts_with("tr_add(")) expected.push_back(call);
  expect_calls(run.log.calls, expected);
  for (const auto& call : run.log.calls)
    EXPECT_EQ(call.module, "libtracee.so");
}

TEST_P(Entries, of_static_and_dynamic_programs_own_functions_are_logged) {
  for (const char* program : {"without_libc-pie", "without_libc-static", "without_libc-static-pie",
                              "musl/without_libc-static"}) {
    SCOPED_TRACE(program);
    if (!exists(tracee(program))) continue; // no musl here
    const Traced run = traced({"--split-lines", "-L", "-x", "work_*"}, {tracee(program)});

    EXPECT_TRUE(run.ended.exited_with(6)) << run.ended.end() << run.ended.err;
    expect_calls(run.log.calls, printed_calls(run.ended.out));
  }
}

TEST_P(Entries, and_calls_of_one_function_show_both) {
  const Traced run =
      traced({"--split-lines", "-e", "tr_twice", "-x", "tr_twice"}, {tracee("calls-pie-now")});

  ASSERT_TRUE(run.ended.exited_with(3)) << run.ended.end() << run.ended.err;
  ASSERT_EQ(run.log.calls.size(), 2u);
  for (const auto& call : run.log.calls) {
    EXPECT_EQ(call.name, "tr_twice");
    EXPECT_EQ(call.arguments.at(0), "21");
    EXPECT_EQ(call.result, "42");
  }
}

INSTANTIATE_OVER_ENGINES(Entries);

class LogOptions : public WithEngine {};

TEST_P(LogOptions, n_indents_by_depth) {
  const Traced run =
      traced({"--split-lines", "-n", "2", "-e", "tr_*"}, {tracee("calls-pie-lazy"), "0"});

  ASSERT_TRUE(run.ended.exited_with(3));
  EXPECT_NE(run.text.find("\ntr_twice(") == std::string::npos && !run.text.starts_with("tr_twice("),
            true)
      << run.text;
  EXPECT_NE(run.text.find("\n  tr_add(21, 21"), std::string::npos) << run.text;
}

TEST_P(LogOptions, i_shows_where_the_call_returns_to) {
  const Traced run =
      traced({"--split-lines", "-i", "-e", "tr_*"}, {tracee("calls-nopie-lazy"), "5"});

  ASSERT_TRUE(run.ended.exited_with(3));
  int with_address = 0;
  for (const auto& line : lines_of(run.text))
    with_address += std::regex_search(line, std::regex("^\\[0x4[0-9a-f]{5}\\] tr_"));
  EXPECT_GE(with_address, 10) << run.text;
}

TEST_P(LogOptions, a_puts_the_equals_sign_into_its_column) {
  const Traced run = traced({"-a", "70", "-e", "tr_compare"}, {tracee("calls-pie-lazy"), "0"});

  ASSERT_EQ(run.log.calls.size(), 1u);
  EXPECT_EQ(lines_of(run.text).at(0).find("= "), 69u) << run.text;
}

TEST_P(LogOptions, time_stamps_have_ltraces_forms) {
  const struct {
    const char* option;
    const char* pattern;
  } cases[] = {{"-t", R"(^\d\d:\d\d:\d\d tr_)"},
               {"-tt", R"(^\d\d:\d\d:\d\d\.\d{6} tr_)"},
               {"-ttt", R"(^\d{10}\.\d{6} tr_)"},
               {"-r", R"(^ *\d+\.\d{6} tr_)"}};
  for (const auto& tested : cases) {
    const Traced run = traced({tested.option, "-e", "tr_compare"}, {tracee("calls-pie-lazy"), "0"});
    EXPECT_TRUE(std::regex_search(run.text, std::regex(tested.pattern)))
        << tested.option << run.text;
  }
  const Traced fine =
      traced({"--ns", "-T", "-ttt", "-e", "tr_compare"}, {tracee("calls-pie-lazy"), "0"});
  EXPECT_TRUE(std::regex_search(fine.text, std::regex(R"(^\d{10}\.\d{9} tr_.* <\d\.\d{9}>\n)")))
      << fine.text;
}

TEST_P(LogOptions, max_depth_leaves_out_what_is_nested_deeper) {
  const Traced run = traced({"--max-depth=1", "-e", "tr_*"}, {tracee("callbacks-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(0));
  EXPECT_EQ(run.log.of("tr_callback").size(), 20u);
  EXPECT_EQ(run.log.of("tr_add").size(), 0u);
}

TEST_P(LogOptions, min_time_leaves_out_the_short_and_counts_them) {
  const Traced run = traced({"--min-time=100s", "-e", "tr_*"}, {tracee("calls-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(3));
  EXPECT_TRUE(run.log.calls.empty());
  EXPECT_TRUE(std::regex_search(run.text, std::regex("\\b57\\b"))) << run.text;
}

TEST_P(LogOptions, what_is_left_out_is_counted_in_each_form_of_log) {
  const std::vector<std::vector<std::string>> forms = {{}, {"--split-lines"}, {"-c"}};
  for (const auto& form : forms) {
    SCOPED_TRACE(form.empty() ? "whole" : form[0]);
    const Traced deep =
        traced(form + std::vector<std::string>{"--max-depth=1", "-e", "tr_callback+tr_add"},
               {tracee("callbacks-pie-lazy")});
    EXPECT_NE(deep.text.find(" 60 calls,"), std::string::npos) << deep.text;
    EXPECT_NE(deep.text.find(" 40 calls deeper than 1 not written"), std::string::npos)
        << deep.text;
    const Traced brief =
        traced(form + std::vector<std::string>{"--min-time=100s", "-e", "tr_callback+tr_add"},
               {tracee("callbacks-pie-lazy")});
    EXPECT_NE(brief.text.find(" 60 calls shorter than 100"), std::string::npos) << brief.text;
  }
}

TEST_P(LogOptions, max_calls_stops_the_trace_and_not_the_program) {
  const Traced run = traced({"--max-calls=10", "-e", "tr_*"}, {tracee("calls-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(3)) << run.ended.end();
  EXPECT_EQ(printed_calls(run.ended.out).size(), 57u);
  EXPECT_EQ(run.log.calls.size(), 10u) << run.text;
  EXPECT_TRUE(std::regex_search(run.text, std::regex("max-calls"))) << run.text;
}

TEST_P(LogOptions, max_log_size_stops_the_trace_and_not_the_program) {
  const Traced run =
      traced({"--max-log-size=2K", "-e", "tr_*"}, {tracee("calls-pie-lazy"), "2000"});

  ASSERT_TRUE(run.ended.exited_with(3)) << run.ended.end();
  EXPECT_EQ(printed_calls(run.ended.out).size(), 2007u);
  EXPECT_LT(run.text.size(), 100000u);
  EXPECT_GT(run.log.calls.size(), 5u);
  EXPECT_TRUE(std::regex_search(run.text, std::regex("max-log-size"))) << run.text;
}

TEST_P(LogOptions, the_modules_of_the_functions_stand_at_the_end_and_the_closing_line_is_last) {
  const Traced run = traced({"-e", "tr_*"}, {tracee("calls-pie-lazy")});

  EXPECT_TRUE(run.log.has_event(R"(\+\+\+ tr_add is in libtracee\.so \+\+\+)")) << run.text;
  EXPECT_TRUE(run.log.has_event(R"(\+\+\+ tr_twice is in libtracee\.so \+\+\+)"));
  ASSERT_FALSE(run.log.events.empty());
  EXPECT_TRUE(run.log.events.back().starts_with("+++ sonictrace: ")) << run.log.events.back();
  EXPECT_TRUE(run.text.ends_with("+++\n"));
}

TEST_P(LogOptions, an_empty_log_has_a_reason) {
  const Traced run = traced({"-e", "no_such_function"}, {tracee("calls-pie-lazy")});

  ASSERT_TRUE(run.ended.exited_with(3));
  EXPECT_TRUE(run.log.calls.empty());
  EXPECT_NE(run.ended.err.find("no_such_function"), std::string::npos) << run.ended.err;
}

TEST_P(LogOptions, without_o_the_log_is_on_stderr_and_the_output_untouched) {
  Command how;
  how.argv = {SONICTRACE, "--engine=" + engine(), "-e", "tr_*", tracee("calls-pie-lazy")};
  const Ended ended = run_program(how);

  ASSERT_TRUE(ended.exited_with(3));
  const Log log = parse_log(ended.err);
  expect_calls(log.calls, printed_calls(ended.out));
}

INSTANTIATE_OVER_ENGINES(LogOptions);

} // namespace
} // namespace sonictrace::test
