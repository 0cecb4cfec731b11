#include "sonictrace/process/syscall_restart.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

// signal(7), "Interruption of system calls and library functions by signal handlers", and those
// whose kernel code returns -EINTR itself. read and friends belong here for the sake of sockets with
// SO_RCVTIMEO or SO_SNDTIMEO and of inotify, timerfd and the like; on files where the kernel gives
// -ERESTARTSYS it has restarted them itself before we could see -EINTR.
constexpr std::array<long, 37> kNeverRestarted = {
    SYS_read,          SYS_readv,        SYS_write,        SYS_writev,       SYS_recvfrom,
    SYS_recvmsg,       SYS_recvmmsg,     SYS_sendto,       SYS_sendmsg,      SYS_sendmmsg,
    SYS_accept,        SYS_accept4,      SYS_connect,      SYS_pause,        SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_epoll_wait, SYS_epoll_pwait,  SYS_poll,         SYS_ppoll,
    SYS_select,        SYS_pselect6,     SYS_msgrcv,       SYS_msgsnd,       SYS_semop,
    SYS_semtimedop,    SYS_io_getevents, SYS_clock_nanosleep, SYS_nanosleep, SYS_futex,
    SYS_mq_timedsend,  SYS_mq_timedreceive,
    441L, // epoll_pwait2
    333L, // io_pgetevents
    426L, // io_uring_enter
    455L, // futex_wait
    449L, // futex_waitv
};

/// As the kernel's own restart does (arch/x86/kernel/signal.c): back onto the two-byte `syscall`.
void step_back(user_regs_struct& raw) {
  raw.rax = raw.orig_rax;
  raw.orig_rax = ~std::uint64_t{0};
  raw.rip -= 2;
}

} // namespace

bool is_never_restarted(std::uint64_t number) {
  return std::find(kNeverRestarted.begin(), kNeverRestarted.end(), static_cast<long>(number)) !=
         kNeverRestarted.end();
}

bool restart_interrupted_call(Registers& registers) {
  auto& raw = registers.raw();
  if (registers.machine() != Machine::X86_64) return false;
  if (static_cast<std::int64_t>(raw.rax) != -EINTR) return false;
  if (static_cast<std::int64_t>(raw.orig_rax) < 0) return false; // not in a system call
  if (!is_never_restarted(raw.orig_rax)) return false;
  step_back(raw);
  return true;
}

void restart_at_once(Registers& registers) {
  // The kernel's own, <linux/errno.h>: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND,
  // ERESTART_RESTARTBLOCK.
  constexpr std::array<std::int64_t, 4> kToBeRestarted = {-512, -513, -514, -516};
  auto& raw = registers.raw();
  if (static_cast<std::int64_t>(raw.orig_rax) >= 0 &&
      std::find(kToBeRestarted.begin(), kToBeRestarted.end(), static_cast<std::int64_t>(raw.rax)) !=
          kToBeRestarted.end())
    step_back(raw);
  else
    (void)restart_interrupted_call(registers);
}

void undo_restart(Registers& registers) {
  auto& raw = registers.raw();
  raw.rax = static_cast<std::uint64_t>(-std::int64_t{EINTR});
  raw.rip += 2;
}

bool has_handler_to_run(pid_t tid) {
  const auto status = read_task_status(tid);
  if (!status) return false;
  return ((status->pending | status->shared_pending) & ~status->blocked & status->caught) != 0;
}

bool is_ignored(pid_t tid, int signal) {
  if (signal == SIGKILL || signal == SIGSTOP) return false;
  const auto status = read_task_status(tid);
  if (!status) return false;
  const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  if ((status->ignored & bit) != 0) return true;
  if ((status->caught & bit) != 0) return false;
  // The defaults without effect (signal(7)).
  return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

} // namespace sonictrace
