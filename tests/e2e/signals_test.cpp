// Every signal that is not ours is the program's; and it never sees where we run its code.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Signals : public TracedProgram {};

TEST_P(Signals, int3_and_sigtrap_of_the_program_reach_its_handler) {
  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {program("own_traps")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_NE(run.ended.out.find("traps 100, sent 100\n"), std::string::npos);
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Signals, keep_their_mask_and_disposition_under_traced_calls) {
  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {program("blocked_traps")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  std::string calls;
  for (const auto& call : printed_calls(run.ended.out))
    calls += call + "\n";
  EXPECT_EQ(run.ended.out, calls) << "something was changed";
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Signals, that_a_program_blocks_by_its_own_system_calls_stay_blocked) {
  const auto alone = run_program({.argv = {program("raw_syscalls"), "mask"}});
  const Traced run =
      traced({"-S", "--split-lines", "-e", "tr_*"}, {program("raw_syscalls"), "mask"});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.ended.out, alone.out);
  EXPECT_EQ(run.log.of("tr_add").size(), 4u);
}

TEST_P(Signals, in_a_storm_interrupt_the_programs_own_code_only) {
  const Traced run = traced({"-b", "-e", "tr_*"}, {program("signal_storm"), "20000"});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.ended.out, "strange 0\n");
  EXPECT_NE(run.ended.err.find("signals "), std::string::npos);
  EXPECT_EQ(run.ended.err.find("signals 0\n"), std::string::npos) << "no signal came";
  EXPECT_EQ(run.log.of("tr_twice").size(), 20000u);
  EXPECT_EQ(run.log.of("tr_add").size(), 25000u);
}

TEST_P(Signals, are_logged_by_name_unless_b_is_given) {
  const Traced with = traced({"-e", "tr_*"}, {program("own_traps")});
  const Traced without = traced({"-b", "-e", "tr_*"}, {program("own_traps")});

  EXPECT_EQ(std::count(with.log.events.begin(), with.log.events.end(),
                       "--- SIGTRAP (Trace/breakpoint trap) ---"),
            200);
  EXPECT_EQ(without.text.find("---"), std::string::npos);
  EXPECT_EQ(without.log.of("tr_add").size(), 50u);
}

TEST_P(Signals, from_the_instruction_behind_a_call_tell_the_programs_own_addresses) {
  const Traced run = traced({"--split-lines", "-e", "tr_*"}, {program("fault_address")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  std::string expected;
  for (int i = 0; i < 30; ++i)
    expected += "tr_add(1, 2) = 3\n";
  EXPECT_EQ(run.ended.out, expected + "done\n");
  expect_calls(run.log.calls, printed_calls(run.ended.out));
}

TEST_P(Signals, that_stop_a_child_stop_it_as_its_parent_sees) {
  const Ended untraced = run_program(Command{{program("group_stop")}});
  for (const bool follow : {true, false}) {
    SCOPED_TRACE(follow);
    const Traced run = traced(follow ? std::vector<std::string>{"-f", "-e", "tr_*"}
                                     : std::vector<std::string>{"-e", "tr_*"},
                              {program("group_stop")});

    EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
    EXPECT_EQ(run.ended.out, untraced.out);
    EXPECT_EQ(run.log.of("tr_add").size(), follow ? 30u : 0u);
  }
}

TEST_P(Signals, that_stop_the_command_stop_it_until_it_is_continued) {
  const TemporaryDirectory directory;
  Command how;
  how.argv = {SONICTRACE, "--engine=" + engine(), "-o", directory.path("log"), "-e",
              "tr_*",     program("stops_itself")};
  RunningProgram run(how, true);
  ASSERT_TRUE(run.read_until("stopping"));
  const std::string children =
      "/proc/" + std::to_string(run.pid()) + "/task/" + std::to_string(run.pid()) + "/children";
  pid_t child = 0;
  ASSERT_TRUE(wait_until([&] { return (child = std::atoi(read_file(children).c_str())) > 0; }));
  // A traced stop shows as `t`; the group stop is told by the signal that the log has.
  ASSERT_TRUE(wait_until([&] { return status_field(child, "State")[0] == 't'; }));
  ::kill(child, SIGCONT);
  const Ended ended = run.wait();

  EXPECT_TRUE(ended.exited_with(0)) << ended.end() << ended.err;
  EXPECT_EQ(ended.out, "stopping\ngoing on\n");
  const Log log = parse_log(read_file(directory.path("log")));
  EXPECT_EQ(log.of("tr_add").size(), 2u);
  EXPECT_TRUE(log.has_event("--- SIGSTOP .*---"));
  EXPECT_TRUE(log.has_event("--- SIGCONT .*---"));
}

TEST_P(Signals, to_the_tracer_are_handed_on_to_its_command) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    SCOPED_TRACE(signal);
    const TemporaryDirectory directory;
    Command how;
    how.argv = {SONICTRACE, "--engine=" + engine(), "-o", directory.path("log"), "-e",
                "tr_*",     program("service"),     "2"};
    RunningProgram run(how, true);
    ASSERT_TRUE(run.read_until("ready"));
    run.write_line("ping");
    ASSERT_TRUE(run.read_until("alive")); // it has called
    run.send_signal(signal);
    // Before its input ends, which would end it as well.
    ASSERT_TRUE(wait_until([&] { return !run.is_running(); }));
    const Ended ended = run.wait();

    EXPECT_TRUE(ended.killed_by(signal)) << ended.end() << ended.err;
    const Log log = parse_log(read_file(directory.path("log")));
    EXPECT_TRUE(log.has_event("\\+\\+\\+ killed by SIG(TERM|HUP) \\+\\+\\+"));
    EXPECT_GE(log.calls.size(), 1u);
  }
}

TEST_P(Signals, of_a_seccomp_filter_against_mmap_are_not_provoked) {
  const Traced run = traced({"-e", "tr_*"}, {program("no_mmap")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << "\n" << run.ended.err;
  EXPECT_EQ(run.ended.out, "sums 125250 125250\n");
  EXPECT_EQ(run.log.of("tr_add").size(), 1000u);
  for (const auto& call : run.log.of("tr_add"))
    ASSERT_EQ(call.end, LoggedCall::End::Returned) << call.name;
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Signals);

} // namespace
} // namespace sonictrace::test
