#include "support/run_program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace sonictrace::test {
namespace {

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string content(int fd) {
  std::string text;
  char buffer[65536];
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(fd, buffer, sizeof buffer, at);
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    at += n;
  }
}

[[noreturn]] void become(const Command& command, int in, int out, int err) {
  ::setpgid(0, 0);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const int signal : command.ignored_signals)
    std::signal(signal, SIG_IGN);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(125);
  for (const auto& variable : command.environment)
    ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv;
  for (const auto& argument : command.argv)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::perror(argv[0]);
  ::_exit(125);
}

} // namespace

std::string Ended::end() const {
  if (timed_out) return "timed out";
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

RunningProgram::RunningProgram(const Command& command, bool interactive)
    : deadline_(std::chrono::steady_clock::now() + command.limit) {
  out_ = UniqueFd(::memfd_create("stdout", MFD_CLOEXEC));
  err_ = UniqueFd(::memfd_create("stderr", MFD_CLOEXEC));
  UniqueFd child_in, child_out;
  if (interactive) {
    std::tie(child_in, in_) = make_pipe();
    std::tie(from_, child_out) = make_pipe();
  } else if (!command.input.empty()) {
    child_in = UniqueFd(::memfd_create("stdin", MFD_CLOEXEC));
    check(::write(child_in.get(), command.input.data(), command.input.size()) ==
              static_cast<ssize_t>(command.input.size()),
          "stdin");
    ::lseek(child_in.get(), 0, SEEK_SET);
  } else {
    child_in = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  pid_ = ::fork();
  check(pid_ >= 0, "fork");
  if (pid_ == 0) {
    become(command, child_in.get(), child_out ? child_out.get() : out_.get(), err_.get());
  }
  ::setpgid(pid_, pid_); // both sides do: whoever comes first
  pid_fd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  check(static_cast<bool>(pid_fd_), "pidfd_open");
}

RunningProgram::~RunningProgram() {
  if (!reaped_) end_group();
}

bool RunningProgram::read_until(const std::string& wanted) {
  for (;;) {
    for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      seen_ += line + "\n";
      if (line == wanted) return true;
    }
    if (!read_more()) return false;
  }
}

void RunningProgram::write_line(const std::string& line) {
  const std::string text = line + "\n";
  check(::write(in_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
        "write to the program");
}

Ended RunningProgram::wait() {
  Ended ended;
  if (from_) {
    in_ = UniqueFd();
    while (read_more()) {}
    seen_ += std::exchange(unread_, {});
  }
  pollfd fd{pid_fd_.get(), POLLIN, 0};
  if (poll_to_deadline(fd)) {
    check(::waitpid(pid_, &ended.status, 0) == pid_, "waitpid");
    reaped_ = true;
    ::kill(-pid_, SIGKILL); // what it left behind in its group
  } else {
    ended.timed_out = true;
    end_group();
  }
  ended.out = from_ ? seen_ : content(out_.get());
  ended.err = content(err_.get());
  return ended;
}

bool RunningProgram::is_running() const {
  pollfd fd{pid_fd_.get(), POLLIN, 0};
  return ::poll(&fd, 1, 0) == 0;
}

bool RunningProgram::poll_to_deadline(pollfd& fd) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const int n = ::poll(&fd, 1, static_cast<int>(left.count()));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

bool RunningProgram::read_more() {
  pollfd fd{from_.get(), POLLIN, 0};
  if (!poll_to_deadline(fd)) return false;
  char buffer[4096];
  const ssize_t n = ::read(from_.get(), buffer, sizeof buffer);
  if (n <= 0) return false;
  unread_.append(buffer, static_cast<std::size_t>(n));
  return true;
}

void RunningProgram::end_group() {
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  reaped_ = true;
}

std::string RunningProgram::errors_so_far() const { return content(err_.get()); }

Ended run_program(const Command& command) { return RunningProgram(command).wait(); }

} // namespace sonictrace::test
