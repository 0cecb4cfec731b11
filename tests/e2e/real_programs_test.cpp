// Programs of the distribution: interpreters, compilers, and PyTorch.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

const std::string kPython = "/usr/bin/python3";

/// The note's script: seconds for each function of a log with times, by its own expression.
const char* const kSumScript = R"(import re, sys
regex = re.compile(r'^[^ ]+\s+([^(]+)\(.*?<(\d+\.\d+)>$')
calls = read = 0
total = 0.0
for line in open(sys.argv[1], errors='replace'):
    line = line.rstrip('\n')
    if line.startswith('+++') or ' +++ ' in line or ' --- ' in line:
        continue
    calls += 1
    match = regex.match(line)
    if match:
        read += 1
        total += float(match.group(2))
print(calls, read, '%.6f' % total)
)";

struct Sums {
  long lines = 0, read = 0;
  double seconds = 0;
};

class RealPrograms : public WithEngine {
protected:
  Sums sums_of(const std::string& text) {
    write_file(directory_.path("sums.py"), kSumScript);
    write_file(directory_.path("sums.log"), text);
    const Ended ended =
        run_program({{kPython, directory_.path("sums.py"), directory_.path("sums.log")}});
    Sums sums;
    EXPECT_EQ(std::sscanf(ended.out.c_str(), "%ld %ld %lf", &sums.lines, &sums.read, &sums.seconds),
              3)
        << ended.err;
    return sums;
  }

  /// As the note runs it: `-T -tt -o LOG`, and each call's line is read by the note's script.
  void expect_python_log(const Traced& run, long at_least) {
    const Sums sums = sums_of(run.text);
    EXPECT_GE(sums.read, at_least);
    long open = 0; // calls that never return, of exit() for one
    double seconds = 0;
    for (const auto& call : run.log.calls) {
      open += call.end == LoggedCall::End::NoReturn || call.end == LoggedCall::End::Open ||
              call.result == "?"; // of a function that returns twice
      if (!call.spent.empty()) seconds += std::stod(call.spent);
    }
    EXPECT_LE(open, 20);
    EXPECT_EQ(sums.read, static_cast<long>(run.log.calls.size()) - open);
    EXPECT_EQ(sums.lines, static_cast<long>(run.log.calls.size()));
    EXPECT_NEAR(sums.seconds, seconds, 0.001);
  }

  void expect_same_as_untraced(const std::vector<std::string>& argv, std::size_t calls_at_least,
                               std::vector<std::string> options = {}) {
    if (!exists(argv[0])) GTEST_SKIP() << argv[0] << " is not installed";
    Command command{argv};
    command.limit = std::chrono::seconds(140);
    command.environment = {"PYTHONHASHSEED=0", "HOME=" + directory_.path()};
    command.directory = directory_.path();
    const Ended untraced = run_program(command);
    ASSERT_TRUE(untraced.exited_with(0)) << untraced.err;
    const Traced run = traced(options + std::vector<std::string>{"--quiet"}, argv, command);

    EXPECT_EQ(run.ended.end(), untraced.end()) << run.ended.err;
    EXPECT_EQ(run.ended.out, untraced.out);
    EXPECT_EQ(run.ended.err, untraced.err);
    EXPECT_GE(run.log.calls.size(), calls_at_least);
    EXPECT_TRUE(run.log.strange.empty()) << run.log.strange.front();
  }

  TemporaryDirectory directory_;
};

TEST_P(RealPrograms, python_prints_and_each_line_of_its_log_is_read_by_the_notes_script) {
  if (!exists(kPython)) GTEST_SKIP() << "python3 is not installed";
  Command how;
  how.limit = std::chrono::seconds(120);
  const Traced run = traced({"-T", "-tt"}, {kPython, "-c", "print(1)"}, how);

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_EQ(run.ended.out, "1\n");
  expect_python_log(run, 40000);
}

TEST_P(RealPrograms, a_script_named_python3_leads_to_the_real_one) {
  if (!exists(kPython)) GTEST_SKIP() << "python3 is not installed";
  write_file(directory_.path("python3"), "#!/bin/sh\nexec " + kPython + " \"$@\"\n", 0755);
  Command how;
  how.environment = {"PATH=" + directory_.path() + ":/usr/bin:/bin"};
  how.limit = std::chrono::seconds(120);
  const Traced run = traced({"-T", "-tt"}, {"python3", "-c", "print(1)"}, how);

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_EQ(run.ended.out, "1\n");
  expect_python_log(run, 40000);
}

TEST_P(RealPrograms, a_running_python_is_attached_to_and_left) {
  if (!exists(kPython)) GTEST_SKIP() << "python3 is not installed";
  Command how;
  how.argv = {
      kPython, "-u", "-c",
      "import sys, zlib\nprint('ready')\n"
      "for line in sys.stdin:\n"
      "    for i in range(3000): assert zlib.crc32(b'%d' % i) == zlib.crc32(str(i).encode())\n"
      "    print('done')\nprint('end')"};
  RunningProgram python(how, true);
  ASSERT_TRUE(python.read_until("ready"));
  const std::string log = directory_.path("log");
  Command tracer;
  tracer.argv = {
      SONICTRACE, "--engine=" + engine(),      "-T", "-tt", "-o", log, "--max-calls=3000",
      "-p",       std::to_string(python.pid())};
  RunningProgram attached(tracer);
  ASSERT_TRUE(wait_until(
      [&] { return status_field(python.pid(), "TracerPid") != "0" || !attached.is_running(); }));
  while (attached.is_running() && std::chrono::steady_clock::now() < attached.deadline()) {
    python.write_line("go");
    ASSERT_TRUE(python.read_until("done"));
  }
  const Traced run = read_back(attached.wait(), log);
  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_GE(run.log.calls.size(), 3000u);
  EXPECT_GE(sums_of(run.text).read, 2990);

  python.write_line("go");
  EXPECT_TRUE(python.read_until("done"));
  const Ended ended = python.wait();
  EXPECT_TRUE(ended.exited_with(0)) << ended.err;
  EXPECT_TRUE(ended.out.ends_with("end\n"));
}

TEST_P(RealPrograms, torch_is_traced_by_its_library) {
  if (!exists(kPython) || !run_program({{kPython, "-c", "import torch"}}).exited_with(0))
    GTEST_SKIP() << "python3-torch is not installed";
  Command how;
  how.limit = std::chrono::seconds(140);
  const Traced run = traced({"-T", "-tt", "-e", "*@libtorch*", "--max-calls=100000"},
                            {kPython, "-c", "import torch; print(int(torch.ones(3).sum()))"}, how);

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_EQ(run.ended.out, "3\n");
  EXPECT_EQ(run.log.calls.size(), 100000u);
  EXPECT_TRUE(run.log.of("malloc").empty());
  EXPECT_TRUE(run.log.of("printf").empty());
  long of_torch = 0;
  for (const auto& call : run.log.calls)
    of_torch += call.name.starts_with("c10::") || call.name.starts_with("torch::") ||
                call.name.starts_with("at::");
  EXPECT_GT(of_torch, 10000);
}

TEST_P(RealPrograms, python_workers_are_followed) {
  if (!exists(kPython)) GTEST_SKIP() << "python3 is not installed";
  expect_same_as_untraced(
      {kPython, "-c",
       "import multiprocessing as m, math\n"
       "with m.get_context('fork').Pool(3) as p: print(p.map(math.factorial, range(12)))"},
      10000, {"-f", "-e", "mem*,pthread_*,sem_*"});
}

TEST_P(RealPrograms, ruby) {
  expect_same_as_untraced({"/usr/bin/ruby", "-e", "puts (1..5).map { |x| x * x }.inspect"}, 1);
}
// Filtered: of all its calls, millions, a breakpoint each takes minutes.
TEST_P(RealPrograms, node) {
  expect_same_as_untraced({"/usr/bin/node", "-e", "console.log([1,2,3].map(x => x * x))"}, 50,
                          {"-e", "pthread_create,sem_*,epoll_*,uv_*,open*,mmap*,read*,write*"});
}
TEST_P(RealPrograms, java) { expect_same_as_untraced({"/usr/bin/java", "-Xint", "-version"}, 10); }
TEST_P(RealPrograms, a_shell) {
  expect_same_as_untraced(
      {"/bin/bash", "-c", "for i in 1 2 3; do echo $i | cat; done; ls / | wc -l"}, 100, {"-f"});
}
TEST_P(RealPrograms, gcc) {
  write_file(directory_.path("a.c"),
             "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n");
  expect_same_as_untraced({"/usr/bin/gcc", "-O1", "a.c", "-o", "a"}, 100,
                          {"-f", "-e", "str*,mem*"});
  if (IsSkipped()) return;
  EXPECT_EQ(run_program({{directory_.path("a")}}).out, "hello\n");
}
TEST_P(RealPrograms, clang) {
  write_file(directory_.path("a.c"),
             "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n");
  expect_same_as_untraced({"/usr/bin/clang-14", "-O1", "a.c", "-o", "a"}, 10,
                          {"-f", "-e", "str*,open*,read*"});
  if (IsSkipped()) return;
  EXPECT_EQ(run_program({{directory_.path("a")}}).out, "hello\n");
}

INSTANTIATE_OVER_ENGINES(RealPrograms);

} // namespace
} // namespace sonictrace::test
