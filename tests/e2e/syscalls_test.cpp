// System calls: every one is seen, in its order, with its arguments and its result, and none of our
// own.
#include <map>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::vector<std::string> kOnlyCalls = {"-S", "-L", "--split-lines"};

/// Names of system calls, by thread in the order in which the threads begin, `NAME` or `NAME =
/// ERROR`.
using CallsByThread = std::vector<std::vector<std::string>>;

bool is_left_out(const std::string& name) {
  // Whether a lock is contended is chance.
  return name == "futex" || name == "restart_syscall";
}

/// Groups `PID NAME...` lines of a log, of ours or of strace's.
CallsByThread by_thread(const std::string& text, const std::regex& begin, bool with_first_execve) {
  std::map<std::string, std::size_t> threads;
  CallsByThread calls;
  std::smatch found;
  for (const auto& line : lines_of(text)) {
    if (!std::regex_search(line, found, begin)) continue;
    const auto [thread, is_new] = threads.emplace(found[1], calls.size());
    if (is_new) calls.emplace_back();
    if (with_first_execve) { // of the tracer's own child: before we begin
      with_first_execve = false;
      continue;
    }
    if (!is_left_out(found[2])) calls[thread->second].push_back(found[2]);
  }
  return calls;
}

CallsByThread of_strace(const std::vector<std::string>& program, const Command& how = {}) {
  const TemporaryDirectory directory;
  Command command = how;
  command.argv = std::vector<std::string>{"strace", "-f", "-o", directory.path("log")} + program;
  const Ended ended = run_program(command);
  EXPECT_FALSE(ended.timed_out);
  static const std::regex begin(R"(^(\d+) +(\w+)\()");
  return by_thread(read_file(directory.path("log")), begin, true);
}

CallsByThread of_log(const std::string& text) {
  static const std::regex begin(R"(^(\d+) (\w+)@SYS\()");
  return by_thread(text, begin, false);
}

bool has_strace() { return exists("/usr/bin/strace") || exists("/usr/local/bin/strace"); }

/// The lines of calls behind the first getpgid up to the last one, which mark them: `NAME(...) =
/// RESULT`.
std::vector<std::string> marked_calls(const std::string& text) {
  static const std::regex blanks(R"( += )");
  std::vector<std::string> lines;
  std::vector<std::size_t> marks;
  for (auto line : lines_of(text)) {
    const auto module = line.find("@SYS(");
    if (module == std::string::npos) continue;
    line.erase(module, 4);
    if (line.starts_with("getpgid(")) marks.push_back(lines.size());
    lines.push_back(std::regex_replace(line, blanks, " = "));
  }
  if (marks.size() < 2) return {};
  return {lines.begin() + static_cast<std::ptrdiff_t>(marks.front()) + 1,
          lines.begin() + static_cast<std::ptrdiff_t>(marks.back())};
}

/// Without times, pids and the like: each line from its first letter on.
std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> some;
  for (const auto& line : lines_of(text))
    if (line.find(part) != std::string::npos) some.push_back(line);
  return some;
}

class SystemCalls : public WithEngine {};

TEST_P(SystemCalls, are_logged_with_the_arguments_and_results_that_the_program_says) {
  const TemporaryDirectory directory;
  const auto run = traced(kOnlyCalls + std::vector<std::string>{"-s", "64"},
                          {tracee("syscalls-pie"), "all", directory.path("d")});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  const auto expected = lines_of(run.ended.out);
  const auto logged = marked_calls(run.text);
  ASSERT_GT(expected.size(), 80u);
  for (std::size_t i = 0; i < std::min(expected.size(), logged.size()); ++i)
    EXPECT_EQ(logged[i], expected[i]) << "call " << i;
  EXPECT_EQ(logged.size(), expected.size());
}

TEST_P(SystemCalls, that_are_young_have_names_and_unknown_ones_their_numbers) {
  const auto run = traced(kOnlyCalls, {tracee("syscalls-pie"), "young"});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end();
  EXPECT_EQ(marked_calls(run.text), lines_of(run.ended.out));
}

TEST_P(SystemCalls, of_i386_in_a_64_bit_program_go_by_their_own_numbers) {
  const auto run = traced(kOnlyCalls, {tracee("syscalls-pie"), "i386"});

  ASSERT_TRUE(run.ended.exited_with(0)) << run.ended.end();
  if (run.ended.out.find("= -1 ENOSYS") == 0) GTEST_SKIP() << "a kernel without int 0x80";
  EXPECT_EQ(marked_calls(run.text), lines_of(run.ended.out));
}

TEST_P(SystemCalls, are_those_that_strace_shows_one_by_one) {
  if (!has_strace()) GTEST_SKIP() << "no strace here";
  const TemporaryDirectory directory;
  const std::string syscalls = tracee("syscalls-pie");
  const std::vector<std::vector<std::string>> programs = {
      {syscalls, "all", directory.path("d")},
      {syscalls, "i386"},
      {syscalls, "interrupted"},
      {syscalls, "family"},
      {syscalls, "filtered"},
      {"/usr/bin/python3", "-c", "print(1)"},
      {"/bin/sh", "-c", "/bin/ls / | /bin/cat; /bin/true & wait"},
      {tracee("without_libc-static")},
  };
  for (const auto& program : programs) {
    CallsByThread expected, logged;
    Traced run;
    // A shell looks for children that have ended or waits for them: that may differ once, not
    // always.
    for (int attempt = 0; attempt < 8; ++attempt) {
      expected = of_strace(program);
      run = traced(kOnlyCalls + std::vector<std::string>{"-f"}, program);
      logged = of_log(run.text);
      // Which of two children begins first is chance.
      std::sort(expected.begin(), expected.end());
      std::sort(logged.begin(), logged.end());
      if (logged == expected) break;
    }
    const auto what = program[0] + " " + (program.size() > 1 ? program[1] : "");
    ASSERT_EQ(logged.size(), expected.size()) << what << "\n" << run.ended.err;
    for (std::size_t thread = 0; thread < expected.size(); ++thread)
      EXPECT_EQ(logged[thread], expected[thread]) << what << ", thread " << thread;
  }
}

TEST_P(SystemCalls, stand_inside_the_library_call_that_makes_them) {
  const auto run = traced({"-S", "--split-lines", "-n", "2", "-e", "getcwd"},
                          {"/bin/sh", "-c", "cd /usr; pwd -P"});

  const auto text = run.text;
  static const std::regex nested(
      R"(getcwd\([^\n]* <unfinished \.\.\.>\n  getcwd@SYS\("/usr", \d+\) += 5\n<\.\.\. getcwd resumed>)");
  EXPECT_TRUE(std::regex_search(text, nested)) << text;
}

TEST_P(SystemCalls, leave_out_what_the_tracer_has_the_program_do) {
  // Breakpoints on library calls need a page, which the program itself is made to map.
  const auto count = [](const Traced& run, const std::string& name) {
    return run.log.of(name).size();
  };
  const auto with =
      traced({"-S", "--split-lines", "-e", "tr_*+malloc+memcpy"}, {tracee("calls-pie-now")});
  const auto without = traced({"-S", "--split-lines", "-L"}, {tracee("calls-pie-now")});

  EXPECT_FALSE(with.log.of("tr_add").empty());
  for (const auto* name :
       {"mmap", "munmap", "rt_sigaction", "rt_sigprocmask", "mprotect", "tgkill"})
    EXPECT_EQ(count(with, name), count(without, name)) << name;
}

TEST_P(SystemCalls, of_a_program_that_sets_sigtrap_are_all_there) {
  // The engine looks closely at these itself.
  const auto with = traced({"-S", "--split-lines", "-e", "tr_*"}, {tracee("own_traps-pie-now")});
  const auto without = traced({"-S", "--split-lines", "-L"}, {tracee("own_traps-pie-now")});

  EXPECT_EQ(with.log.of("rt_sigaction").size(), without.log.of("rt_sigaction").size());
  EXPECT_EQ(with.log.of("rt_sigreturn").size(), 200u);
  EXPECT_EQ(without.log.of("rt_sigreturn").size(), 200u);
}

TEST_P(SystemCalls, that_a_signal_interrupts_say_so_and_begin_anew) {
  const auto run = traced(kOnlyCalls, {tracee("syscalls-pie"), "interrupted"});

  EXPECT_EQ(run.ended.out, "pause -4\nread -4\nread 1\nwait 1\n");
  static const std::regex interrupted(
      R"(pause@SYS\(\) += \? ERESTARTNOHAND \(To be restarted if no handler\)\n)"
      R"(--- SIGALRM \(Alarm clock\) ---\nrt_sigreturn@SYS\(\) += <void>\n)");
  EXPECT_TRUE(std::regex_search(run.text, interrupted)) << run.text;
  const auto reads = lines_with(run.text, "= ? ERESTARTSYS (To be restarted if SA_RESTART is set)");
  EXPECT_EQ(reads.size(), 2u) << run.text;
}

TEST_P(SystemCalls, that_an_ignored_signal_would_end_go_on_as_they_do_untraced) {
  const auto run = traced(kOnlyCalls, {tracee("syscalls-pie"), "ignored"});

  EXPECT_EQ(run.ended.out, "epoll_wait 0\n");
  const auto waits = run.log.of("epoll_wait");
  ASSERT_EQ(waits.size(), 1u) << run.text;
  EXPECT_EQ(waits[0].result, "0");
}

TEST_P(SystemCalls, that_a_filter_refuses_are_seen) {
  const auto run = traced(kOnlyCalls, {tracee("syscalls-pie"), "filtered"});

  EXPECT_TRUE(run.ended.killed_by(SIGSYS)) << run.ended.end();
  EXPECT_EQ(lines_with(run.text, "getpgid@SYS(0)").size(), 1u);
  EXPECT_NE(run.text.find("= -1 EBADFD (File descriptor in bad state)\n"), std::string::npos);
  EXPECT_NE(run.text.find("--- SIGSYS (Bad system call) ---\nrt_sigreturn@SYS"), std::string::npos);
  EXPECT_EQ(lines_with(run.text, "getpgrp@SYS(").size(), 1u);
}

TEST_P(SystemCalls, of_all_threads_of_a_process_attached_to_in_the_middle_of_them) {
  const TemporaryDirectory directory;
  RunningProgram program({.argv = {tracee("syscalls-pie"), "reading"}}, true);
  ASSERT_TRUE(program.read_until("ready"));
  const auto in_read = [&] {
    std::size_t count = 0;
    const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks))
      count += read_file(task.path() / "syscall").starts_with("0 ") ? 1 : 0;
    return count == 2;
  };
  ASSERT_TRUE(wait_until(in_read));
  const std::string log = directory.path("log");
  RunningProgram tracer({.argv = {SONICTRACE, "--engine=" + engine(), "-S", "-L", "--split-lines",
                                  "-o", log, "-p", std::to_string(program.pid())}});
  // Both reads are begun anew, and so shown.
  ASSERT_TRUE(wait_until([&] { return lines_with(read_file(log), "read@SYS(").size() >= 2; }))
      << read_file(log);

  program.write_line("");
  const Ended ended = program.wait();
  const Ended traced = tracer.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_TRUE(traced.exited_with(0)) << traced.end() << traced.err;
  const auto run = read_back(traced, log);
  EXPECT_EQ(run.log.of("read").size(), 2u) << run.text;
  EXPECT_EQ(run.log.of("getppid").size(), 3u) << run.text;
  EXPECT_EQ(run.log.of("exit_group").size(), 1u);
}

TEST_P(SystemCalls, of_a_process_that_is_left_in_the_middle_of_them_are_not_disturbed) {
  const TemporaryDirectory directory;
  RunningProgram program({.argv = {tracee("syscalls-pie"), "reading"}}, true);
  ASSERT_TRUE(program.read_until("ready"));
  const std::string log = directory.path("log");
  for (int round = 0; round < 3; ++round) {
    RunningProgram tracer({.argv = {SONICTRACE, "--engine=" + engine(), "-S", "-L", "--split-lines",
                                    "-o", log, "-p", std::to_string(program.pid())}});
    ASSERT_TRUE(wait_until([&] { return lines_with(read_file(log), "read@SYS(").size() >= 2; }));
    tracer.send_signal(SIGINT);
    EXPECT_TRUE(tracer.wait().exited_with(0));
    std::filesystem::remove(log);
  }

  EXPECT_EQ(status_field(program.pid(), "TracerPid"), "0");
  program.write_line("");
  const Ended ended = program.wait();
  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
}

TEST_P(SystemCalls, look_as_ltraces_where_that_is_asked_for) {
  const auto run = traced({"--ltrace", "-S", "-L"}, {tracee("syscalls-pie"), "family"});

  EXPECT_EQ(run.text.find("@SYS"), std::string::npos);
  static const std::regex raw(R"(SYS_access\("/etc/ld.so.preload", 04\) += -2\n)");
  EXPECT_TRUE(std::regex_search(run.text, raw)) << run.text;
  static const std::regex numbered(R"(SYS_334\(0x[0-9a-f]+, 32, 0, 0x53053053\) += 0\n)");
  EXPECT_TRUE(std::regex_search(run.text, numbered)) << run.text;
  EXPECT_NE(run.text.find("SYS_exit_group(0 <no return ...>\n"), std::string::npos);
}

TEST_P(SystemCalls, are_counted_as_strace_counts_them) {
  if (!has_strace()) GTEST_SKIP() << "no strace here";
  const TemporaryDirectory directory;
  const std::vector<std::string> program = {tracee("syscalls-pie"), "all", directory.path("d")};
  const Ended counted = run_program(
      {.argv = std::vector<std::string>{"strace", "-f", "-c", "-o", directory.path("table")} +
               program});
  ASSERT_FALSE(counted.timed_out);
  std::map<std::string, std::size_t> expected;
  std::smatch found;
  static const std::regex row(R"(^ *[0-9.]+ +[0-9.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$)");
  for (const auto& line : lines_of(read_file(directory.path("table"))))
    if (std::regex_search(line, found, row)) expected[found[2]] = std::stoul(found[1]);
  expected.erase("total");
  expected.erase("execve"); // one more: of the tracer's own child
  ASSERT_GT(expected.size(), 40u);

  const auto run = traced({"-S", "-L", "-f"}, program);
  std::map<std::string, std::size_t> seen;
  for (const auto& call : run.log.calls)
    ++seen[call.name];
  seen.erase("execve");
  // strace counts a call at its return.
  seen.erase("exit_group");
  expected.erase("exit_group");
  EXPECT_EQ(seen, expected);
}

/// The median of the durations in these lines of a JSON log, in nanoseconds.
double median_ns(const std::vector<std::string>& lines) {
  static const std::regex duration(R"#("duration_ns":(\d+))#");
  std::vector<double> times;
  std::smatch found;
  for (const auto& line : lines)
    if (std::regex_search(line, found, duration)) times.push_back(std::stod(found[1]));
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

TEST_P(SystemCalls, take_as_long_as_they_do_untraced) {
  for (const std::string size : {"8", "4096", "65536"}) {
    const std::vector<std::string> program = {tracee("raw_syscalls-pie-now"), "times", size};
    const auto untraced = [&] { return std::stod(run_program({.argv = program}).out); };
    const double before = untraced();
    const auto run = traced({"-S", "--output-format=json", "-e", "getrandom"}, program);
    const double alone = std::min(before, untraced()); // the machine may be busy

    for (const std::string kind : {"syscall", "call"}) {
      std::vector<std::string> calls;
      for (const auto& line : lines_with(run.text, "\"name\":\"getrandom\""))
        if (line.find("\"kind\":\"" + kind + "\"") != std::string::npos &&
            line.find("\"result\":" + size + ",") != std::string::npos)
          calls.push_back(line);
      // Some microseconds too long, perhaps, but not too short.
      EXPECT_GT(median_ns(calls), 0.6 * alone) << kind << ' ' << size;
      EXPECT_LT(median_ns(calls), 3 * alone + 100'000) << kind << ' ' << size;
    }
  }
}

TEST_P(SystemCalls, whose_instruction_is_a_return_site_are_where_the_program_makes_them) {
  const auto run = traced({"-S", "--split-lines", "-w", "2", "-e", "tr_*"},
                          {tracee("raw_syscalls-pie-now"), "site"});

  EXPECT_EQ(run.ended.out, "1\n");
  static const std::regex framed(
      R"(getppid@SYS\(\) += \d+\n > raw_syscalls-pie-now\(site\+0x[0-9a-f]+\) )");
  const auto begin = std::sregex_iterator(run.text.begin(), run.text.end(), framed);
  EXPECT_EQ(std::distance(begin, std::sregex_iterator()), 3) << run.text;
}

TEST_P(SystemCalls, of_a_child_that_is_born_with_sigtrap_blocked_are_not_changed) {
  for (const auto* how : {"spawn", "system"}) {
    const std::vector<std::string> program =
        *how == 's' && how[1] == 'p'
            ? std::vector<std::string>{tracee("children-pie-now"), "spawn"}
            : std::vector<std::string>{"/usr/bin/awk", "BEGIN { system(\"true\") }"};
    const auto with = traced({"-f", "-S", "--split-lines", "-e", "tr_*+system"}, program);
    const auto without = traced({"-f", "-S", "--split-lines", "-L"}, program);

    EXPECT_FALSE(with.log.of("rt_sigaction").empty()) << how;
    EXPECT_EQ(with.log.of("rt_sigaction").size(), without.log.of("rt_sigaction").size()) << how;
  }
}

TEST_P(SystemCalls, that_have_ended_when_the_tracer_leaves_have_their_results) {
  for (int calls = 1; calls <= 12; ++calls) {
    const auto run =
        traced(kOnlyCalls + std::vector<std::string>{"--max-calls=" + std::to_string(calls)},
               {tracee("syscalls-pie"), "young"});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end();
    ASSERT_EQ(run.log.calls.size(), static_cast<std::size_t>(calls));
    const auto& last = run.log.calls.back();
    // An execve is of another program.
    if (last.name == "execve") continue;
    EXPECT_FALSE(last.result.empty()) << run.text;
  }
}

TEST_P(SystemCalls, and_a_static_programs_own_library_calls_have_their_prototypes) {
  const auto run = traced({"-S", "-x", "vsnprintf"}, {tracee("syscalls-static"), "young"});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end();
  EXPECT_FALSE(lines_with(run.text, "vsnprintf(\" = -1 ENOSYS (").empty()) << run.text;
  EXPECT_FALSE(lines_with(run.text, "\" = -1 %s (%s)\\n\", \"ENOSYS\", ").empty()) << run.text;
}

INSTANTIATE_OVER_ENGINES(SystemCalls);

} // namespace
} // namespace sonictrace::test
