// What is refused, how it is said, and that nothing is started or harmed by it.
#include <elf.h>
#include <sys/mount.h>
#include <sys/ptrace.h>

#include <cstring>

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

INSTANTIATE_OVER_ENGINES(Errors);

} // namespace
} // namespace sonictrace::test
