#pragma once

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "under_load.hpp"

namespace sonictrace::test {

/// A sonictrace that is traced itself, by the test: it can be held at each system call by which it
/// changes what it traces. What a tracer does to a process it does by system calls, so these are
/// all the moments in which its death can make a difference.
class SteppedTracer {
public:
  explicit SteppedTracer(const std::vector<std::string>& argv, const std::string& output) {
    std::vector<char*> arguments;
    for (const auto& argument : argv)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    EXPECT_GT(pid_, 0);
    ::waitpid(pid_, &status_, 0); // its exec
    ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  }
  SteppedTracer(const SteppedTracer&) = delete;
  ~SteppedTracer() { kill(); }

  pid_t pid() const { return pid_; }
  bool has_ended() const { return has_ended_; }
  int status() const { return status_; }

  /// Lets it run to its next system call that changes a process, at its entry or its exit. False
  /// where it has ended, or `is_done` says so while it waits for something.
  template <class IsDone>
  bool step(IsDone is_done) {
    while (!has_ended_) {
      if (is_held_) ::ptrace(PTRACE_SYSCALL, pid_, nullptr, static_cast<long>(signal_));
      is_held_ = false;
      signal_ = 0;
      for (int waits = 0;; ++waits) {
        const pid_t changed = ::waitpid(pid_, &status_, WNOHANG | __WALL);
        if (changed == pid_) break;
        if (changed < 0) { // it never came up
          has_ended_ = true;
          return false;
        }
        if (waits > 100 && is_done()) return false;
        ::usleep(waits > 20 ? 100 : 1);
      }
      if (WIFEXITED(status_) || WIFSIGNALED(status_)) {
        has_ended_ = true;
        return false;
      }
      is_held_ = true;
      if (WSTOPSIG(status_) == (SIGTRAP | 0x80)) {
        if (changes_something()) return true;
      } else if (WSTOPSIG(status_) != SIGTRAP) {
        signal_ = WSTOPSIG(status_);
      }
    }
    return false;
  }

  /// Nobody holds it any more.
  void let_go() {
    if (has_ended_ || is_free_) return;
    is_free_ = true;
    if (!is_held_) {
      ::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr);
      ::kill(pid_, SIGSTOP); // one that was not seized
      ::waitpid(pid_, &status_, __WALL);
      signal_ = 0;
    }
    ::ptrace(PTRACE_DETACH, pid_, nullptr, static_cast<long>(signal_));
    is_held_ = false;
    ::kill(pid_, SIGCONT);
  }
  void kill() {
    if (has_ended_) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, __WALL) == pid_ && !WIFSIGNALED(status_) &&
           !WIFEXITED(status_)) {}
    has_ended_ = true;
  }
  /// To its end; false where that doesn't come.
  bool wait() {
    has_ended_ =
        has_ended_ || wait_until([&] { return ::waitpid(pid_, &status_, WNOHANG) == pid_; });
    return has_ended_;
  }

private:
  bool changes_something() const {
    user_regs_struct registers;
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) < 0) return false;
    switch (static_cast<long>(registers.orig_rax)) {
      case SYS_ptrace: return registers.rdi != PTRACE_GETREGS;
      case SYS_pwrite64: return true;
      default: return false;
    }
  }

  pid_t pid_ = -1;
  int status_ = 0, signal_ = 0;
  bool has_ended_ = false, is_held_ = true, is_free_ = false;
};

} // namespace sonictrace::test
