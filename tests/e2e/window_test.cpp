// --start-on and --stop-on: a part of a program's run.
#include "trace.hpp"

namespace sonictrace::test {
namespace {

class Window : public TracedProgram {
protected:
  static std::vector<std::string> names(const Log& log) {
    std::vector<std::string> all;
    for (const auto& call : log.calls)
      all.push_back(call.name);
    return all;
  }
};

TEST_P(Window, begins_with_the_call_itself) {
  const Traced run = traced({"-e", "tr_*", "--start-on=tr_sum7"}, {program("calls")});

  EXPECT_EQ(names(run.log), (std::vector<std::string>{"tr_sum7", "tr_compare", "tr_nothing",
                                                      "tr_double", "tr_string"}));
  expect_calls({run.log.calls.front()}, {"tr_sum7(1, 2, 3, 4) = 28"});
}

TEST_P(Window, ends_with_the_return_of_a_call) {
  const Traced run =
      traced({"-e", "tr_*", "--start-on=tr_sum7", "--stop-on=tr_double"}, {program("calls")});

  EXPECT_EQ(names(run.log),
            (std::vector<std::string>{"tr_sum7", "tr_compare", "tr_nothing", "tr_double"}));
  EXPECT_EQ(run.log.calls.back().end, LoggedCall::End::Returned);
  EXPECT_NE(run.text.find("--stop-on=tr_double reached"), std::string::npos) << run.text;
  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end();
}

TEST_P(Window, takes_calls_as_its_marks_that_are_not_in_the_log) {
  const Traced run =
      traced({"-e", "tr_compare,tr_nothing", "--start-on=tr_sum7", "--stop-on=tr_double"},
             {program("calls")});

  EXPECT_EQ(names(run.log), (std::vector<std::string>{"tr_compare", "tr_nothing"}));
}

TEST_P(Window, that_never_begins_is_empty_and_says_so) {
  const Traced run = traced({"--start-on=no_such_function"}, {program("calls")});

  EXPECT_TRUE(run.log.calls.empty());
  EXPECT_NE(run.text.find("no call was made that --start-on=no_such_function selects"),
            std::string::npos)
      << run.text;
  EXPECT_TRUE(run.ended.exited_with(3)) << run.ended.end();
}

TEST_P(Window, begins_in_a_process_with_busy_threads) {
  const Traced run = traced({"-e", "tr_*", "--start-on=tr_add"}, {program("threads")});

  EXPECT_TRUE(run.ended.exited_with(0)) << run.ended.end() << run.ended.err;
  EXPECT_FALSE(run.log.of("tr_add").empty());
}

/// A program that does what it is told to, line by line, and the code that was changed in it by
/// then.
class Stepped {
public:
  Stepped(RunningProgram& told, pid_t pid) : told_(told), pid_(pid) {}
  std::map<std::string, std::size_t> after(const std::string& line) {
    told_.write_line(line);
    EXPECT_TRUE(told_.read_until("done")) << line << told_.errors_so_far();
    return changed_code(pid_);
  }

private:
  RunningProgram& told_;
  pid_t pid_;
};

class Code : public Window {
protected:
  std::vector<std::string> tracer(const std::vector<std::string>& options) const {
    return std::vector<std::string>{SONICTRACE, "--engine=" + engine(), "-o",
                                    directory_.path("log")} +
           options;
  }
  std::string log() const { return read_file(directory_.path("log")); }
  /// From the window's begin to behind its end: the program runs untraced then, or not at all.
  void expect_changed_in_window_only(Stepped& program, pid_t pid) {
    const std::string plug = tracee("libplug.so");
    // Of the program the one byte that the window begins at.
    const auto before = program.after("call");
    EXPECT_EQ(before.contains(path_) ? before.at(path_) : 0, 1u);
    auto loaded = program.after("load");
    EXPECT_FALSE(loaded.contains(plug));
    loaded = program.after("call");
    EXPECT_EQ(loaded.contains(path_) ? loaded.at(path_) : 0, 1u);

    const auto within = program.after("start");
    EXPECT_GT(within.contains(path_) ? within.at(path_) : 0, 1u);
    EXPECT_TRUE(within.contains(plug));
    program.after("call");

    program.after("stop");
    EXPECT_TRUE(wait_until([&] { return changed_code(pid).empty(); }));
    EXPECT_TRUE(program.after("call").empty());
    EXPECT_EQ(status_field(pid, "TracerPid"), "0");
  }
  void expect_calls_of_window(const Log& read) const {
    EXPECT_EQ(names(read), (std::vector<std::string>{"tr_sum7", "tr_add", "tr_add", "tr_double"}));
  }

  TemporaryDirectory directory_;
  std::string path_ = program("window");
};

TEST_P(Code, is_changed_within_a_window_only) {
  Command command;
  command.argv = tracer({"-e", "tr_*", "--start-on=tr_sum7", "--stop-on=tr_double"}) +
                 std::vector<std::string>{path_, tracee("libplug.so")};
  RunningProgram told(command, true);
  ASSERT_TRUE(told.read_until("ready")) << told.errors_so_far();
  const pid_t pid = child_of(told.pid());
  Stepped program(told, pid);
  expect_changed_in_window_only(program, pid);
  told.write_line("end");
  EXPECT_TRUE(told.wait().exited_with(3));
  expect_calls_of_window(parse_log(log()));
}

TEST_P(Code, is_changed_within_a_window_only_of_a_process_that_runs_already) {
  Command command;
  command.argv = {path_, tracee("libplug.so")};
  RunningProgram told(command, true);
  ASSERT_TRUE(told.read_until("ready"));
  Command attach;
  attach.argv = tracer({"-e", "tr_*", "--start-on=tr_sum7", "--stop-on=tr_double", "-p",
                        std::to_string(told.pid())});
  RunningProgram attached(attach);
  ASSERT_TRUE(wait_until([&] {
    return changed_code(told.pid()).contains(path_) || !attached.is_running();
  })) << attached.errors_so_far();
  Stepped program(told, told.pid());
  expect_changed_in_window_only(program, told.pid());
  EXPECT_TRUE(attached.wait().exited_with(0));
  told.write_line("end");
  EXPECT_TRUE(told.wait().exited_with(3));
  expect_calls_of_window(parse_log(log()));
}

TEST_P(Code, is_as_it_was_when_as_many_calls_were_made_as_were_asked_for) {
  Command command;
  command.argv = {path_, tracee("libplug.so")};
  RunningProgram told(command, true);
  ASSERT_TRUE(told.read_until("ready"));
  Command attach;
  attach.argv = tracer({"-e", "tr_*", "--max-calls=2", "-p", std::to_string(told.pid())});
  RunningProgram attached(attach);
  ASSERT_TRUE(wait_until([&] {
    return changed_code(told.pid()).contains(path_) || !attached.is_running();
  })) << attached.errors_so_far();
  Stepped program(told, told.pid());
  program.after("call");
  program.after("call");
  EXPECT_TRUE(wait_until([&] { return changed_code(told.pid()).empty(); }));
  EXPECT_TRUE(attached.wait().exited_with(0));
  told.write_line("end");
  EXPECT_TRUE(told.wait().exited_with(3));
}

INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Window);
INSTANTIATE_OVER_ENGINES_AND_VARIANTS(Code);

} // namespace
} // namespace sonictrace::test
