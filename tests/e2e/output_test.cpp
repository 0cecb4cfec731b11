// What becomes of the log: compressed, on a full disk, in a pipe that closes, at a sudden end; and
// the other forms that it has.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <numeric>
#include <regex>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

constexpr int kLines = 5'000;

/// The name of a log, and how it is read back. `size`: of a disk that it does not fit on.
struct Form {
  const char* name;
  const char* log;
  std::vector<std::string> reader;
  const char* size;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

/// All that can be read of a log.
std::string read_log(const Form& form, const std::string& path) {
  if (form.reader.empty()) return read_file(path);
  Command command;
  command.argv = form.reader;
  command.argv.push_back(path);
  return run_program(command).out;
}

/// Input for copies_input, which calls fputs twice for each line, once with stdout and once with
/// its file.
std::string numbered_lines() {
  std::string text;
  for (int n = 0; n < kLines; ++n)
    text += "line " + std::to_string(n) + "\n";
  return text;
}

/// How many lines of the input the log has, which must be the first ones, without a gap.
int lines_in(const std::string& log) {
  static const std::regex call(R"re(fputs\("line (\d+)\\n", .*\) += \d+)re");
  std::map<int, int> seen;
  for (const auto& line : lines_of(log)) {
    std::smatch match;
    if (std::regex_match(line, match, call)) ++seen[std::stoi(match[1])];
  }
  int expected = 0;
  for (const auto& [number, times] : seen) {
    EXPECT_EQ(number, expected++);
    // The second of the last line may be what was cut.
    EXPECT_TRUE(times == 2 || (times == 1 && number + 1 == static_cast<int>(seen.size())));
  }
  return expected;
}

/// `N calls` of the closing line; -1 where there is none.
long calls_of_closing_line(const std::string& text) {
  static const std::regex closing(R"(\+\+\+ sonictrace: (\d+) calls?, [^\n]* \+\+\+\n$)");
  std::smatch match;
  return std::regex_search(text, match, closing) ? std::stol(match[1]) : -1;
}

class OutputOf : public testing::TestWithParam<Form> {
protected:
  std::string log() const { return directory_.path(GetParam().log); }
  std::string copy() const { return directory_.path("copy"); }
  std::string read() const { return read_log(GetParam(), log()); }
  TemporaryDirectory directory_;
};

TEST_P(OutputOf, a_run_to_its_end_is_the_whole_log) {
  Command command;
  command.argv = {SONICTRACE, "-o", log(), tracee("copies_input-pie-now"), copy()};
  command.input = numbered_lines();

  const Ended ended = run_program(command);

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  const std::string text = read();
  EXPECT_EQ(lines_in(text), kLines);
  EXPECT_EQ(calls_of_closing_line(text), static_cast<long>(parse_log(text).calls.size()));
  EXPECT_EQ(read_file(copy()), numbered_lines());
}

/// A small disk, gone at the end of its scope.
class SmallDisk {
public:
  SmallDisk(const std::string& where, const std::string& size) : where_(where) {
    std::filesystem::create_directory(where);
    is_there_ = ::mount("none", where.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) ::umount2(where_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return is_there_; }

private:
  std::string where_;
  bool is_there_ = false;
};

TEST_P(OutputOf, a_full_disk_ends_the_trace_and_not_the_program) {
  const SmallDisk disk(directory_.path("disk"), GetParam().size);
  if (!disk.is_there()) GTEST_SKIP() << "no right to mount a small disk";
  const std::string log = directory_.path(std::string("disk/") + GetParam().log);
  Command command;
  command.argv = {SONICTRACE, "-o", log, tracee("copies_input-pie-now"), copy()};
  command.input = numbered_lines();

  const Ended ended = run_program(command);

  EXPECT_TRUE(ended.exited_with(1)) << ended.end();
  EXPECT_NE(ended.err.find("sonictrace: can't write " + log + ": No space left on device"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(read_file(copy()), numbered_lines());
  const int lines = lines_in(read_log(GetParam(), log));
  EXPECT_GT(lines, 0);
  EXPECT_LT(lines, kLines);
}

TEST_P(OutputOf, sigterm_leaves_a_log_that_is_complete) {
  RunningProgram running({{SONICTRACE, "-o", log(), tracee("service-pie-now"), "2"}}, true);
  ASSERT_TRUE(running.read_until("ready"));

  running.send_signal(SIGTERM);
  // Only then its input is closed, at which it would end by itself.
  EXPECT_TRUE(wait_until([&] { return !running.is_running(); }));
  const Ended ended = running.wait();

  EXPECT_TRUE(ended.killed_by(SIGTERM)) << ended.end();
  const std::string text = read();
  const Log parsed = parse_log(text);
  EXPECT_TRUE(parsed.has_event(R"(\+\+\+ killed by SIGTERM \+\+\+)"));
  EXPECT_TRUE(parsed.strange.empty()) << parsed.strange.front();
  EXPECT_EQ(calls_of_closing_line(text), static_cast<long>(parsed.calls.size()));
  EXPECT_GT(parsed.calls.size(), 2u);
}

TEST_P(OutputOf, a_program_that_is_killed_is_complete_up_to_its_last_call) {
  RunningProgram running({{SONICTRACE, "-o", log(), "sh", "-c", "kill -KILL $$"}});
  const Ended ended = running.wait();

  EXPECT_TRUE(ended.killed_by(SIGKILL)) << ended.end();
  const std::string text = read();
  const Log parsed = parse_log(text);
  EXPECT_TRUE(parsed.has_event(R"(\+\+\+ killed by SIGKILL \+\+\+)")) << text;
  EXPECT_FALSE(parsed.of("kill").empty());
  EXPECT_EQ(calls_of_closing_line(text), static_cast<long>(parsed.calls.size()));
}

INSTANTIATE_TEST_SUITE_P(E2e, OutputOf,
                         testing::Values(Form{"plain", "log", {}, "64k"},
                                         Form{"zstd", "log.zst", {"zstd", "-q", "-dc"}, "8k"},
                                         Form{"gzip", "log.gz", {"gzip", "-dc"}, "16k"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Output, a_pipe_that_closes_ends_the_trace_and_not_the_program) {
  const TemporaryDirectory directory;
  write_file(directory.path("input"), numbered_lines());
  Command command;
  command.argv = {"sh",
                  "-c",
                  "{ " SONICTRACE " -o /dev/fd/3 \"$1\" \"$2/copy\" <\"$2/input\" 3>&1 >/dev/null; "
                  "echo $? >\"$2/status\"; } | head -n 3",
                  "sh",
                  tracee("copies_input-pie-now"),
                  directory.path()};

  const Ended ended = run_program(command);

  EXPECT_EQ(lines_of(ended.out).size(), 3u) << ended.out;
  EXPECT_EQ(read_file(directory.path("status")), "1\n");
  EXPECT_NE(ended.err.find("sonictrace: can't write /dev/fd/3: Broken pipe"), std::string::npos)
      << ended.err;
  EXPECT_EQ(read_file(directory.path("copy")), numbered_lines());
}

/// What sonictrace writes about copies_input, to a file.
std::string output_of(const std::vector<std::string>& options) {
  const TemporaryDirectory directory;
  Command command;
  command.argv = std::vector<std::string>{SONICTRACE, "-o", directory.path("log")} + options +
                 std::vector<std::string>{tracee("copies_input-pie-now"), directory.path("copy")};
  command.input = numbered_lines();
  const Ended ended = run_program(command);
  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  return read_file(directory.path("log"));
}

/// The calls that each table has of a function.
std::vector<long> calls_in_tables(const std::string& text, const std::string& name) {
  std::vector<long> calls;
  const std::regex row(R"( *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) )" + name);
  for (const auto& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_match(line, match, row)) calls.push_back(std::stol(match[1]));
  }
  return calls;
}

TEST(Count, is_a_table_of_all_calls_and_small) {
  const std::string text = output_of({"-c"});

  EXPECT_EQ(calls_in_tables(text, "fputs"), std::vector<long>{2 * kLines + 1});
  EXPECT_EQ(calls_in_tables(text, "fgets"), std::vector<long>{kLines + 1});
  EXPECT_LT(text.size(), 4096u);
}

TEST(Count, by_intervals_adds_up_to_the_summary) {
  const std::string text = output_of({"-c", "--interval=50ms"});

  auto calls = calls_in_tables(text, "fputs");
  ASSERT_GE(calls.size(), 2u) << text;
  const long summary = calls.back();
  calls.pop_back();
  EXPECT_EQ(summary, 2 * kLines + 1);
  EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0L), summary);
}

TEST(Count, writes_a_table_for_an_attached_process_when_it_is_interrupted) {
  RunningProgram service({{tracee("service-pie-now"), "2"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  const TemporaryDirectory directory;
  const std::string log = directory.path("log");
  RunningProgram tracer({{SONICTRACE, "-c", "-o", log, "-p", std::to_string(service.pid())}});
  ASSERT_TRUE(wait_until([&] { return !read_file(log).empty(); }));
  EXPECT_TRUE(read_file(log).starts_with("tracing " + std::to_string(service.pid()) + " (service"));

  tracer.send_signal(SIGINT);
  EXPECT_TRUE(tracer.wait().exited_with(0));

  const std::string text = read_file(log);
  EXPECT_EQ(lines_of(text).at(1), "% time     seconds  usecs/call     calls      function");
  EXPECT_EQ(std::regex_replace(text, std::regex("[^%]"), ""), "%") << text; // one table
  EXPECT_TRUE(service.is_running());
}

TEST(Sample, writes_every_nth_call) {
  const Log log = parse_log(output_of({"--sample=100", "-e", "fgets+fputs"}));

  EXPECT_EQ(log.of("fputs").size(), (2 * kLines + 1) / 100u);
  EXPECT_EQ(log.of("fgets").size(), (kLines + 1) / 100u);
}

TEST(Thinning, loses_no_call_in_the_sums) {
  const std::string text =
      output_of({"--thin-after=64K", "-T", "--ns", "-e", "fgets+fputs", "--min-time=0"});

  long told = 0;
  static const std::regex remark(
      R"(\+\+\+ \w+: (\d+) more calls?, \d+\.\d{9} s, not written \+\+\+)");
  for (const auto& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_match(line, match, remark)) told += std::stol(match[1]);
  }
  const auto written = static_cast<long>(parse_log(text).calls.size());
  EXPECT_EQ(told + written, calls_of_closing_line(text));
}

TEST(Json, is_a_valid_object_a_line) {
  const TemporaryDirectory directory;
  write_file(directory.path("log"), output_of({"--output-format=json", "-S", "-w", "2"}));
  write_file(directory.path("counts"),
             output_of({"--output-format=json", "-c", "--percentiles", "--interval=100ms"}));
  Command command;
  command.argv = {"python3", SOURCE_DIR "/tests/e2e/json_lines.py",
                  SOURCE_DIR "/docs/json.schema.json", directory.path("log"),
                  directory.path("counts")};

  const Ended ended = run_program(command);

  EXPECT_TRUE(ended.exited_with(0)) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("call 1"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("counts "), std::string::npos) << ended.out;
}

} // namespace
} // namespace sonictrace::test
