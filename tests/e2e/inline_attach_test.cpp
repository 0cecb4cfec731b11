// Attaching to a service under full load and leaving it, again and again: it does not crash,
// nothing of ours piles up in it, and in the end it is as fast as it was.
//
// SONICTRACE_ATTACHES: how often.
#include <csignal>
#include <sstream>
#include <thread>

#include "under_load.hpp"

namespace sonictrace::test {
namespace {

struct Memory {
  long size_kb = 0, resident_kb = 0, mappings = 0;
};

Memory memory_of(pid_t pid) {
  const auto maps = read_file("/proc/" + std::to_string(pid) + "/maps");
  return {std::atol(status_field(pid, "VmSize").c_str()),
          std::atol(status_field(pid, "VmRSS").c_str()),
          std::count(maps.begin(), maps.end(), '\n')};
}

/// The least of several looks: the program loads and drops plug-ins meanwhile.
Memory least_memory_of(pid_t pid) {
  Memory least = memory_of(pid);
  for (int i = 0; i < 30; ++i) {
    const Memory now = memory_of(pid);
    least.size_kb = std::min(least.size_kb, now.size_kb);
    least.resident_kb = std::min(least.resident_kb, now.resident_kb);
    least.mappings = std::min(least.mappings, now.mappings);
  }
  return least;
}

/// The processor time a process has used, in clock ticks (proc(5): fields 14 and 15).
long ticks_of(pid_t pid) {
  std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field)
    fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

/// What the service does in a second of its own processor time, whoever else uses the machine.
double speed_of(pid_t pid, const LoadState& state) {
  std::vector<double> speeds;
  for (int window = 0; window < 7; ++window) {
    const long ticks = ticks_of(pid), calls = state.get(&load_state::completed);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const long used = ticks_of(pid) - ticks;
    if (used > 0)
      speeds.push_back(static_cast<double>(state.get(&load_state::completed) - calls) /
                       static_cast<double>(used) * static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }
  if (speeds.empty()) return 0;
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<long>(speeds.size() / 2),
                   speeds.end());
  return speeds[speeds.size() / 2];
}

class AttachedAgain : public WithEngine {
protected:
  TemporaryDirectory directory_;
};

TEST_P(AttachedAgain, a_service_under_load_keeps_its_size_and_its_speed) {
  if (setting("SONICTRACE_ATTACHES", 0) == 0)
    GTEST_SKIP() << "each attach leaves mappings behind, of slots or of the agent (docs/AGENT.md); "
                    "SONICTRACE_ATTACHES=N measures how much";
  const long cycles = setting("SONICTRACE_ATTACHES", 15);
  const long warm = std::min(20L, cycles / 2);
  LoadState state(directory_.path("state"));
  Command command;
  command.argv = {tracee("under_load-pie-lazy"), state.path(), "cccccxxd",
                  tracee("libtrap_plug.so")};
  command.limit = std::chrono::seconds(60 + 10 * cycles);
  RunningProgram service(command);
  ASSERT_TRUE(state.wait_for_start(service.pid()));
  const double speed_before = speed_of(service.pid(), state);

  const std::vector<std::vector<std::string>> ways = {
      {"-e", "tp_*"}, {"-c"}, {"-e", "*"}, {"-f"}, {"-e", "tp_*", "--split-lines"}};
  std::vector<Memory> memory;
  for (long cycle = 0; cycle < cycles; ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    Command attach;
    attach.argv =
        std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-o", directory_.path("log")} +
        ways[static_cast<std::size_t>(cycle) % ways.size()] +
        std::vector<std::string>{"-p", std::to_string(service.pid())};
    RunningProgram attached(attach);
    ASSERT_TRUE(wait_until(
        [&] { return status_field(service.pid(), "TracerPid") != "0" || !attached.is_running(); }));
    ASSERT_TRUE(state.wait_for_rounds(service.pid(), 1000)) << attached.errors_so_far();
    attached.send_signal(SIGINT);
    const Ended ended = attached.wait();

    EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
    ASSERT_TRUE(service.is_running()) << service.wait().end();
    EXPECT_EQ(status_field(service.pid(), "TracerPid"), "0");
    EXPECT_NE(read_file(directory_.path("log")).find(" 0 lost calls"), std::string::npos);
    ASSERT_TRUE(state.wait_for_rounds(service.pid(), 500)) << status_field(service.pid(), "State");
    memory.push_back(least_memory_of(service.pid()));
  }
  const double speed_after = speed_of(service.pid(), state);
  state.stop();
  const Ended ended = service.wait();

  EXPECT_EQ(ended.end(), "exit 7") << ended.err;
  EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
  // Less than a page and half a mapping a cycle, once the first have put there what stays.
  const Memory &early = memory[static_cast<std::size_t>(warm)], &late = memory.back();
  const long later = cycles - 1 - warm;
  EXPECT_LT(late.size_kb - early.size_kb, 4 * later + 132) // and one heap's growth by itself
      << "from " << early.size_kb << " kB to " << late.size_kb;
  EXPECT_LT(late.resident_kb - early.resident_kb, 4 * later + 512)
      << "from " << early.resident_kb << " kB to " << late.resident_kb;
  EXPECT_LE(late.mappings - early.mappings, later / 2 + 6) // plug-ins come and go
      << "from " << early.mappings << " to " << late.mappings;
  EXPECT_GT(speed_after, 0.8 * speed_before) << "calls a second of processor time";
  RecordProperty("speed_before", std::to_string(speed_before));
  RecordProperty("speed_after", std::to_string(speed_after));
}

INSTANTIATE_OVER_ENGINES(AttachedAgain);

} // namespace
} // namespace sonictrace::test
