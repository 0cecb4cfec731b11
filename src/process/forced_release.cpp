#include "sonictrace/process/forced_release.hpp"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <csignal>
#include <ctime>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/stop.hpp"

namespace sonictrace {
namespace {

bool is_stopped(pid_t tid) {
  user_regs_struct registers;
  return ::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) == 0;
}

/// Gone, or in the kernel until something else happens (a vfork(2) whose child runs).
bool runs_nothing(pid_t tid) {
  const auto status = read_task_status(tid);
  return !status || status->state == 'Z' || status->state == 'X' || status->state == 'D';
}

/// Has it run into a breakpoint, of which its stop does not tell yet? A stop that was asked for
/// comes before a signal that is pending (kernel/signal.c, get_signal).
/// One that the thread blocks is somebody else's: a breakpoint unblocks its own (force_sig).
bool has_trap_pending(pid_t tid) {
  constexpr std::uint64_t kTrap = std::uint64_t{1} << (SIGTRAP - 1);
  const auto status = read_task_status(tid);
  return status && (status->pending & ~status->blocked & kTrap) != 0;
}

/// Takes that signal, which nothing of the program comes before. It dies of it otherwise.
void take_trap(pid_t tid) {
  if (!has_trap_pending(tid) || ::ptrace(PTRACE_CONT, tid, nullptr, nullptr) < 0) return;
  int status = 0;
  ::waitpid(tid, &status, __WALL);
}

/// What the thread is to be let go with.
int signal_of(const Stop& stop) {
  const bool is_its_own = stop.kind == StopKind::SignalDelivery && stop.detail != SIGTRAP;
  // In a group-stop the signal has been delivered; detaching with it keeps the process stopped.
  return is_its_own || stop.kind == StopKind::Group ? stop.detail : 0;
}

} // namespace

ForcedRelease::ForcedRelease(const std::vector<pid_t>& tids) {
  constexpr std::uint64_t kPatience = 1'000'000'000;
  std::vector<pid_t> asked;
  for (const pid_t tid : tids) {
    if (is_stopped(tid)) {
      take_trap(tid);
      stopped_.push_back({tid, 0});
    } else if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0)
      asked.push_back(tid);
    else if (!runs_nothing(tid))
      is_quiet_ = false;
  }
  const auto begin = monotonic_ns();
  for (const pid_t tid : asked) {
    int status = 0;
    pid_t seen = 0;
    while ((seen = ::waitpid(tid, &status, __WALL | WNOHANG)) == 0 &&
           monotonic_ns() - begin <= kPatience) {
      constexpr timespec kNap = {0, 50'000};
      ::nanosleep(&kNap, nullptr);
    }
    if (seen == tid && WIFSTOPPED(status)) {
      const int signal = signal_of(decode_wait_status(status));
      if (signal == 0) take_trap(tid);
      stopped_.push_back({tid, signal});
    } else if (seen == 0 && !runs_nothing(tid))
      is_quiet_ = false;
  }
}

void ForcedRelease::release(
    const std::function<std::uint64_t(pid_t tid, std::uint64_t pc)>& place_in_program) const {
  for (const auto& [tid, signal] : stopped_) {
    user_regs_struct registers;
    if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) < 0) continue; // killed meanwhile
    registers.rip = place_in_program(tid, registers.rip);
    ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers);
    ::ptrace(PTRACE_DETACH, tid, nullptr, static_cast<long>(signal));
  }
}

} // namespace sonictrace
