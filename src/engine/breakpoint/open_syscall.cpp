#include "engine/breakpoint/open_syscall.hpp"

#include <sys/syscall.h>

#include <cerrno>

namespace sonictrace {
namespace {

// include/linux/errno.h of the kernel: an end that programs never see.
constexpr std::int64_t kRestartSys = -512;
constexpr std::int64_t kRestartNoIntr = -513;
constexpr std::int64_t kRestartNoHand = -514;
constexpr std::int64_t kRestartBlock = -516;

constexpr std::uint64_t kRestartSyscall32 = 0; // restart_syscall's number of i386

} // namespace

bool OpenSyscall::may_begin_anew(std::int64_t result) {
  return result == -EINTR || result == kRestartSys || result == kRestartNoIntr ||
         result == kRestartNoHand || result == kRestartBlock;
}

bool OpenSyscall::goes_on_as(const SyscallEntry& next) const {
  if (!end || next.machine != machine || next.at != at) return false;
  if (end->result == -EINTR && !end->begins_anew) return false;
  // The kernel goes on with a wait for a time by a call of its own (restart_syscall(2)).
  if (end->result == kRestartBlock)
    return next.number == (machine == Machine::I386 ? kRestartSyscall32 : SYS_restart_syscall);
  return next.number == number;
}

} // namespace sonictrace
