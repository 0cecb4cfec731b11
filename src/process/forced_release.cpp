#include <sys/ptrace.h>
#include <sys/wait.h>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

void release_by_force(pid_t tid,
                      const std::function<std::uint64_t(std::uint64_t pc)>& place_in_program) {
  constexpr std::uint64_t kPatience = 1'000'000'000;
  user_regs_struct registers;
  int signal = 0;
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) < 0) {
    // It runs. Its next stop is ours to take, or it ends.
    if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) < 0) return;
    const auto begin = monotonic_ns();
    int status = 0;
    while (::waitpid(tid, &status, __WALL | WNOHANG) == 0)
      if (monotonic_ns() - begin > kPatience) return;
    if (!WIFSTOPPED(status)) return;
    const Stop stop = decode_wait_status(status);
    if (stop.kind == StopKind::SignalDelivery && stop.detail != SIGTRAP) signal = stop.detail;
    if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) < 0) return;
  }
  registers.rip = place_in_program(registers.rip);
  ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers);
  ::ptrace(PTRACE_DETACH, tid, nullptr, static_cast<long>(signal));
}

} // namespace sonictrace
