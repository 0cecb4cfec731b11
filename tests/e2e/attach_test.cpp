// Attaching to what runs already, and leaving it as it was.
#include <cstring>
#include <fstream>
#include <set>

#include "trace.hpp"

namespace sonictrace::test {
namespace {

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", ignored))
    threads.push_back(std::stoi(entry.path().filename()));
  return threads;
}

bool is_traced(pid_t pid) {
  const auto threads = threads_of(pid);
  return !threads.empty() && std::all_of(threads.begin(), threads.end(), [](pid_t thread) {
    return status_field(thread, "TracerPid") != "0";
  });
}

bool is_left_alone(pid_t pid) {
  const auto threads = threads_of(pid);
  return std::all_of(threads.begin(), threads.end(),
                     [](pid_t thread) { return status_field(thread, "TracerPid") == "0"; });
}

class Attach : public TracedProgram {
protected:
  std::string log_path() const { return directory_.path("log"); }
  Command tracer(const std::vector<std::string>& options, pid_t pid) const {
    Command command;
    command.argv =
        std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-o", log_path()} + options;
    // In a second the busy service makes more lines than these tests should read.
    if (engine() == "inline") command.argv.push_back("--thin-after=1M");
    command.argv = command.argv + std::vector<std::string>{"-p", std::to_string(pid)};
    return command;
  }
  TemporaryDirectory directory_;
};

Command command_of(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  return command;
}

TEST_P(Attach, to_a_busy_service_again_and_again_does_not_disturb_it) {
  RunningProgram service(command_of({program("service"), "8"}), true);
  ASSERT_TRUE(service.read_until("ready"));
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    RunningProgram attached(tracer({"-e", "tr_*", "--max-calls=2000"}, service.pid()));
    const Ended ended = attached.wait();
    const Traced run = read_back(ended, log_path());

    EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
    EXPECT_TRUE(is_left_alone(service.pid()));
    EXPECT_TRUE(changed_code(service.pid()).empty());
    std::set<std::string> names;
    for (const auto& call : run.log.calls) {
      names.insert(call.name);
      if (call.name != "tr_add" || call.end != LoggedCall::End::Returned) continue;
      ASSERT_EQ(std::stoi(call.arguments.at(0)) + std::stoi(call.arguments.at(1)),
                std::stoi(call.result));
    }
    EXPECT_GE(run.log.calls.size(), 1900u);
    EXPECT_EQ(names, (std::set<std::string>{"tr_add", "tr_callback", "tr_tail"}));
    service.write_line("ping");
    ASSERT_TRUE(service.read_until("alive"));
  }
  service.write_line("stop");
  const Ended ended = service.wait();
  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_TRUE(ended.out.ends_with("wrong 0\n")) << ended.out;
}

TEST_P(Attach, is_ended_by_signals_to_the_tracer_at_any_moment) {
  RunningProgram service(command_of({program("service"), "4"}), true);
  ASSERT_TRUE(service.read_until("ready"));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    RunningProgram attached(tracer({"-e", "tr_*"}, service.pid()));
    ASSERT_TRUE(wait_until([&] { return is_traced(service.pid()) || !attached.is_running(); }));
    attached.send_signal(signal);
    const Ended ended = attached.wait();

    EXPECT_FALSE(ended.timed_out);
    EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
    EXPECT_TRUE(is_left_alone(service.pid()));
    EXPECT_TRUE(changed_code(service.pid()).empty());
    service.write_line("ping");
    ASSERT_TRUE(service.read_until("alive"));
  }
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

TEST_P(Attach, to_a_program_that_forks_all_the_time_harms_no_child) {
  RunningProgram storm(command_of({program("fork_storm")}), true);
  ASSERT_TRUE(storm.read_until("ready"));
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::string> options = {"-e", "tr_*", "--max-calls=40"};
    if (round % 2 == 1) options.push_back("-f");
    RunningProgram attached(tracer(options, storm.pid()));
    const Ended ended = attached.wait();

    EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
    EXPECT_TRUE(is_left_alone(storm.pid()));
    EXPECT_TRUE(changed_code(storm.pid()).empty());
  }
  storm.write_line("stop");
  const Ended ended = storm.wait();
  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_TRUE(ended.out.ends_with("wrong 0\n")) << ended.out;
}

TEST_P(Attach, is_undone_when_the_tracer_dies_of_its_own_fault) {
  RunningProgram service(command_of({program("service"), "4"}), true);
  ASSERT_TRUE(service.read_until("ready"));
  for (const int signal : {SIGSEGV, SIGABRT, SIGSEGV}) {
    SCOPED_TRACE(signal);
    std::filesystem::remove(log_path()); // that of the round before says nothing of this one
    RunningProgram attached(tracer({"-e", "tr_*"}, service.pid()));
    // Until it has recorded something: its buffer is written ten times a second.
    ASSERT_TRUE(
        wait_until([&] { return !read_file(log_path()).empty() || !attached.is_running(); }));
    attached.send_signal(signal);
    const Ended ended = attached.wait();

    EXPECT_TRUE(ended.killed_by(signal)) << ended.end() << ended.err;
    EXPECT_TRUE(wait_until([&] { return is_left_alone(service.pid()); }));
    // A signal may come to another thread than the tracer's, which can't stop anybody: patches stay
    // then, with which the program can live, and breakpoints go (docs/AGENT.md).
    const bool all_is_undone = changed_code(service.pid()).empty();
    EXPECT_TRUE(all_is_undone || engine() == "inline");
    service.write_line("ping");
    ASSERT_TRUE(service.read_until("alive"));
  }
  service.write_line("stop");
  const Ended ended = service.wait();
  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_TRUE(ended.out.ends_with("wrong 0\n")) << ended.out;
}

TEST_P(Attach, is_not_noticed_by_blocked_system_calls) {
  RunningProgram blocked(command_of({program("blocked")}), true);
  ASSERT_TRUE(blocked.read_until("ready"));
  for (int round = 0; round < 4; ++round) {
    RunningProgram attached(tracer({}, blocked.pid()));
    ASSERT_TRUE(wait_until([&] { return is_traced(blocked.pid()) || !attached.is_running(); }));
    attached.send_signal(SIGINT);
    const Ended ended = attached.wait();
    EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
    EXPECT_TRUE(is_left_alone(blocked.pid()));
  }
  blocked.write_line("go");
  const Ended ended = blocked.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  const auto lines = lines_of(ended.out);
  EXPECT_EQ(lines.size(), 15u) << ended.out;
  for (const auto& line : lines)
    EXPECT_TRUE(line == "ready" || line.ends_with(" ok")) << line;
}

TEST_P(Attach, traces_blocked_threads_when_they_go_on) {
  RunningProgram blocked(command_of({program("blocked")}), true);
  ASSERT_TRUE(blocked.read_until("ready"));
  RunningProgram attached(tracer({}, blocked.pid()));
  ASSERT_TRUE(wait_until([&] { return is_traced(blocked.pid()) || !attached.is_running(); }));
  blocked.write_line("go");
  const Ended ended = blocked.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  // EAGAIN is what a futex(2) whose word has changed says to any thread that was stopped in it.
  for (const auto& line : lines_of(ended.out))
    EXPECT_TRUE(line == "ready" || line.ends_with(" ok") || line == "futex EAGAIN") << line;
  EXPECT_TRUE(attached.wait().exited_with(0));
  const Log log = parse_log(read_file(log_path()));
  EXPECT_TRUE(log.has_event("\\+\\+\\+ exited \\(status 0\\) \\+\\+\\+"));
  EXPECT_EQ(log.of("semctl").size(), 1u);
}

TEST_P(Attach, leaves_a_stopped_program_stopped) {
  RunningProgram stopped(command_of({program("stops_itself")}), true);
  ASSERT_TRUE(stopped.read_until("stopping"));
  const auto state_is = [&](const char* states) {
    const std::string state = status_field(stopped.pid(), "State");
    return !state.empty() && std::strchr(states, state[0]) != nullptr;
  };
  ASSERT_TRUE(wait_until([&] { return state_is("T"); }));
  {
    RunningProgram attached(tracer({"-e", "tr_*"}, stopped.pid()));
    ASSERT_TRUE(wait_until([&] { return is_traced(stopped.pid()) || !attached.is_running(); }));
    attached.send_signal(SIGINT);
    EXPECT_TRUE(attached.wait().exited_with(0));
  }
  EXPECT_TRUE(wait_until([&] { return state_is("T"); })) << status_field(stopped.pid(), "State");

  RunningProgram attached(tracer({"-e", "tr_*"}, stopped.pid()));
  ASSERT_TRUE(wait_until([&] { return is_traced(stopped.pid()) || !attached.is_running(); }));
  stopped.send_signal(SIGCONT);
  const Ended ended = stopped.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end();
  EXPECT_EQ(ended.out, "stopping\ngoing on\n");
  EXPECT_TRUE(attached.wait().exited_with(0));
  EXPECT_EQ(parse_log(read_file(log_path())).of("tr_add").size(), 1u);
}

/// How many probes the tracer says that it has put in.
std::size_t probes_put_in(const std::string& debug_lines) {
  const std::regex line("([0-9]+) probes and [0-9]+ marks put in");
  std::size_t sum = 0;
  for (std::sregex_iterator at(debug_lines.begin(), debug_lines.end(), line), end; at != end; ++at)
    sum += std::stoul((*at)[1]);
  return sum;
}

TEST_P(Attach, to_a_program_of_10500_slots_puts_all_of_them_in) {
  const std::string program = tracee(variant().ends_with("lazy") ? "huge-lazy" : "huge-now");
  if (!exists(program)) GTEST_SKIP() << "awk is not installed";
  RunningProgram huge(command_of({program, "ready"}), true);
  ASSERT_TRUE(huge.read_until("ready"));
  Command debugging = tracer({"-D", "2", "-e", "hp_*"}, huge.pid());
  std::erase(debugging.argv, "--thin-after=1M");
  RunningProgram attached(debugging);
  ASSERT_TRUE(wait_until([&] {
    return probes_put_in(attached.errors_so_far()) >= 10500 || !attached.is_running();
  })) << attached.errors_so_far();
  huge.write_line("");

  EXPECT_TRUE(huge.wait().exited_with(0));
  EXPECT_TRUE(attached.wait().exited_with(0));
  const Log log = parse_log(read_file(log_path()));
  ASSERT_EQ(log.calls.size(), 10500u);
  for (std::size_t i = 0; i < log.calls.size(); ++i)
    ASSERT_EQ(std::stoi(log.calls[i].result, nullptr, 0), static_cast<int>(i + i % 7));
}

TEST_P(Attach, beside_a_command_traces_both) {
  RunningProgram service(command_of({program("service"), "1"}), true);
  ASSERT_TRUE(service.read_until("ready"));
  Command both = tracer({"-f", "-e", "tr_*"}, service.pid());
  both.argv = both.argv + std::vector<std::string>{tracee("calls-pie-lazy")};
  RunningProgram attached(both);
  ASSERT_TRUE(wait_until([&] {
    return read_file(log_path()).find("exited (status 3)") != std::string::npos ||
           !attached.is_running();
  }));
  EXPECT_TRUE(attached.is_running()) << attached.errors_so_far();
  service.write_line("ping");
  EXPECT_TRUE(service.read_until("alive"));
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
  EXPECT_FALSE(attached.wait().timed_out);
  const Log log = parse_log(read_file(log_path()));
  EXPECT_EQ(log.of("tr_sum7").size(), 1u);
  EXPECT_GE(log.of("tr_tail").size(), 1u);
}

TEST_P(Attach, ends_after_its_duration) {
  RunningProgram service(command_of({program("service"), "2"}), true);
  ASSERT_TRUE(service.read_until("ready"));

  const Ended ended = run_program(tracer({"-e", "tr_*", "--duration=0.3s"}, service.pid()));

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  EXPECT_TRUE(is_left_alone(service.pid()));
  EXPECT_NE(read_file(log_path()).find("duration"), std::string::npos);
  service.write_line("stop");
  EXPECT_TRUE(service.wait().exited_with(0));
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Attach);

class Duration : public WithEngine {};

TEST_P(Duration, of_a_command_ends_the_trace_and_not_the_command) {
  const TemporaryDirectory directory;
  Command how;
  how.argv = {
      SONICTRACE,        "--engine=" + engine(),     "-o", directory.path("log"), "-e", "tr_*",
      "--duration=0.2s", tracee("service-pie-lazy"), "2"};
  RunningProgram run(how, true);
  ASSERT_TRUE(run.read_until("ready"));
  const std::string children =
      "/proc/" + std::to_string(run.pid()) + "/task/" + std::to_string(run.pid()) + "/children";
  pid_t child = 0;
  ASSERT_TRUE(wait_until([&] { return (child = std::atoi(read_file(children).c_str())) > 0; }));
  ASSERT_TRUE(wait_until([&] { return is_left_alone(child); }));
  EXPECT_TRUE(changed_code(child).empty());
  run.write_line("ping");
  EXPECT_TRUE(run.read_until("alive"));
  run.write_line("stop");
  const Ended ended = run.wait();

  const std::string log = read_file(directory.path("log"));
  EXPECT_GE(parse_log(log).calls.size(), 1u);
  EXPECT_NE(lines_of(log).back().find("duration"), std::string::npos) << lines_of(log).back();
  EXPECT_TRUE(ended.out.ends_with("wrong 0\n")) << ended.out;
  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
}

INSTANTIATE_OVER_ENGINES(Duration);

} // namespace
} // namespace sonictrace::test
