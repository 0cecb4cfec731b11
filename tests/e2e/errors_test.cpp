// What is refused, how it is said, and that nothing is started or harmed by it.
#include <elf.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <regex>
#include <utility>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Errors : public WithEngine {
protected:
  Ended run(const std::vector<std::string>& options,
            std::chrono::seconds limit = std::chrono::seconds(30)) {
    Command how;
    how.argv = std::vector<std::string>{SONICTRACE, "--engine=" + engine()} + options;
    how.limit = limit;
    return run_program(how);
  }

  /// One line, with our name first and each of `words` in it; `code` as the exit status.
  static void expect_error(const Ended& ended, int code, const std::vector<std::string>& words) {
    EXPECT_TRUE(ended.exited_with(code)) << ended.end() << ", wanted " << code << "\n" << ended.err;
    const auto lines = lines_of(ended.err);
    ASSERT_EQ(lines.size(), 1u) << ended.err;
    EXPECT_TRUE(lines[0].starts_with("sonictrace: ")) << lines[0];
    for (const auto& word : words)
      EXPECT_NE(lines[0].find(word), std::string::npos) << word << ": " << lines[0];
  }

  std::string marker() const { return directory_.path("started"); }
  bool is_started() const { return exists(marker()); }
  std::vector<std::string> command() const { return {"/bin/sh", "-c", ": > '" + marker() + "'"}; }

  TemporaryDirectory directory_;
};

TEST_P(Errors, wrong_options_start_nothing) {
  const std::vector<std::vector<std::string>> wrong = {{"--frob"},          {"-Z"},
                                                       {"-n", "21"},        {"-n", "x"},
                                                       {"-a", "-1"},        {"-s", "12x"},
                                                       {"-p", "0"},         {"-p", "abc"},
                                                       {"-e", "/unclosed"}, {"--min-time=5parsecs"},
                                                       {"--max-calls=-3"},  {"--engine=magic"}};
  for (const auto& options : wrong) {
    SCOPED_TRACE(options[0] + (options.size() > 1 ? " " + options[1] : ""));
    const Ended ended = run(options + command());
    EXPECT_TRUE(ended.exited_with(1)) << ended.end() << ended.err;
    EXPECT_TRUE(ended.err.starts_with("sonictrace: ")) << ended.err;
    EXPECT_FALSE(is_started());
  }
  EXPECT_TRUE(run({}).exited_with(1)) << "no command";
}

TEST_P(Errors, a_missing_command_is_127_and_one_that_cannot_run_126) {
  expect_error(run({"no-such-command"}), 127, {"no-such-command"});
  expect_error(run({"/no/such/command"}), 127, {"/no/such/command"});
  expect_error(run({"/tmp"}), 126, {"/tmp"});

  write_file(directory_.path("text"), "just text\n", 0644);
  expect_error(run({directory_.path("text")}), 126, {"text", "ermission"});
}

TEST_P(Errors, a_program_for_another_machine_is_126) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_AARCH64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  write_file(directory_.path("foreign"),
             std::string(reinterpret_cast<const char*>(&header), sizeof header) +
                 std::string(4096, 0),
             0755);

  expect_error(run({directory_.path("foreign")}), 126, {"foreign"});
}

TEST_P(Errors, an_executable_text_without_an_interpreter_runs_as_a_shell_would_or_is_126) {
  write_file(directory_.path("plain"), ": > '" + marker() + "'\nexit 5\n", 0755);

  const Ended ended = run({"-o", directory_.path("log"), directory_.path("plain")});

  if (is_started()) {
    EXPECT_TRUE(ended.exited_with(5)) << ended.end() << ended.err;
  } else {
    expect_error(ended, 126, {"plain"});
  }
}

TEST_P(Errors, a_process_that_is_not_there_is_named) {
  expect_error(run({"-p", "4194303"}), 1, {"4194303", "no such process"});
}

TEST_P(Errors, a_kernel_thread_is_refused) {
  if (status_field(2, "Name") != "kthreadd") GTEST_SKIP() << "no kernel threads in this container";
  expect_error(run({"-p", "2"}), 1, {"2", "kernel thread"});
}

TEST_P(Errors, a_process_that_is_traced_already_names_its_tracer) {
  RunningProgram service({{tracee("service-pie-lazy"), "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  Command first;
  first.argv = {
      SONICTRACE, "--engine=" + engine(),       "-o", directory_.path("log"), "-e", "tr_*",
      "-p",       std::to_string(service.pid())};
  RunningProgram tracer(first);
  ASSERT_TRUE(wait_until(
      [&] { return status_field(service.pid(), "TracerPid") != "0" || !tracer.is_running(); }));
  ASSERT_TRUE(tracer.is_running()) << tracer.errors_so_far();

  expect_error(run({"-p", std::to_string(service.pid())}), 1,
               {std::to_string(service.pid()), std::to_string(tracer.pid()), "is tracing it"});

  EXPECT_TRUE(tracer.is_running());
  tracer.send_signal(SIGINT);
  EXPECT_TRUE(tracer.wait().exited_with(0));
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST_P(Errors, a_process_of_somebody_else_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  if (run_program({{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", SONICTRACE,
                    "--version"}})
          .end() != "exit 0")
    GTEST_SKIP() << "nobody may not run the tracer in this directory";
  RunningProgram service({{tracee("service-pie-lazy"), "1"}}, true);
  ASSERT_TRUE(service.read_until("ready"));
  const std::string pid = std::to_string(service.pid());

  const Ended ended = run_program({{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                    SONICTRACE, "--engine=" + engine(), "-p", pid}});

  expect_error(ended, 1, {pid, "another user"});
  service.write_line("ping");
  EXPECT_TRUE(service.read_until("alive"));
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST_P(Errors, a_user_who_is_not_root_traces_what_is_theirs) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups"};
  if (run_program({as_nobody + std::vector<std::string>{SONICTRACE, "--version"}}).end() !=
      "exit 0")
    GTEST_SKIP() << "nobody may not run the tracer in this directory";
  Command how;
  how.argv = as_nobody + std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-e", "tr_*",
                                                  tracee("calls-pie-lazy")};

  const Ended ended = run_program(how);

  EXPECT_TRUE(ended.exited_with(3)) << ended.end() << ended.err;
  expect_calls(parse_log(ended.err).calls, printed_calls(ended.out));
}

TEST_P(Errors, u_runs_the_command_as_somebody_else) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const Ended ended = run({"-u", "nobody", "-o", directory_.path("log"), "/usr/bin/id", "-u"});

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  EXPECT_EQ(ended.out, "65534\n");
  expect_error(run(std::vector<std::string>{"-u", "no-such-user"} + command()), 1,
               {"no-such-user"});
  EXPECT_FALSE(is_started());
}

TEST_P(Errors, a_log_that_cannot_be_opened_starts_nothing) {
  expect_error(run(std::vector<std::string>{"-o", "/no/such/directory/log"} + command()), 1,
               {"/no/such/directory/log", "No such file or directory"});
  EXPECT_FALSE(is_started());
}

TEST_P(Errors, a_full_disk_ends_the_trace_and_not_the_program) {
  if (::geteuid() != 0) GTEST_SKIP() << "mount is for root";
  const std::string disk = directory_.path("disk");
  std::filesystem::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mount is not permitted";

  const Ended ended = run({"-o", disk + "/log", "-e", "tr_*", tracee("calls-pie-lazy"), "5000"});
  const auto size = std::filesystem::file_size(disk + "/log");
  ::umount(disk.c_str());

  EXPECT_EQ(printed_calls(ended.out).size(), 5007u) << "the program was harmed";
  EXPECT_GT(size, 30000u);
  EXPECT_NE(ended.err.find("No space left on device"), std::string::npos) << ended.err;
  EXPECT_TRUE(ended.err.starts_with("sonictrace: ")) << ended.err;
  EXPECT_FALSE(ended.exited_with(0));
}

TEST_P(Errors, a_closed_pipe_ends_the_trace_and_not_the_program) {
  const std::string script = "{ '" + std::string(SONICTRACE) + "' --engine=" + engine() +
                             " -e 'tr_*' '" + tracee("calls-pie-lazy") + "' 5000 > '" +
                             directory_.path("out") + "'; echo $? > '" + directory_.path("rc") +
                             "'; } 2>&1 | head -n 3";

  const Ended ended = run_program({{"/bin/sh", "-c", script}});

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_EQ(lines_of(ended.out).size(), 3u);
  EXPECT_EQ(printed_calls(read_file(directory_.path("out"))).size(), 5007u)
      << "the program was harmed";
}

TEST_P(Errors, version_and_help_go_to_stdout) {
  const Ended version = run({"--version"});
  EXPECT_TRUE(version.exited_with(0));
  EXPECT_NE(version.out.find("sonictrace"), std::string::npos);
  EXPECT_NE(version.out.find("ydis"), std::string::npos) << version.out;
  const Ended help = run({"--help"});
  EXPECT_TRUE(help.exited_with(0));
  EXPECT_NE(help.out.find("--max-calls"), std::string::npos);
}

// ---- stdout and stderr that can't be written, or are not read ---------------------------------

/// A shell command line with `$0` as the tracer and `$1` as a tracee that makes calls.
Ended run_in_shell(const std::string& line) {
  return run_program({{"/bin/sh", "-c", line, SONICTRACE, tracee("calls-pie-lazy")}});
}

TEST(Unwritable, messages_are_no_reason_to_die) {
  for (const char* line :
       {"\"$0\" --help >/dev/full", "\"$0\" --version >&-", "\"$0\" --doctor >/dev/full",
        "\"$0\" --explain \"$1\" >/dev/full", "\"$0\" -Dh >/dev/full"}) {
    const Ended ended = run_in_shell(line);
    EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) <= 1)
        << line << ": " << ended.end();
  }
  for (const char* line : {"\"$0\" --frob 2>/dev/full", "\"$0\" -p 4194303 2>/dev/full",
                           "\"$0\" --frob 2>&-", "\"$0\" -o /no/such/file true 2>&-"})
    EXPECT_TRUE(run_in_shell(line).exited_with(1)) << line;
  EXPECT_TRUE(run_in_shell("\"$0\" no-such-command 2>/dev/full").exited_with(127));
}

TEST(Unwritable, debug_lines_and_notes_are_lost_and_the_exit_status_is_kept) {
  const TemporaryDirectory directory;
  for (const char* redirection : {"2>/dev/full", "2>&-"}) {
    const Ended ended = run_in_shell("\"$0\" -D 77 -e 'tr_*' -e no_such_name -o '" +
                                     directory.path("log") + "' \"$1\" " + redirection);
    EXPECT_TRUE(ended.exited_with(3)) << redirection << ended.end();
    const std::string log = read_file(directory.path("log"));
    expect_calls_in_any_order(parse_log(log).calls, printed_calls(ended.out));
    EXPECT_EQ(log.find("debug:"), std::string::npos) << "a log that became stderr";
  }
}

TEST(Unwritable, a_log_on_stderr_that_is_lost_is_exit_status_1_and_the_program_runs_to_its_end) {
  for (const char* line : {"\"$0\" -e 'tr_*' \"$1\" 2>/dev/full",
                           "{ \"$0\" -e 'tr_*' \"$1\" 3>&1 >&3 2>&4; } 4>/dev/full"}) {
    const Ended ended = run_in_shell(line);
    EXPECT_TRUE(ended.exited_with(1)) << line << ended.end();
    EXPECT_EQ(printed_calls(ended.out).size(), 57u);
  }
  const Ended closed = run_in_shell("\"$0\" \"$1\" 2>&-");
  EXPECT_TRUE(closed.exited_with(1)) << closed.end();
  EXPECT_EQ(closed.out, "") << "started, though it could not be traced";
}

TEST(Unwritable, a_pager_that_is_quit_is_exit_status_1) {
  const TemporaryDirectory directory;
  const Ended ended =
      run_in_shell("{ \"$0\" -e 'tr_*' \"$1\" 5000 >'" + directory.path("out") + "'; echo $? >'" +
                   directory.path("rc") + "'; } 2>&1 | head -n 2");

  EXPECT_EQ(lines_of(ended.out).size(), 2u);
  EXPECT_EQ(read_file(directory.path("rc")), "1\n");
  EXPECT_EQ(printed_calls(read_file(directory.path("out"))).size(), 5007u);
}

/// A fifo that is open for reading, and not read.
class StalledReader {
public:
  explicit StalledReader(std::string path) : path_(std::move(path)) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    end_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  const std::string& path() const { return path_; }
  /// All that comes until nobody writes any more.
  std::string read() {
    ::fcntl(end_.get(), F_SETFL, 0);
    std::string text;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = ::read(end_.get(), buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }
  /// No byte more fits in.
  bool is_full() const {
    const UniqueFd other_end(::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    pollfd room = {other_end.get(), POLLOUT, 0};
    return ::poll(&room, 1, 0) == 0;
  }

private:
  std::string path_;
  UniqueFd end_;
};

TEST(Stalled, reader_who_goes_on_gets_the_whole_log) {
  const TemporaryDirectory directory;
  StalledReader reader(directory.path("fifo"));
  RunningProgram tracer(
      {{SONICTRACE, "-o", reader.path(), "-e", "tr_*", tracee("calls-pie-lazy"), "20000"}});
  ASSERT_TRUE(wait_until([&] { return reader.is_full() || !tracer.is_running(); }));

  const std::string log = reader.read();
  const Ended ended = tracer.wait();

  EXPECT_TRUE(ended.exited_with(3)) << ended.end() << ended.err;
  EXPECT_EQ(parse_log(log).calls.size(), printed_calls(ended.out).size());
  EXPECT_NE(log.find(" 0 lost calls"), std::string::npos);
}

TEST(Stalled, reader_does_not_keep_a_command_from_being_ended) {
  const TemporaryDirectory directory;
  const StalledReader reader(directory.path("fifo"));
  RunningProgram tracer({{SONICTRACE, "-o", reader.path(), tracee("service-pie-lazy"), "2"}}, true);
  ASSERT_TRUE(tracer.read_until("ready"));
  ASSERT_TRUE(wait_until([&] { return reader.is_full() || !tracer.is_running(); }));

  tracer.send_signal(SIGTERM);

  EXPECT_TRUE(tracer.wait().exited_with(1));
}

TEST(Stalled, reader_of_the_log_does_not_keep_the_tracer_from_ending) {
  for (const int signal : {SIGINT, SIGTERM}) {
    for (const std::string form : {"--output-format=text", "--output-format=json"}) {
      SCOPED_TRACE(form + " " + std::to_string(signal));
      const TemporaryDirectory directory;
      const StalledReader reader(directory.path("fifo"));
      RunningProgram service({{tracee("service-pie-lazy"), "2"}}, true);
      ASSERT_TRUE(service.read_until("ready"));
      RunningProgram tracer(
          {{SONICTRACE, "-o", reader.path(), form, "-p", std::to_string(service.pid())}});
      ASSERT_TRUE(wait_until([&] { return reader.is_full() || !tracer.is_running(); }));
      ASSERT_TRUE(tracer.is_running()) << tracer.errors_so_far();

      tracer.send_signal(signal);
      const Ended ended = tracer.wait();

      EXPECT_TRUE(ended.exited_with(1)) << ended.end();
      EXPECT_NE(ended.err.find("its reader does not read, so the log is cut"), std::string::npos)
          << ended.err;
      EXPECT_EQ(status_field(service.pid(), "TracerPid"), "0");
      service.write_line("ping");
      EXPECT_TRUE(service.read_until("alive"));
      service.write_line("stop");
      EXPECT_TRUE(service.wait().exited_with(0));
    }
  }
}

// ---- --ltrace beside ltrace --------------------------------------------------------------------

/// Without what is another in each run.
std::string without_numbers(const std::string& text) {
  static const std::regex number(R"((process |/proc/)\d+)");
  return std::regex_replace(text, number, "$1N");
}

class AsLtrace : public testing::Test {
protected:
  void SetUp() override {
    if (::access("/usr/bin/ltrace", X_OK) != 0) GTEST_SKIP() << "ltrace is not installed";
    std::filesystem::create_symlink(SONICTRACE, directory_.path("ltrace"));
  }

  /// The same errors, the same output, and the same exit status.
  void expect_same(const std::vector<std::string>& options, bool outputs_too = true) {
    std::string line;
    for (const auto& option : options)
      line += " " + option;
    SCOPED_TRACE("ltrace" + line);
    Command how;
    how.directory = directory_.path();
    how.argv = std::vector<std::string>{"/usr/bin/ltrace"} + options;
    const Ended theirs = run_program(how);
    how.argv[0] = directory_.path("ltrace");
    const Ended ours = run_program(how);
    EXPECT_EQ(without_numbers(ours.err), without_numbers(theirs.err));
    EXPECT_EQ(ours.end(), theirs.end());
    if (outputs_too) { EXPECT_EQ(ours.out, theirs.out); }
  }

  TemporaryDirectory directory_;
};

TEST_F(AsLtrace, refuses_commands_in_the_same_words) {
  write_file(directory_.path("script"), "#!/bin/sh\necho hi\n", 0755);
  write_file(directory_.path("text"), "echo hi\n", 0755);
  write_file(directory_.path("text-no-x"), "just text, and more of it\n", 0644);
  write_file(directory_.path("empty"), "", 0755);
  std::string program = read_file("/bin/true");
  write_file(directory_.path("no-x"), program, 0644);
  program[18] = static_cast<char>(EM_AARCH64);
  write_file(directory_.path("foreign"), program, 0755);

  for (const char* command : {"no-such-command", "./no-such-command", "./script", "./text",
                              "./text-no-x", "./empty", "./no-x", "./foreign", "/tmp", "."})
    expect_same({command});
  expect_same({"-S", "./script"});
  expect_same({"-u", "no-such-user", "/bin/true"});
  expect_same({"-u", "no-such-user", "no-such-command"});
  expect_same({"-u", "no-such-user", "./script"});
}

TEST_F(AsLtrace, refuses_a_log_in_the_same_words) {
  expect_same({"-o", "/no/such/directory/log", "/bin/true"});
  expect_same({"--output=", "/bin/true"});
  expect_same({"-o", ".", "/bin/true"});
}

TEST_F(AsLtrace, refuses_to_attach_in_the_same_words) {
  expect_same({"-p", "4194303"});
  expect_same({"-p", "4194303", "-p", "4194302"});
  expect_same({"-L", "-p", "4194303", "/bin/true"});
  if (status_field(2, "Name") == "kthreadd") expect_same({"-p", "2"});
}

TEST_F(AsLtrace, ends_with_0_whatever_becomes_of_the_log) {
  Command how;
  how.argv = {"/usr/bin/ltrace", "-o", "/dev/full", "/bin/true"};
  const Ended theirs = run_program(how);
  how.argv[0] = directory_.path("ltrace");
  const Ended ours = run_program(how);
  EXPECT_EQ(ours.end(), theirs.end());
  EXPECT_TRUE(ours.exited_with(0)) << ours.end();
}

TEST_F(AsLtrace, says_nothing_of_children_that_are_not_traced) {
  RunningProgram shell({{"/bin/sh", "-c", "sleep 100 & echo ready; read line; kill $!"}}, true);
  ASSERT_TRUE(shell.read_until("ready"));
  Command how;
  how.argv = {directory_.path("ltrace"), "-o", directory_.path("log"), "-p",
              std::to_string(shell.pid())};
  RunningProgram tracer(how);
  ASSERT_TRUE(wait_until([&] { return status_field(shell.pid(), "TracerPid") != "0"; }));
  shell.write_line("end");
  shell.wait();

  const Ended ended = tracer.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_EQ(ended.err, "");
}

TEST_F(AsLtrace, counts_a_fork_in_both_processes) {
  const std::regex row(R"( *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) fork)");
  std::vector<std::string> counts;
  for (const std::string& tracer : {std::string("/usr/bin/ltrace"), directory_.path("ltrace")}) {
    const Ended ended = run_program({{tracer, "-c", "-f", tracee("children-pie-lazy"), "fork"}});
    counts.emplace_back();
    for (const auto& line : lines_of(ended.err)) {
      std::smatch match;
      if (std::regex_match(line, match, row)) counts.back() = match[1];
    }
  }
  EXPECT_EQ(counts[1], counts[0]);
  EXPECT_NE(counts[1], "");
}

TEST_F(AsLtrace, does_not_start_a_static_program) {
  // A difference: ltrace says the same, and leaves the program to run untraced.
  const std::string program = directory_.path("static");
  write_file(directory_.path("p.c"), "#include <stdio.h>\nint main(void) { puts(\"ran\"); }\n");
  if (!run_program({{"gcc", "-static", "-o", program, directory_.path("p.c")}}).exited_with(0))
    GTEST_SKIP() << "no static C library";
  expect_same({program}, false);
  EXPECT_EQ(run_program({{directory_.path("ltrace"), program}}).out, "");
  EXPECT_EQ(run_program({{SONICTRACE, "-o", directory_.path("log"), program}}).out, "ran\n");
}

INSTANTIATE_OVER_ENGINES(Errors);

} // namespace
} // namespace sonictrace::test
