// Each tracee run twice, with and without the tracer: nothing that it can find out differs.
#include <map>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

std::map<std::string, std::string> files_in(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    files[entry.path().filename()] = read_file(entry.path());
  return files;
}

class Transparency : public TracedProgram {
protected:
  /// Runs `command` in a directory of its own, each time at the same path.
  void expect_no_difference(Command command, const std::vector<std::string>& options = {}) {
    const TemporaryDirectory logs;
    const std::string log = logs.path("log"), work = logs.path("work");
    command.directory = work;
    const auto run = [&](const Command& how) {
      std::filesystem::remove_all(work);
      std::filesystem::create_directory(work);
      return run_program(how);
    };
    const Ended untraced = run(command);
    const auto files = files_in(work);
    Command traced_command = command;
    traced_command.argv =
        std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-o", log, "--quiet"} +
        options + command.argv;
    const Ended traced = run(traced_command);

    EXPECT_EQ(traced.end(), untraced.end());
    EXPECT_EQ(traced.out, untraced.out);
    EXPECT_EQ(traced.err, untraced.err);
    EXPECT_EQ(files_in(work), files);
    EXPECT_FALSE(parse_log(read_file(log)).calls.empty()) << "nothing was traced";
  }
};

TEST_P(Transparency, of_output_and_end) {
  const std::vector<std::vector<std::string>> programs = {{"calls", "500"},
                                                          {"recursion", "3000"},
                                                          {"callbacks"},
                                                          {"tail_call"},
                                                          {"long_jump"},
                                                          {"exceptions", "100"},
                                                          {"coroutines"},
                                                          {"alternate_stack"},
                                                          {"threads"},
                                                          {"churn"},
                                                          {"fork_many", "15"},
                                                          {"daemon"},
                                                          {"address_taken"},
                                                          {"own_traps"},
                                                          {"blocked_traps"},
                                                          {"fault_address"},
                                                          {"group_stop"},
                                                          {"constructors"},
                                                          {"indirect_functions"},
                                                          {"versions"},
                                                          {"selected"},
                                                          {"children", "fork"},
                                                          {"children", "vfork"},
                                                          {"children", "vfork-exit"},
                                                          {"children", "spawn"},
                                                          {"children", "clone-vm"},
                                                          {"children", "clone-vm-vfork"},
                                                          {"ends", "return"},
                                                          {"ends", "exit"},
                                                          {"ends", "_exit"},
                                                          {"ends", "segv"},
                                                          {"ends", "abort"},
                                                          {"ends", "9"},
                                                          {"ends", "15"},
                                                          {"ends", "3"}};
  for (const auto& [name, rest] : [&] {
         std::vector<std::pair<std::string, std::vector<std::string>>> split;
         for (const auto& one : programs)
           split.push_back({one[0], {one.begin() + 1, one.end()}});
         return split;
       }()) {
    SCOPED_TRACE(name + (rest.empty() ? "" : " " + rest[0]));
    Command command;
    command.argv = std::vector<std::string>{program(name)} + rest;
    expect_no_difference(command);
  }
}

TEST_P(Transparency, with_children_followed) {
  for (const std::string way :
       {"fork", "vfork", "vfork-exit", "spawn", "clone-vm", "clone-vm-vfork"}) {
    SCOPED_TRACE(way);
    expect_no_difference({{program("children"), way}}, {"-f"});
  }
  expect_no_difference({{program("group_stop")}}, {"-f"});
  expect_no_difference({{program("fork_many")}}, {"-f"});
  expect_no_difference({{program("daemon")}}, {"-f"});
}

TEST_P(Transparency, of_files_and_input) {
  Command command{{program("copies_input"), "copy"}};
  for (int i = 0; i < 300; ++i)
    command.input += "line " + std::to_string(i) + "\n";
  expect_no_difference(command);
}

TEST_P(Transparency, of_what_a_process_is_started_with) {
  Command command{{program("surroundings"), "an argument", "-p", "--", "-o"}};
  command.environment = {"SOMETHING=else", "EMPTY="};
  expect_no_difference(command);
  command.ignored_signals = {SIGHUP, SIGINT, SIGUSR1, SIGPIPE, SIGCHLD};
  expect_no_difference(command);
  command.argv = std::vector<std::string>{"taskset", "-c", "0"} + command.argv;
  expect_no_difference(command);
}

TEST_P(Transparency, of_signals_and_threads) {
  expect_no_difference({{program("exec"), "thread", tracee("calls-pie-now")}});
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Transparency);

} // namespace
} // namespace sonictrace::test
