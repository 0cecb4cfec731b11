// The trap programs: what a tracer that lives inside a process trips over. Each runs untraced, with
// a log and with a table; it prints and ends alike, and all calls that it counted itself are there.
#include "counted.hpp"

namespace sonictrace::test {
namespace {

/// How a program is traced, and what is asked of it.
struct Trap {
  std::vector<std::string> argv;
  std::vector<std::string> options = {}; ///< none: every call of the main program
  bool with_children = false;            ///< their calls are expected as well
  std::vector<std::string> environment = {};
  std::vector<std::string> only = {}; ///< the functions that are counted; none: all
  /// The inline engine may lose calls, and says how many: of a record that a handler has jumped out
  /// of, and where it may not read the clock.
  bool may_lose = false;
};

class Traps : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
  static std::string engine() { return std::get<0>(GetParam()); }
  static bool is_inline() { return engine() == "inline"; }
  static std::string program(const std::string& name) {
    return tracee(name + "-" + std::get<1>(GetParam()));
  }
  /// As many as the engine can do in a second or two.
  static std::string size(long inline_engine, long breakpoints) {
    return std::to_string(is_inline() ? inline_engine : breakpoints);
  }

  /// Calls that are not in the log are counted as lost.
  static void expect_all_accounted_for(const std::string& log, const OwnAccount& account) {
    std::smatch found;
    const std::string last = lines_of(log).empty() ? "" : lines_of(log).back();
    ASSERT_TRUE(std::regex_search(last, found, std::regex("(\\d+) calls?, .* (\\d+) lost call")))
        << last;
    long made = 0;
    for (const auto& [name, count] : account.of_first)
      made += static_cast<long>(count);
    EXPECT_GE(std::stol(found[1]) + std::stol(found[2]), made) << last;
  }

  void expect_harmless(const Trap& trap) {
    Command command{trap.argv, trap.environment};
    command.limit = std::chrono::seconds(120);
    const Ended untraced = run_program(command);
    ASSERT_FALSE(untraced.timed_out);
    const OwnAccount wanted = own_account(untraced.out);
    for (const bool table : {false, true}) {
      SCOPED_TRACE(table ? "with a table" : "with a log");
      const TemporaryDirectory directory;
      Command traced = command;
      traced.argv = std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-o",
                                             directory.path("log")} +
                    trap.options;
      if (table) traced.argv.push_back("-c");
      if (trap.with_children) traced.argv.push_back("-f");
      traced.argv = traced.argv + trap.argv;
      const Ended ended = run_program(traced);
      const std::string log = read_file(directory.path("log"));

      const OwnAccount account = own_account(ended.out);
      ASSERT_EQ(ended.end(), untraced.end()) << ended.err;
      EXPECT_EQ(account.other, wanted.other);
      if (trap.may_lose && is_inline()) {
        expect_all_accounted_for(log, account);
        continue;
      }
      EXPECT_EQ(ended.err, untraced.err);
      const auto lines = lines_of(log);
      ASSERT_FALSE(lines.empty());
      Counts expected =
          trap.with_children ? account.of_first + account.of_children : account.of_first;
      if (!trap.only.empty())
        std::erase_if(expected, [&](const auto& one) {
          return std::find(trap.only.begin(), trap.only.end(), one.first) == trap.only.end();
        });
      // What never returned is in the log, and as in ltrace's, not in the table.
      if (table)
        expect_counts(calls_in_table(log), expected, account.slack, account.open);
      else
        expect_counts(calls_in_log(log), expected, account.slack);
      EXPECT_TRUE(std::regex_search(log, std::regex(" 0 lost calls"))) << lines.back();
    }
  }
};

TEST_P(Traps, exceptions_through_c_nested_and_rethrown) {
  expect_harmless({{program("trap_exceptions"), size(20000, 200)}});
}

TEST_P(Traps, a_hundred_thousand_throws) {
  expect_harmless({{program("trap_exceptions"), size(100000, 2000)}, {"-e", "tp_*,qsort"}});
}

TEST_P(Traps, throws_under_a_flood_of_signals_whose_handler_throws) {
  expect_harmless({{program("trap_throw_signals"), size(30000, 100), size(20, 3000)},
                   {"-e", "tp_*,__cxa_throw"}});
}

TEST_P(Traps, threads_cancelled_at_points_and_anywhere) {
  Trap trap{{program("trap_cancel"), size(200, 60)}};
  trap.may_lose = true;
  expect_harmless(trap);
}

TEST_P(Traps, coroutines_in_any_order_and_given_up) {
  expect_harmless({{program("trap_coroutines"), "one-thread", size(300, 10)}});
}

TEST_P(Traps, coroutines_that_change_threads) {
  expect_harmless({{program("trap_coroutines"), "two-threads", size(300, 10)}});
}

TEST_P(Traps, a_flood_of_signals) {
  expect_harmless(
      {{program("trap_signals"), "plain", size(3000, 300), size(50, 3000)}, {"-e", "tp_*"}});
}

TEST_P(Traps, a_flood_of_signals_on_a_stack_of_their_own) {
  expect_harmless(
      {{program("trap_signals"), "stack", size(3000, 300), size(50, 3000)}, {"-e", "tp_*"}});
}

TEST_P(Traps, handlers_that_jump_out_of_what_they_interrupted) {
  Trap trap{{program("trap_signals"), "jump", size(3000, 300), size(50, 3000)}, {"-e", "tp_*"}};
  trap.may_lose = true;
  expect_harmless(trap);
}

TEST_P(Traps, chains_of_tail_calls_with_results) {
  expect_harmless({{program("trap_tail"), size(5000, 100)}, {"-e", "tp_*"}});
}

TEST_P(Traps, chains_of_tail_calls_of_which_only_the_last_is_traced) {
  Trap trap{{program("trap_tail"), size(5000, 100)}, {"-e", "tp_tail_3,tp_one"}};
  trap.only = {"tp_tail_3", "tp_one"};
  expect_harmless(trap);
}

TEST_P(Traps, a_hundred_thousand_levels_of_recursion) {
  expect_harmless({{program("trap_recursion"), size(100000, 10000)}, {"-e", "tp_*"}});
}

TEST_P(Traps, vector_registers_are_kept) {
  expect_harmless({{program("trap_vector"), size(10000, 300)}});
  const Ended untraced = run_program({{program("trap_vector"), "1"}});
  if (untraced.out.find("avx512 0") != std::string::npos)
    GTEST_SKIP() << "this processor has no AVX-512: only what it has was tested";
}

TEST_P(Traps, results_and_arguments_of_every_class) {
  expect_harmless({{program("trap_values"), size(5000, 100)}});
}

TEST_P(Traps, a_seccomp_filter_that_kills_at_mmap_and_threads_after_it) {
  // The filter may come between the look whether there is one and the mmap that breakpoints need.
  if (!is_inline()) GTEST_SKIP() << "breakpoints need a page of the program, at any time";
  expect_harmless({{program("trap_seccomp"), "filter", size(100000, 1000)}, {"-e", "tp_*"}});
}

TEST_P(Traps, the_strict_mode_of_seccomp) {
  Trap trap{{program("trap_seccomp"), "strict", size(100000, 1000)}, {"-e", "tp_*"}};
  trap.may_lose = true;
  expect_harmless(trap);
}

TEST_P(Traps, a_time_stamp_counter_that_is_taken_away) {
  for (const auto* how : {"call", "instruction"}) {
    SCOPED_TRACE(how);
    Trap trap{{program("trap_clock"), how, size(100000, 1000)}, {"-e", "tp_*"}};
    trap.may_lose = true;
    expect_harmless(trap);
  }
}

TEST_P(Traps, a_process_that_has_no_time_stamp_counter) {
  const TemporaryDirectory directory;
  const Command command{{program("trap_clock"), "first", "500"}};
  RunningProgram clockless(command, true);
  ASSERT_TRUE(clockless.read_until("ready"));
  const Command attach{{SONICTRACE, "--engine=" + engine(), "-o", directory.path("log"), "-e",
                        "tp_*", "-p", std::to_string(clockless.pid())}};
  RunningProgram attached(attach);
  ASSERT_TRUE(wait_until([&] {
    return !changed_code(clockless.pid()).empty() || !attached.is_running();
  })) << attached.errors_so_far();
  clockless.write_line("");
  const Ended ended = clockless.wait(), tracer = attached.wait();

  EXPECT_TRUE(ended.exited_with(5)) << ended.end();
  EXPECT_TRUE(tracer.exited_with(0)) << tracer.err;
  EXPECT_EQ(tracer.err.find("PR_SET_TSC") != std::string::npos, is_inline()) << tracer.err;
  expect_counts(calls_in_log(read_file(directory.path("log"))), own_account(ended.out).of_first, 0);
}

TEST_P(Traps, children_of_fork_are_left_alone) {
  expect_harmless(
      {{program("trap_fork"), size(10000, 100), tracee("libtrap_plug.so")}, {"-e", "tp_*"}});
}

TEST_P(Traps, children_of_fork_are_followed) {
  expect_harmless(
      {{program("trap_fork"), size(10000, 100), tracee("libtrap_plug.so")}, {"-e", "tp_*"}, true});
}

TEST_P(Traps, two_thousand_threads_at_once) {
  expect_harmless({{program("trap_threads"), "at-once", "2000", size(100, 5)}, {"-e", "tp_*"}});
}

TEST_P(Traps, threads_whose_memory_is_used_again) {
  expect_harmless({{program("trap_threads"), "short", size(6000, 1000), "5"}, {"-e", "tp_*"}});
}

TEST_P(Traps, calls_in_children_of_vfork) {
  expect_harmless({{program("trap_exec"), "vfork", size(200, 40)}, {"-e", "tp_*"}});
}

TEST_P(Traps, calls_in_children_of_vfork_that_are_followed) {
  expect_harmless({{program("trap_exec"), "vfork", size(200, 40)}, {"-e", "tp_*"}, true});
}

TEST_P(Traps, a_chain_of_exec) {
  expect_harmless({{program("trap_exec"), "chain", "20"}, {"-e", "tp_*"}});
}

TEST_P(Traps, plug_ins_loaded_and_dropped_while_threads_call) {
  expect_harmless({{program("trap_dlopen"), "loop", size(60, 40), tracee("libtrap_plug.so"),
                    tracee("libtrap_plug_now.so")},
                   {"-e", "tp_*"}});
}

TEST_P(Traps, plug_ins_in_name_spaces_of_their_own) {
  expect_harmless({{program("trap_dlopen"), "spaces", "12", tracee("libtrap_plug.so"),
                    tracee("libtrap_plug_now.so")},
                   {"-e", "tp_*"}});
}

TEST_P(Traps, faults_that_the_program_repairs_and_texts_that_can_not_be_read) {
  const TemporaryDirectory directory;
  write_file(directory.path("traps.conf"), "addr tp_text(string);\n");
  expect_harmless({{program("trap_faults"), size(500, 20)}, {"-F", directory.path("traps.conf")}});
}

TEST_P(Traps, a_collector_that_looks_in_registers) {
  SKIP_WITHOUT(exists(program("trap_collector")), "libgc-dev");
  expect_harmless({{program("trap_collector"), "40"}});
}

TEST_P(Traps, the_programs_own_backtrace) { expect_harmless({{program("trap_walkers")}}); }

const std::vector<std::string> kTrapVariants = {"pie-lazy", "nopie-now", "noplt"};
INSTANTIATE_TEST_SUITE_P(
    E2e, Traps, testing::Combine(testing::ValuesIn(kEngines), testing::ValuesIn(kTrapVariants)),
    [](const auto& tested) {
      return as_test_name(std::get<0>(tested.param) + "_" + std::get<1>(tested.param));
    });

class StaticTrap : public WithEngine {};

TEST_P(StaticTrap, a_static_program_with_threads_exceptions_and_a_child) {
  const Ended untraced = run_program({{tracee("trap_static")}});
  const Traced run = traced({"-f", "--quiet"}, {tracee("trap_static")});
  EXPECT_TRUE(untraced.exited_with(6)) << untraced.end();
  EXPECT_EQ(run.ended.end(), untraced.end()) << run.ended.err;
  EXPECT_EQ(run.ended.out, untraced.out);
  EXPECT_TRUE(run.log.has_event("\\+\\+\\+ exited \\(status 6\\) \\+\\+\\+")) << run.text;
}

INSTANTIATE_OVER_ENGINES(StaticTrap);

/// Interpreters, with no filter where that is affordable: a breakpoint at each of the millions of
/// calls they make isn't.
class Interpreters : public WithEngine {
protected:
  static std::string script(const std::string& name) {
    return std::string(SOURCE_DIR) + "/tests/tracees/" + name;
  }
  void expect_harmless(const std::vector<std::string>& argv, const std::string& affordable) {
    Command command;
    command.argv = argv;
    command.limit = std::chrono::seconds(140);
    command.environment = {"HOME=" + home_.path(), "GUILE_AUTO_COMPILE=0"};
    const Ended untraced = run_program(command);
    ASSERT_TRUE(untraced.exited_with(0)) << untraced.end() << untraced.err;
    std::vector<std::string> all = {"--quiet"};
    // From every module: in ruby and guile the program itself makes hardly a call.
    all = all + std::vector<std::string>{"-e", engine() == "inline" ? "*" : affordable};
    for (const bool table : {false, true}) {
      SCOPED_TRACE(table ? "with a table" : "with a log");
      const Traced run =
          trace(engine(), table ? all + std::vector<std::string>{"-c"} : all, argv, command);
      EXPECT_EQ(run.ended.end(), untraced.end()) << run.ended.err;
      EXPECT_EQ(run.ended.out, untraced.out);
      EXPECT_EQ(run.ended.err, untraced.err);
      EXPECT_FALSE((table ? calls_in_table(run.text) : calls_in_log(run.text)).empty());
    }
  }

  TemporaryDirectory home_;
};

TEST_P(Interpreters, ruby_that_collects_at_each_allocation) {
  SKIP_WITHOUT(exists("/usr/bin/ruby"), "ruby");
  expect_harmless({"/usr/bin/ruby", script("trap.rb"), "stress"},
                  "pthread_*,getenv,sigaltstack,mmap*");
}

TEST_P(Interpreters, ruby_with_all_its_calls) {
  SKIP_WITHOUT(exists("/usr/bin/ruby"), "ruby");
  expect_harmless({"/usr/bin/ruby", script("trap.rb")}, "pthread_*,setjmp,_setjmp,longjmp,mem*");
}

TEST_P(Interpreters, node_with_workers) {
  SKIP_WITHOUT(exists("/usr/bin/node"), "node");
  expect_harmless({"/usr/bin/node", script("trap.js")},
                  "pthread_create,pthread_join,sem_post,epoll_*,open*,mmap*");
}

TEST_P(Interpreters, python_with_greenlets) {
  SKIP_WITHOUT(exists("/usr/bin/python3") &&
                   run_program({{"/usr/bin/python3", "-c", "import greenlet"}}).exited_with(0),
               "python3-greenlet");
  expect_harmless({"/usr/bin/python3", script("trap_greenlet.py")}, "mem*,Py*@*greenlet*");
}

TEST_P(Interpreters, guile_with_continuations) {
  SKIP_WITHOUT(exists("/usr/bin/guile"), "guile");
  expect_harmless({"/usr/bin/guile", "--no-auto-compile", script("trap.scm")},
                  "GC_*-GC_malloc_kind,str*,_setjmp");
}

TEST_P(Interpreters, java_with_null_pointers) {
  SKIP_WITHOUT(exists("/usr/bin/java") && exists("/usr/bin/javac"), "a JDK");
  const TemporaryDirectory classes;
  const Ended compiled =
      run_program({{"/usr/bin/javac", "-d", classes.path(), script("Trap.java")}});
  ASSERT_TRUE(compiled.exited_with(0)) << compiled.err;
  expect_harmless({"/usr/bin/java", "-Xmx64m", "-cp", classes.path(), "Trap"},
                  "pthread_create,pthread_sigmask,mmap*,mprotect,sig*,open*");
}

INSTANTIATE_OVER_ENGINES(Interpreters);

} // namespace
} // namespace sonictrace::test
