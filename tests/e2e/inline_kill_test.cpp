// A tracer that is killed or stopped at any moment: the program ends with the right result. And a
// program that is killed: its log has all that it had done.
//
// SONICTRACE_KILLS: how often in each phase; SONICTRACE_SEED: which moments.
#include <csignal>
#include <deque>
#include <random>
#include <sstream>
#include <thread>

#include "under_load.hpp"

namespace sonictrace::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class KilledTracer : public WithEngine {
protected:
  KilledTracer() {
    // So that the program, whose parent is the tracer, becomes our child when that dies.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~KilledTracer() override {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {} // children that the program left
  }

  static std::string program() { return tracee("under_load-pie-lazy"); }

  /// A moment at random: the only waits here, and none of them decides whether a test is right.
  void wait_at_random(microseconds at_most) {
    std::uniform_int_distribution<long> up_to(0, at_most.count());
    std::this_thread::sleep_for(microseconds(up_to(random_)));
  }

  static std::string log_of(const LoadState& state) { return state.path() + ".log"; }

  Command tracer(const LoadState& state, const std::string& kinds,
                 std::vector<std::string> options = {"-e", "tp_*"}) const {
    Command command;
    command.argv =
        std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "--quiet", "-o",
                                 log_of(state)} +
        options +
        std::vector<std::string>{program(), state.path(), kinds, tracee("libtrap_plug.so")};
    return command;
  }

  /// Waits for the end of what has become our child; kills it where it doesn't end.
  static Ended wait_for(pid_t pid) {
    Ended ended;
    if (wait_until([&] { return ::waitpid(pid, &ended.status, WNOHANG) == pid; })) return ended;
    ended.timed_out = true;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return ended;
  }

  /// A program whose tracer was brought to its end.
  struct Survivor {
    Survivor(const KilledTracer& test, const std::string& state_path, const std::string& kinds,
             const std::vector<std::string>& options)
        : state(state_path), traced(test.tracer(state, kinds, options)),
          pid(wait_for_program(traced, program())) {}

    LoadState state;
    RunningProgram traced;
    pid_t pid; ///< 0 where it did not come up
  };

  static void expect_to_go_on(Survivor& program) {
    const pid_t pid = program.pid;
    ASSERT_GT(pid, 0) << program.traced.errors_so_far();
    const bool goes_on =
        program.state.wait_for_start(pid) && program.state.wait_for_rounds(pid, 50);
    EXPECT_TRUE(goes_on) << "state of the program: " << status_field(pid, "State");
    program.state.stop();
    const Ended ended = wait_for(pid);
    EXPECT_EQ(ended.end(), "exit 7");
    EXPECT_EQ(program.state.get(&load_state::wrong), 0);
    EXPECT_EQ(program.traced.wait().out, "wrong 0, did something 1\n");
  }

  /// Starts traces of KINDS, brings their tracers to an end as `end` likes, one after the other,
  /// and expects the programs to go on and to end well. Each may wait two seconds for its tracer: a
  /// few do so at the same time.
  template <class End>
  void expect_survival(const std::string& kinds, const std::vector<std::string>& options, End end) {
    constexpr std::size_t kAtOnce = 5;
    const long rounds = setting("SONICTRACE_KILLS", 10);
    for (long round = 0; round < rounds;) {
      std::deque<Survivor> programs;
      for (; programs.size() < kAtOnce && round < rounds && !HasFailure(); ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        auto& program = programs.emplace_back(
            *this, directory_.path("state-" + std::to_string(round)), kinds, options);
        if (program.pid > 0) end(program.traced, program.state, program.pid);
        program.traced.send_signal(SIGKILL);
        EXPECT_TRUE(wait_until([&] { return !program.traced.is_running(); }));
      }
      for (auto& program : programs) {
        SCOPED_TRACE(program.state.path());
        expect_to_go_on(program);
      }
      if (HasFailure()) return; // one is enough, and a hundred take long
    }
  }

  /// The same once the program is at work, at a moment within `span`.
  void expect_survival_at_work(const std::string& kinds,
                               const std::vector<std::string>& options = {"-e", "tp_*"},
                               milliseconds span = milliseconds(40)) {
    expect_survival(kinds, options, [&](RunningProgram&, LoadState& state, pid_t pid) {
      ASSERT_TRUE(state.wait_for_start(pid));
      wait_at_random(span);
    });
  }

  std::mt19937_64 random_{static_cast<std::uint64_t>(setting("SONICTRACE_SEED", 20260101))};
  TemporaryDirectory directory_;
};

TEST_P(KilledTracer, while_it_injects_and_patches) {
  // How long this takes here, from the program's exec to its first thread's work.
  LoadState state(directory_.path("first"));
  RunningProgram first(tracer(state, "c", {}));
  const pid_t pid = wait_for_program(first, program());
  ASSERT_GT(pid, 0) << first.errors_so_far();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(state.wait_for_start(pid)) << first.errors_so_far();
  const auto took =
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
  state.stop();
  ASSERT_TRUE(first.wait().exited_with(7));

  expect_survival("cx", {}, [&](RunningProgram&, LoadState&, pid_t) { wait_at_random(took); });
}

TEST_P(KilledTracer, while_calls_are_made) { expect_survival_at_work("cccc"); }
TEST_P(KilledTracer, while_all_calls_of_all_modules_are_made) {
  expect_survival_at_work("cxs", {"-e", "*"});
}
TEST_P(KilledTracer, while_it_counts) { expect_survival_at_work("cccx", {"-c"}); }
TEST_P(KilledTracer, while_exceptions_are_thrown) { expect_survival_at_work("xxc"); }
// By threads that do nothing else: each dlopen may wait for a tracer, but not each for one that is
// dead.
TEST_P(KilledTracer, while_plug_ins_are_loaded) { expect_survival_at_work("dd"); }
TEST_P(KilledTracer, while_the_program_forks) { expect_survival_at_work("ffc"); }
TEST_P(KilledTracer, while_the_program_forks_and_is_followed) {
  expect_survival_at_work("ffc", {"-f", "-e", "tp_*"});
}
TEST_P(KilledTracer, while_threads_come_and_go) { expect_survival_at_work("tttc"); }

TEST_P(KilledTracer, after_it_was_stopped_so_that_the_rings_are_full) {
  expect_survival("cccc", {"-e", "tp_*"}, [&](RunningProgram& traced, LoadState& state, pid_t pid) {
    ASSERT_TRUE(state.wait_for_start(pid));
    traced.send_signal(SIGSTOP);
    // Until nothing moves for a while, or for a second where it never comes to that.
    long before = -1;
    wait_until(
        [&] {
          const long rounds = state.get(&load_state::rounds);
          if (rounds == before) return true;
          before = rounds;
          std::this_thread::sleep_for(milliseconds(20));
          return false;
        },
        std::chrono::seconds(1));
    wait_at_random(milliseconds(50));
  });
}

TEST_P(KilledTracer, while_it_attaches_or_detaches) {
  for (long round = 0; round < setting("SONICTRACE_KILLS", 10); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::filesystem::remove(directory_.path("state"));
    LoadState state(directory_.path("state"));
    Command command;
    command.argv = {program(), state.path(), "ccdx", tracee("libtrap_plug.so")};
    RunningProgram service(command);
    ASSERT_TRUE(state.wait_for_start(service.pid()));
    Command attach;
    attach.argv = {
        SONICTRACE, "--engine=" + engine(),       "--quiet", "-o", directory_.path("log"),
        "-p",       std::to_string(service.pid())};
    RunningProgram attached(attach);
    ASSERT_TRUE(wait_until(
        [&] { return status_field(service.pid(), "TracerPid") != "0" || !attached.is_running(); }));
    if (round % 2 == 0) {
      wait_at_random(milliseconds(30)); // it injects and patches
    } else {
      ASSERT_TRUE(state.wait_for_rounds(service.pid(), 500));
      attached.send_signal(SIGINT);
      wait_at_random(milliseconds(10));
    }
    attached.send_signal(SIGKILL);
    ASSERT_TRUE(wait_until([&] { return !attached.is_running(); }));

    EXPECT_TRUE(state.wait_for_rounds(service.pid(), 500)) << status_field(service.pid(), "State");
    state.stop();
    const Ended ended = service.wait();
    EXPECT_EQ(ended.end(), "exit 7");
    EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
    if (HasFailure()) return;
  }
}

TEST_P(KilledTracer, or_one_that_stops_for_a_while_changes_nothing) {
  for (const std::string kinds : {"cccc", "ddc", "ffc", "xxc", "tc"}) {
    SCOPED_TRACE(kinds);
    for (long round = 0; round < std::max(2L, setting("SONICTRACE_KILLS", 10) / 4); ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      std::filesystem::remove(directory_.path("state"));
      LoadState state(directory_.path("state"));
      RunningProgram traced(tracer(state, kinds));
      const pid_t pid = wait_for_program(traced, program());
      ASSERT_TRUE(state.wait_for_start(pid)) << traced.errors_so_far();
      wait_at_random(milliseconds(20));
      traced.send_signal(SIGSTOP);
      wait_at_random(milliseconds(300));
      traced.send_signal(SIGCONT);
      EXPECT_TRUE(state.wait_for_rounds(pid, 20)) << traced.errors_so_far();
      state.stop();
      const Ended ended = traced.wait();

      EXPECT_EQ(ended.end(), "exit 7") << ended.err;
      EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
      if (kinds.find('f') != std::string::npos) continue; // counts what children do as well
      EXPECT_EQ(calls_in_log(read_file(log_of(state)))["tp_one"], state.get(&load_state::arrived));
    }
  }
}

TEST_P(KilledTracer, or_one_that_stops_for_longer_than_a_program_waits_changes_no_result) {
  LoadState state(directory_.path("state"));
  RunningProgram traced(tracer(state, "cccx"));
  const pid_t pid = wait_for_program(traced, program());
  ASSERT_TRUE(state.wait_for_start(pid)) << traced.errors_so_far();
  traced.send_signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(4)); // it gives up after two
  traced.send_signal(SIGCONT);
  EXPECT_TRUE(state.wait_for_rounds(pid, 1000)) << traced.errors_so_far();
  state.stop();
  const Ended ended = traced.wait();

  EXPECT_EQ(ended.end(), "exit 7") << ended.err;
  EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
}

INSTANTIATE_TEST_SUITE_P(E2e, KilledTracer, testing::Values("inline"),
                         [](const auto& tested) { return as_test_name(tested.param); });

class KilledProgram : public KilledTracer {};

TEST_P(KilledProgram, has_all_its_complete_calls_in_the_log) {
  for (long round = 0; round < setting("SONICTRACE_KILLS", 10); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::filesystem::remove(directory_.path("state"));
    LoadState state(directory_.path("state"));
    RunningProgram traced(tracer(state, round % 2 ? "cc" : "ccxd"));
    const pid_t pid = wait_for_program(traced, program());
    ASSERT_GT(pid, 0) << traced.errors_so_far();
    ASSERT_TRUE(state.wait_for_start(pid));
    ASSERT_TRUE(wait_until([&] { return state.get(&load_state::completed) > 0; }));
    wait_at_random(milliseconds(40));
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    const Ended ended = traced.wait();

    EXPECT_TRUE(ended.killed_by(SIGKILL)) << ended.end() << ended.err;
    const std::string log = read_file(log_of(state));
    EXPECT_GE(calls_in_log(log)["tp_one"], state.get(&load_state::completed));
    EXPECT_GT(state.get(&load_state::completed), 0);
    EXPECT_NE(log.find("killed by SIGKILL"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(E2e, KilledProgram, testing::ValuesIn(kEngines),
                         [](const auto& tested) { return as_test_name(tested.param); });

} // namespace
} // namespace sonictrace::test
