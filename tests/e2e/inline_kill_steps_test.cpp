// A tracer that is killed at each of its steps: while it launches and injects, while it attaches,
// while it detaches. The program ends with the right result. Or that is stopped there for a while.
//
// SONICTRACE_KILLS: how many steps of each phase, spread evenly; each of a tracer's ten thousands
// of system calls is a stop here, so that a hundred take minutes.
#include <csignal>
#include <thread>

#include "stepped_tracer.hpp"

namespace sonictrace::test {
namespace {

/// What is done to the tracer at the step.
enum class Blow { Kill, StopAndKill, StopAndContinue };

class SteppedKill : public testing::Test {
protected:
  SteppedKill() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~SteppedKill() override {
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {} // children that the program left
  }

  static constexpr const char* kKinds = "cvewpdx";
  static std::string program() { return tracee("under_load-pie-lazy"); }

  static Blow blow_of(long round) {
    constexpr Blow kOrder[] = {Blow::Kill, Blow::Kill, Blow::StopAndKill, Blow::Kill,
                               Blow::StopAndContinue};
    return kOrder[round % 5];
  }

  static void strike(SteppedTracer& tracer, Blow blow) {
    if (blow != Blow::Kill) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (blow == Blow::StopAndContinue)
      tracer.let_go();
    else
      tracer.kill();
  }

  std::vector<std::string> with(std::vector<std::string> options) const {
    std::vector<std::string> all = {SONICTRACE, "--engine=inline", "--quiet", "-o",
                                    directory_.path("log")};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  Command service(const LoadState& state) const {
    Command command;
    // Nothing that a tracer would have to do anything for, so that it waits once it is attached.
    command.argv = {program(), state.path(), "cvewpxc", tracee("libtrap_plug.so")};
    return command;
  }

  /// The program goes on, and ends well.
  static void expect_well(LoadState& state, RunningProgram& service) {
    EXPECT_TRUE(state.wait_for_rounds(service.pid(), 300)) << status_field(service.pid(), "State");
    state.stop();
    const Ended ended = service.wait();
    EXPECT_EQ(ended.end(), "exit 7");
    EXPECT_EQ(ended.out, "wrong 0, did something 1\n");
    EXPECT_EQ(state.get(&load_state::wrong), 0);
  }

  /// It waits for what its tracees do.
  static bool is_idle(pid_t tracer) {
    return read_file("/proc/" + std::to_string(tracer) + "/syscall")
        .starts_with(std::to_string(SYS_wait4) + " ");
  }

  /// Attaches, and leaves at a SIGINT. `at`: the step of the phase to strike at; none: to its end.
  /// Returns how many steps there were.
  long attach_and_leave(const std::vector<std::string>& options, bool in_detach,
                        std::optional<long> at, Blow blow) {
    std::filesystem::remove(directory_.path("state"));
    LoadState state(directory_.path("state"));
    RunningProgram program(service(state));
    EXPECT_TRUE(state.wait_for_start(program.pid()));
    auto all = options;
    all.insert(all.end(), {"-p", std::to_string(program.pid())});
    SteppedTracer tracer(with(all), directory_.path("out"));

    long steps = 0;
    const auto run = [&](bool counts, auto is_done) {
      while (tracer.step(is_done)) {
        if (!counts) continue;
        if (at && steps == *at) {
          strike(tracer, blow);
          return false;
        }
        ++steps;
      }
      return true;
    };
    // Attached: it waits, and what it has patched records.
    const bool attached = run(!in_detach, [&] { return is_idle(tracer.pid()); });
    if (attached && in_detach) {
      const long wanted = state.get(&load_state::rounds) + 100;
      tracer.step([&] { return state.get(&load_state::rounds) > wanted; });
      ::kill(tracer.pid(), SIGINT);
      run(true, [] { return false; });
    }
    if (!tracer.has_ended()) { // it has been let go on
      tracer.let_go();
      EXPECT_TRUE(state.wait_for_rounds(program.pid(), 100));
      ::kill(tracer.pid(), SIGINT);
      EXPECT_TRUE(tracer.wait());
    }
    expect_well(state, program);
    if (HasFailure()) ADD_FAILURE() << read_file(directory_.path("out"));
    return steps;
  }

  void strike_all_over(const std::vector<std::string>& options, bool in_detach) {
    const long steps = attach_and_leave(options, in_detach, std::nullopt, Blow::Kill);
    ASSERT_GT(steps, 10);
    const long rounds = std::min(steps, setting("SONICTRACE_KILLS", 5));
    for (long round = 0; round < rounds && !HasFailure(); ++round) {
      const long at = steps * round / rounds;
      SCOPED_TRACE("step " + std::to_string(at) + " of " + std::to_string(steps));
      attach_and_leave(options, in_detach, at, blow_of(round));
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(SteppedKill, while_it_attaches) { strike_all_over({"-e", "tp_*"}, false); }
TEST_F(SteppedKill, while_it_detaches) { strike_all_over({"-e", "tp_*"}, true); }
TEST_F(SteppedKill, while_it_attaches_to_entry_points) {
  strike_all_over({"-x", "tp_*@libtraps.so"}, false);
}
TEST_F(SteppedKill, while_it_detaches_from_entry_points) {
  strike_all_over({"-x", "tp_*@libtraps.so"}, true);
}

TEST_F(SteppedKill, while_it_launches_and_injects) {
  const auto launch = [&](std::optional<long> at, Blow blow) {
    std::filesystem::remove(directory_.path("state"));
    LoadState state(directory_.path("state"));
    SteppedTracer tracer(with({program(), state.path(), kKinds, tracee("libtrap_plug.so")}),
                         directory_.path("out"));
    // From the program's exec on: before, there is none.
    pid_t pid = 0;
    const auto find = [&] {
      for (const pid_t child : children_of(tracer.pid())) {
        std::error_code failed;
        const auto exe =
            std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", failed);
        if (!failed && exe == std::filesystem::canonical(program())) pid = child;
      }
    };
    long steps = 0;
    bool is_struck = false;
    while (tracer.step([&] { return state.get(&load_state::started) != 0; })) {
      if (pid == 0) find();
      if (pid == 0) continue;
      if (at && steps == *at) {
        strike(tracer, blow);
        is_struck = true;
        break;
      }
      if (state.get(&load_state::started) != 0) break;
      ++steps;
    }
    EXPECT_GT(pid, 0);
    const bool is_killed = is_struck && tracer.has_ended();
    if (!is_killed) tracer.let_go();
    EXPECT_TRUE(state.wait_for_start(pid)) << status_field(pid, "State");
    EXPECT_TRUE(state.wait_for_rounds(pid, 300)) << status_field(pid, "State");
    state.stop();
    int status = 0;
    if (is_killed) {
      EXPECT_TRUE(wait_until([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }));
      if (HasFailure()) ::kill(pid, SIGKILL);
    } else {
      EXPECT_TRUE(tracer.wait());
      status = tracer.status();
    }
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(read_file(directory_.path("out")), "wrong 0, did something 1\n");
    return steps;
  };
  const long steps = launch(std::nullopt, Blow::Kill);
  ASSERT_GT(steps, 10);
  const long rounds = std::min(steps, setting("SONICTRACE_KILLS", 5));
  for (long round = 0; round < rounds && !HasFailure(); ++round) {
    const long at = steps * round / rounds;
    SCOPED_TRACE("step " + std::to_string(at) + " of " + std::to_string(steps));
    launch(at, blow_of(round));
  }
}

} // namespace
} // namespace sonictrace::test
