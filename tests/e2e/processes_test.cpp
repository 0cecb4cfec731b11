// Child processes of every making, daemons, and programs that become others.
#include <sys/resource.h>

#include <functional>
#include <map>
#include <set>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::vector<std::string> kWays = {"fork",  "vfork",    "vfork-exit",
                                        "spawn", "clone-vm", "clone-vm-vfork"};

class Children : public TracedProgram {};

TEST_P(Children, are_left_alone_without_f) {
  for (const auto& way : kWays) {
    SCOPED_TRACE(way);
    const Traced run = traced({"--split-lines", "-e", "tr_*"}, {program("children"), way});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_EQ(printed_calls(run.ended.out, true).empty(), false);
    EXPECT_NE(run.ended.out.find("status 0x700\n"), std::string::npos) << run.ended.out;
    expect_calls(run.log.calls, printed_calls(run.ended.out));
  }
}

TEST_P(Children, are_traced_with_f) {
  for (const auto& way : kWays) {
    SCOPED_TRACE(way);
    const Traced run = traced({"-f", "--split-lines", "-e", "tr_*"}, {program("children"), way});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_NE(run.ended.out.find("status 0x700\n"), std::string::npos) << run.ended.out;
    expect_calls_in_any_order(run.log.calls,
                              printed_calls(run.ended.out) + printed_calls(run.ended.out, true));
    std::set<std::string> processes;
    for (const auto& call : run.log.calls)
      processes.insert(call.thread);
    EXPECT_EQ(processes.size(), 2u);
  }
}

/// Where processes have other numbers for themselves than the tracer has for them.
const std::vector<std::string> kUnshare = {"/usr/bin/unshare", "--pid", "--fork"};

bool has_pid_namespaces() {
  return exists(kUnshare[0]) &&
         run_program({kUnshare + std::vector<std::string>{"true"}}).exited_with(0);
}

TEST_P(Children, in_a_pid_namespace_have_the_tracers_numbers_in_the_log) {
  if (!has_pid_namespaces()) GTEST_SKIP() << "needs unshare(1), and the right to use it";
  for (const auto& way : kWays) {
    SCOPED_TRACE(way);
    const Traced run = traced({"-f", "--split-lines", "-e", "tr_*"},
                              kUnshare + std::vector<std::string>{program("children"), way});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    expect_calls_in_any_order(run.log.calls,
                              printed_calls(run.ended.out) + printed_calls(run.ended.out, true));
    std::set<std::string> processes;
    for (const auto& call : run.log.calls)
      processes.insert(call.thread);
    EXPECT_EQ(processes.size(), 2u);
    EXPECT_FALSE(processes.contains("1") || processes.contains("2")) << run.text;
  }
}

TEST_P(Children, in_a_pid_namespace_are_attached_to) {
  if (!has_pid_namespaces()) GTEST_SKIP() << "needs unshare(1), and the right to use it";
  const TemporaryDirectory directory;
  RunningProgram service({kUnshare + std::vector<std::string>{program("service"), "3"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  const pid_t pid = child_of(service.pid());
  std::set<std::string> threads;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
    threads.insert(entry.path().filename());
  const Ended ended =
      run_program({{SONICTRACE, "--engine=" + engine(), "-o", directory.path("log"), "-f", "-e",
                    "tr_*", "--max-calls=3000", "-p", std::to_string(pid)}});

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  const std::string text = read_file(directory.path("log"));
  std::set<std::string> seen;
  for (const auto& call : parse_log(text).calls)
    seen.insert(call.thread);
  EXPECT_FALSE(seen.empty());
  EXPECT_TRUE(std::includes(threads.begin(), threads.end(), seen.begin(), seen.end())) << text;
  service.write_line("stop");
  const Ended end = service.wait();
  EXPECT_TRUE(end.exited_with(0)) << end.end();
  EXPECT_TRUE(end.out.ends_with("wrong 0\n")) << end.out;
}

TEST_P(Children, in_quick_succession_give_the_right_sums) {
  for (const bool follow : {false, true}) {
    const Traced run = traced(follow ? std::vector<std::string>{"-f", "-e", "tr_*"}
                                     : std::vector<std::string>{"-e", "tr_*"},
                              {program("fork_many"), "30"});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_EQ(run.ended.out, "sum 465 wrong 0\n");
    EXPECT_EQ(run.log.of("tr_add").size(), follow ? 40u : 0u);
  }
}

/// Lowers the limits of open files of this process, and so of the tracer, for a while.
class FewFiles {
public:
  explicit FewFiles(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &old_), 0);
    const rlimit few = {most, most};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &old_); }
  FewFiles(const FewFiles&) = delete;

private:
  rlimit old_;
};

TEST_P(Children, that_have_ended_cost_the_tracer_nothing_more) {
  if (::geteuid() != 0) GTEST_SKIP() << "raising a limit again is for root";
  const FewFiles limit(120); // more than live at once, less than there are in all
  const std::string many =
      "for i in 1 2 3 4 5 6 7 8 9 10; do " + program("fork_many") + " 20; done";
  for (const bool follow : {false, true}) {
    const Traced run = traced({follow ? "-f" : "-b", "-e", "tr_*"}, {"/bin/sh", "-c", many});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_EQ(lines_of(run.ended.out), std::vector<std::string>(10, "sum 210 wrong 0"));
    EXPECT_EQ(run.ended.err.find("Too many open files"), std::string::npos) << run.ended.err;
    EXPECT_EQ(run.log.of("tr_add").size(), follow ? 270u : 0u);
  }
}

TEST_P(Children, that_become_daemons_are_traced_to_their_end) {
  const Traced run = traced({"-f", "-e", "tr_*"}, {program("daemon")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_NE(run.ended.out.find("daemon says 50\n"), std::string::npos);
  std::map<std::string, int> of_process;
  for (const auto& call : run.log.of("tr_add"))
    ++of_process[call.thread];
  ASSERT_EQ(of_process.size(), 2u);
  EXPECT_EQ(of_process.begin()->second + of_process.rbegin()->second, 101);
}

TEST_P(Children, that_become_daemons_run_unharmed_without_f) {
  const Traced run = traced({"-e", "tr_*"}, {program("daemon")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_NE(run.ended.out.find("daemon says 50\n"), std::string::npos);
  EXPECT_EQ(run.log.of("tr_add").size(), 1u);
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Children);

class Exec : public TracedProgram {
protected:
  /// What exec.c and then calls.c have printed, without the calls that it makes while it waits.
  void expect_both_programs(const Traced& run) {
    EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_TRUE(run.log.has_event("--- Called exec\\(\\) ---")) << run.text.substr(0, 2000);
    EXPECT_TRUE(run.log.has_event("\\+\\+\\+ exited \\(status 3\\) \\+\\+\\+"));
    auto logged = run.log.calls;
    std::erase_if(logged, [](const auto& call) { return call.name == "tr_nothing"; });
    auto expected = printed_calls(run.ended.out);
    std::erase(expected, "tr_nothing() = 0");
    EXPECT_GT(expected.size(), 10u);
    expect_calls(logged, expected);
  }
};

TEST_P(Exec, is_followed_from_any_thread) {
  for (const std::string way : {"main", "with-threads", "thread", "failing"}) {
    SCOPED_TRACE(way);
    expect_both_programs(traced({"--split-lines", "-e", "tr_*"},
                                {program("exec"), way, tracee("calls-pie-lazy"), "5"}));
  }
}

TEST_P(Exec, of_a_program_built_otherwise_is_followed) {
  expect_both_programs(traced({"--split-lines", "-e", "tr_*"},
                              {program("exec"), "main", tracee("calls-nopie-now"), "5"}));
}

TEST_P(Exec, of_a_script_is_followed_to_the_program) {
  const TemporaryDirectory directory;
  write_file(directory.path("script"), "#!/bin/sh\nexec \"$@\"\n", 0755);

  expect_both_programs(
      traced({"--split-lines", "-e", "tr_*"},
             {program("exec"), "main", directory.path("script"), tracee("calls-pie-lazy"), "5"}));
}

TEST_P(Exec, of_a_static_program_lets_it_run) {
  const Traced run = traced({"--split-lines", "-e", "tr_*"},
                            {program("exec"), "main", tracee("without_libc-static")});

  EXPECT_TRUE(run.ended.exited_with(6)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(printed_calls(run.ended.out).size(), 21u);
  ASSERT_EQ(run.log.calls.size(), 1u) << run.text;
  EXPECT_EQ(run.log.calls[0].name, "tr_add");
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Exec);

class Commands : public WithEngine {};

TEST_P(Commands, may_be_scripts) {
  const TemporaryDirectory directory;
  write_file(directory.path("script"),
             "#!/bin/sh\necho first\nexec '" + tracee("calls-pie-lazy") + "' \"$@\"\n", 0755);

  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {directory.path("script"), "7"});

  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end() << run.ended.err;
  EXPECT_TRUE(run.ended.out.starts_with("first\n"));
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Commands, may_be_static) {
  const Traced run = traced({}, {tracee("without_libc-static")});

  EXPECT_TRUE(run.ended.exited_with(6)) << run.ended.end() << run.ended.err;
  EXPECT_EQ(printed_calls(run.ended.out).size(), 20u);
  EXPECT_TRUE(run.log.has_event("\\+\\+\\+ exited \\(status 6\\) \\+\\+\\+")) << run.text;
}

TEST_P(Commands, are_found_by_path_and_get_their_options) {
  const TemporaryDirectory directory;
  Command how;
  how.environment = {"PATH=" + std::string(TRACEE_DIR) + ":/usr/bin:/bin"};

  const Traced run = traced({"-e", "tr_*"}, {"surroundings-pie-lazy", "-e", "--", "-p", "1"}, how);

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.err;
  EXPECT_TRUE(run.ended.out.starts_with("argument surroundings-pie-lazy\nargument -e\nargument --\n"
                                        "argument -p\nargument 1\n"))
      << run.ended.out.substr(0, 200);
}

TEST_P(Commands, that_run_on_untraced_keep_their_exit_status_where_sigchld_is_ignored) {
  const TemporaryDirectory directory;
  Command command;
  command.argv = {"/usr/bin/env",         "--ignore-signal=CHLD",   SONICTRACE,
                  "--engine=" + engine(), "--max-calls=1",          "-o",
                  directory.path("log"),  tracee("calls-pie-lazy"), "7"};

  const Ended ended = run_program(command);

  EXPECT_TRUE(ended.exited_with(3)) << ended.end() << ended.err;
  EXPECT_NE(read_file(directory.path("log")).find("--max-calls=1 reached"), std::string::npos);
}

struct End {
  const char* how;
  const char* event;
  std::function<bool(const Ended&)> is_right;
};

TEST_P(Commands, end_the_tracer_as_they_end) {
  const auto exit = [](int code) { return [code](const Ended& e) { return e.exited_with(code); }; };
  const auto death = [](int signal) {
    return [signal](const Ended& e) { return e.killed_by(signal); };
  };
  const End ends[] = {
      {"return", "exited \\(status 5\\)", exit(5)},   {"exit", "exited \\(status 77\\)", exit(77)},
      {"_exit", "exited \\(status 9\\)", exit(9)},    {"segv", "killed by SIGSEGV", death(SIGSEGV)},
      {"abort", "killed by SIGABRT", death(SIGABRT)}, {"9", "killed by SIGKILL", death(SIGKILL)},
      {"15", "killed by SIGTERM", death(SIGTERM)},    {"2", "killed by SIGINT", death(SIGINT)},
      {"4", "killed by SIGILL", death(SIGILL)}};
  for (const auto& end : ends) {
    SCOPED_TRACE(end.how);
    const Traced run = traced({"-e", "tr_*"}, {tracee("ends-pie-lazy"), end.how});

    EXPECT_TRUE(end.is_right(run.ended)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_TRUE(run.log.has_event("\\+\\+\\+ " + std::string(end.event) + " \\+\\+\\+"))
        << run.text;
    // Complete to the last call: the one it died in is open.
    EXPECT_EQ(run.log.of("tr_add").size(), 1u);
    ASSERT_EQ(run.log.of("tr_callback").size(), 1u) << run.text;
    EXPECT_EQ(run.log.of("tr_callback")[0].end, std::string(end.how) == "return"
                                                    ? LoggedCall::End::Returned
                                                    : LoggedCall::End::NoReturn);
  }
}

INSTANTIATE_OVER_ENGINES(Commands);

} // namespace
} // namespace sonictrace::test
