#include "sonictrace/process/trace_trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <new>
#include <optional>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {
namespace {

int error_of(bool done) { return done ? 0 : errno; }

/// The exit status of a child that does `work`; nothing where it was killed, or there was none.
template <class Work>
std::optional<int> run_in_a_child(Work work) {
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) ::_exit(work());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

/// In a page that may not be written, as code is.
alignas(64) constexpr std::array<std::byte, 64> kReadOnly = {};

void try_memory(pid_t child, TraceTrial& trial) {
  auto bytes = kReadOnly;
  const auto address = reinterpret_cast<off_t>(kReadOnly.data());
  const auto size = static_cast<ssize_t>(bytes.size());
  if (const auto memory = UniqueFd::open(fmt::format("/proc/{}/mem", child).c_str(), O_RDWR)) {
    trial.read_memory =
        error_of(::pread(memory->get(), bytes.data(), bytes.size(), address) == size);
    trial.write_code =
        error_of(::pwrite(memory->get(), bytes.data(), bytes.size(), address) == size);
  } else {
    trial.read_memory = trial.write_code = static_cast<int>(memory.error().code());
  }
  iovec own{bytes.data(), bytes.size()};
  iovec its{const_cast<std::byte*>(kReadOnly.data()), kReadOnly.size()};
  trial.vm_read = error_of(::process_vm_readv(child, &own, 1, &its, 1, 0) == size);
}

/// By a tracer of its own. Each finding is written down at once, as the next may be the last.
int try_on_own_child(TraceTrial& trial) {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  trial.map_code = error_of(page != MAP_FAILED);
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      ::pause();
  }
  trial.seize = EPERM; // should a filter kill us
  trial.seize = error_of(::ptrace(PTRACE_SEIZE, child, 0, 0) == 0);
  int status = 0;
  if (trial.seize == 0 && ::ptrace(PTRACE_INTERRUPT, child, 0, 0) == 0 &&
      ::waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    user_regs_struct registers;
    trial.registers = error_of(::ptrace(PTRACE_GETREGS, child, 0, &registers) == 0);
    __ptrace_syscall_info info;
    trial.syscall_info = error_of(::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0);
    trial.vm_read = EPERM;
    try_memory(child, trial);
  }
  ::kill(child, SIGKILL);
  while (::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {}
  return 0;
}

} // namespace

TraceTrial try_tracing() {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return TraceTrial{.seize = errno};
  auto* const shared = new (page) TraceTrial;
  (void)run_in_a_child([shared] { return try_on_own_child(*shared); });
  const TraceTrial found = *shared;
  ::munmap(page, 4096);
  return found;
}

int try_seizing(pid_t pid) {
  // The end of a tracer lets its tracees go, and one that was seized has not been stopped
  // (ptrace(2)).
  const auto error =
      run_in_a_child([pid] { return error_of(::ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) & 0xff; });
  return error.value_or(EPERM);
}

} // namespace sonictrace
