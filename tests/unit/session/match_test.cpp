#include "sonictrace/session/match.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

/// A `sleep` with a command line of its own, until the end of the scope.
class Sleeper {
public:
  explicit Sleeper(const char* seconds) {
    pid_ = fork();
    if (pid_ == 0) {
      execl("/bin/sleep", "sleep", seconds, nullptr);
      _exit(127);
    }
    // Between fork and the end of exec it shows ours, or none.
    while (command_line(pid_) != std::string("sleep ") + seconds)
      sched_yield();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

private:
  pid_t pid_;
};

// Numbers that no other command line of this machine has.
std::string unique_seconds(int which) {
  return "86" + std::to_string(getpid()) + "." + std::to_string(which);
}

TEST(Match, finds_the_process_whose_command_line_holds_the_expression) {
  const auto seconds = unique_seconds(1);
  const Sleeper sleeper(seconds.c_str());

  const auto found = match_process("^sl(ee|aa)p " + seconds + "$");

  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, sleeper.pid());
}

TEST(Match, lists_the_processes_when_several_match) {
  const auto seconds = unique_seconds(2);
  const Sleeper one(seconds.c_str()), other(seconds.c_str());

  const auto found = match_process(seconds);

  ASSERT_FALSE(found);
  const auto text = found.error().message();
  EXPECT_NE(text.find("2 processes"), std::string::npos) << text;
  for (const auto pid : {one.pid(), other.pid()})
    EXPECT_NE(text.find("\n" + std::string(9 - std::to_string(pid).size(), ' ') +
                        std::to_string(pid) + " sleep " + seconds),
              std::string::npos)
        << text;
}

TEST(Match, says_so_when_none_matches) {
  const auto found = match_process("no such command line " + unique_seconds(3));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("no process"), std::string::npos);
}

TEST(Match, never_finds_itself_or_what_it_descends_from) {
  const auto all = find_processes(".");
  ASSERT_TRUE(all);
  for (const auto& process : *all) {
    EXPECT_NE(process.pid, getpid());
    EXPECT_NE(process.pid, getppid());
  }
}

TEST(Match, finds_processes_and_not_their_threads) {
  const auto seconds = unique_seconds(4);
  const Sleeper sleeper(seconds.c_str());
  const auto found = find_processes(seconds);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().command_line, "sleep " + seconds);
}

TEST(Match, refuses_what_is_no_regular_expression) {
  for (const char* wrong : {"(", "a{", "[a", "*)"}) {
    const auto found = match_process(wrong);
    ASSERT_FALSE(found) << wrong;
    EXPECT_NE(found.error().message().find(std::string("--match=") + wrong), std::string::npos);
  }
}

TEST(Match, cuts_long_command_lines_and_keeps_the_terminal_safe) {
  const std::string long_line(200, 'x');
  const auto chosen = choose_process({{1, long_line}, {2, "a\nb\x1b[31m \xc3\xa9"}}, "x");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message(),
            "--match=x: 2 processes match; attach to one of them with -p PID\n"
            "        1 " +
                std::string(100, 'x') + "\n        2 a?b?[31m \xc3\xa9");
}

} // namespace
} // namespace sonictrace
