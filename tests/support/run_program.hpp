#pragma once

#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace::test {

/// How to start a program.
struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> environment = {}; ///< NAME=VALUE, in addition to ours
  std::string directory = {};                ///< empty: ours
  std::string input = {};                    ///< its stdin; empty: /dev/null
  std::vector<int> ignored_signals = {};     ///< as nohup does
  std::chrono::seconds limit = std::chrono::seconds(60);
};

/// How a program ended, and what it wrote.
struct Ended {
  int status = 0; ///< of waitpid
  bool timed_out = false;
  std::string out;
  std::string err;

  bool exited_with(int code) const {
    return !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == code;
  }
  bool killed_by(int signal) const {
    return !timed_out && WIFSIGNALED(status) && WTERMSIG(status) == signal;
  }
  /// For messages and comparisons: "exit 3", "signal 11", "timed out".
  std::string end() const;
};

/// One started program in a process group of its own, which its destructor kills whole.
class RunningProgram {
public:
  /// stdout and stderr go into files without a name, so that neither can fill up and nobody
  /// waits for a daemon that keeps them open; with `interactive`, stdin and stdout are pipes.
  explicit RunningProgram(const Command& command, bool interactive = false);
  RunningProgram(const RunningProgram&) = delete;
  ~RunningProgram();

  pid_t pid() const { return pid_; }
  void send_signal(int signal) { ::kill(pid_, signal); }

  /// Waits for a line that is `wanted`; false at the end of the output or at the limit.
  bool read_until(const std::string& wanted);
  void write_line(const std::string& line);

  /// Waits to its end, or kills it at the limit.
  Ended wait();

  /// True as long as it has not ended.
  bool is_running() const;
  std::chrono::steady_clock::time_point deadline() const { return deadline_; }
  std::string errors_so_far() const;

private:
  bool poll_to_deadline(pollfd& fd) const;
  bool read_more();
  void end_group();

  std::chrono::steady_clock::time_point deadline_;
  UniqueFd out_, err_, in_, from_, pid_fd_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  std::string unread_, seen_;
};

/// Runs a program to its end.
Ended run_program(const Command& command);

} // namespace sonictrace::test
