// Attaching to a service under full load and leaving it, again and again: it does not crash,
// nothing of ours piles up in it, and in the end it is as fast as it was.
//
// SONICTRACE_ATTACHES: how often.
#include <csignal>
#include <regex>
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
  const long cycles = setting("SONICTRACE_ATTACHES", 20);
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
    // A record that a thread is just writing at the detach may be cut; it is counted.
    const std::string log = read_file(directory_.path("log"));
    EXPECT_TRUE(std::regex_search(log, std::regex(" [0-2] lost calls")))
        << log.substr(log.rfind('\n', log.size() - 2) + 1);
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
  // Entries of calls are used again as late as can be: all that there are get touched in the end.
  constexpr long kEntries = 24'000;
  EXPECT_LT(late.resident_kb - early.resident_kb, 4 * later + kEntries)
      << "from " << early.resident_kb << " kB to " << late.resident_kb;
  EXPECT_LE(late.mappings - early.mappings, later / 2 + 6) // plug-ins come and go
      << "from " << early.mappings << " to " << late.mappings;
  EXPECT_GT(speed_after, 0.6 * speed_before) << "calls a second of processor time";
  RecordProperty("speed_before", std::to_string(speed_before));
  RecordProperty("speed_after", std::to_string(speed_after));
}

INSTANTIATE_OVER_ENGINES(AttachedAgain);

/// The code of a process's modules that differs from their files: where, a line each. But for
/// plug-ins, which come and go.
std::string changed_code(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const UniqueFd memory(::open((process + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::istringstream maps(read_file(process + "/maps"));
  std::string changed;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device, inode, path;
    fields >> range >> permissions >> offset >> device >> inode >> path;
    if (permissions != "r-xp" || path.empty() || path[0] != '/' ||
        path.find("plug") != std::string::npos)
      continue;
    const auto begin = std::stoul(range, nullptr, 16);
    std::string code(std::stoul(range.substr(range.find('-') + 1), nullptr, 16) - begin, '\0');
    if (::pread(memory.get(), code.data(), code.size(), static_cast<off_t>(begin)) !=
        static_cast<ssize_t>(code.size()))
      continue;
    const std::string file = read_file(path);
    const std::size_t from = std::stoul(offset, nullptr, 16);
    for (std::size_t i = 0; i < code.size() && from + i < file.size(); ++i)
      if (code[i] != file[from + i]) {
        changed += path + " + " + std::to_string(from + i) + "\n";
        break;
      }
  }
  return changed;
}

TEST(AttachedAfterAKill, sees_all_calls_and_leaves_no_byte_changed) {
  TemporaryDirectory directory;
  LoadState state(directory.path("state"));
  Command command;
  command.argv = {tracee("under_load-pie-lazy"), state.path(), "c", tracee("libtrap_plug.so")};
  RunningProgram service(command);
  ASSERT_TRUE(state.wait_for_start(service.pid()));
  ASSERT_EQ(changed_code(service.pid()), "");
  const auto attach = [&](std::vector<std::string> options) {
    Command attached;
    attached.argv =
        std::vector<std::string>{SONICTRACE, "--engine=inline", "-o", directory.path("log")} +
        options + std::vector<std::string>{"-p", std::to_string(service.pid())};
    return attached;
  };
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-e", "tp_*"}, {"-c"}, {"-e", "*", "-x", "tp_one"}}) {
    SCOPED_TRACE(options.back());
    {
      RunningProgram killed(attach(options));
      ASSERT_TRUE(wait_until([&] { return changed_code(service.pid()) != ""; }));
      ASSERT_TRUE(state.wait_for_rounds(service.pid(), 200)) << killed.errors_so_far();
      killed.send_signal(SIGKILL);
      ASSERT_TRUE(wait_until([&] { return !killed.is_running(); }));
      std::filesystem::remove(directory.path("log"));
    }
    ASSERT_TRUE(state.wait_for_rounds(service.pid(), 200));
    EXPECT_NE(changed_code(service.pid()), "") << "nobody has undone it so far";

    // In a second the service makes more lines than this test should read.
    RunningProgram attached(attach({"-e", "tp_*", "--thin-after=1M"}));
    // Two seconds, where a thread of the program still waits for the tracer that was killed.
    ASSERT_TRUE(wait_until([&] {
      return read_file(directory.path("log")).find("tp_one(") != std::string::npos;
    })) << attached.errors_so_far();
    ASSERT_TRUE(state.wait_for_rounds(service.pid(), 500)) << attached.errors_so_far();
    attached.send_signal(SIGINT);
    const Ended ended = attached.wait();

    EXPECT_TRUE(ended.exited_with(0)) << ended.end();
    EXPECT_EQ(ended.err, "");
    const std::string log = read_file(directory.path("log"));
    EXPECT_NE(log.find("tp_one("), std::string::npos);
    EXPECT_NE(log.find("tp_call("), std::string::npos);
    EXPECT_NE(log.find(" 0 lost calls"), std::string::npos);
    EXPECT_EQ(changed_code(service.pid()), "");
  }
  state.stop();
  const Ended ended = service.wait();

  EXPECT_EQ(ended.end(), "exit 7") << ended.err;
  EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
}

} // namespace
} // namespace sonictrace::test
