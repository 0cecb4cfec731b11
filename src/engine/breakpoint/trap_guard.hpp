#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "engine/breakpoint/patched_space.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// The disposition of SIGTRAP in one process, kept from harm by our breakpoints: the kernel forces
/// an int3's signal on a thread that blocks or ignores it, resets the disposition to SIG_DFL for
/// the whole process and unblocks it in the thread (kernel/signal.c, force_sig_info_to_task). A
/// program that uses SIGTRAP itself would then die of its next one.
struct TrapDisposition {
  /// struct kernel_sigaction: handler, flags, restorer, mask; as long as it is not SIG_DFL.
  std::optional<std::array<std::uint64_t, 4>> action;
  bool must_be_read = false; ///< there is one, from before we attached
};

/// Per thread: whether it blocks SIGTRAP, as far as seen.
class TrapMask {
public:
  bool is_blocked() const { return blocked_; }
  /// The mask itself was seen, or what SIGTRAP is in it.
  void see(std::uint64_t mask) { set(holds_trap(mask)); }
  void set(bool blocked) {
    blocked_ = blocked;
    born_with_ = 0;
  }
  /// The thread was born with this mask. Where SIGTRAP is in it and nobody was seen to put it
  /// there, that is the C library's doing: it blocks everything around a birth, and gives the old
  /// mask back, by system calls of its own.
  void see_birth(std::uint64_t mask) {
    if (!holds_trap(mask))
      set(false);
    else if (!blocked_)
      born_with_ = mask;
  }

  /// Whether a breakpoint's trap may have changed the mask.
  bool may_be_blocked() const { return blocked_ || born_with_ != 0; }
  /// Whether it has, by what the mask is now. Until the old one is given back, all else is as it
  /// was.
  bool was_blocked(std::uint64_t now) const {
    return blocked_ || (born_with_ != 0 && with_trap(now) == born_with_);
  }

  static std::uint64_t with_trap(std::uint64_t mask) { return mask | kBit; }
  static bool holds_trap(std::uint64_t mask) { return (mask & kBit) != 0; }

private:
  static constexpr std::uint64_t kBit = std::uint64_t{1} << (SIGTRAP - 1);

  bool blocked_ = false; ///< from the start, or set in a way that was seen
  std::uint64_t born_with_ = 0;
};

/// The tracee's part in a repair is a remote call: it comes back in `tracee`, or is killed in it.
class TrapGuard {
public:
  TrapGuard(PatchedSpace& space, TrapDisposition& disposition, TrapMask& mask)
      : space_(space), disposition_(disposition), mask_(mask) {}

  /// At a breakpoint's stop: puts back what its int3 has changed, and the program's own SIGTRAP
  /// that it has swallowed.
  void repair(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  /// The library function that sets a disposition is called with these arguments: whether that of
  /// SIGTRAP is meant. `follow_action` then learns what it is set to.
  static bool sets_action(const Registers& registers);
  /// Lets the tracee run until the system call that sets the disposition has been made, and notes
  /// what was set: a breakpoint behind it could be too late. Gives back a stop that comes first
  /// instead. True: it was seen, and the tracee is in the stop of that system call's exit. `see` is
  /// shown the syscall-stops on the way.
  bool follow_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                     const std::function<void(const StoppedTracee&)>& see);
  /// sigprocmask(2) or pthread_sigmask(3) is called with these arguments.
  void see_mask_set(const Registers& registers);
  /// From the process's state, before any breakpoint is there.
  void begin(pid_t tid);
  /// Of a thread that was born of one that is known, before it has run.
  static void begin_child(pid_t tid, TrapMask& mask);

private:
  void read_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  void send_again(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  void write_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  Result<std::uint64_t> call(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                             std::size_t argument, std::array<std::uint64_t, 4>& action);

  PatchedSpace& space_;
  TrapDisposition& disposition_;
  TrapMask& mask_;
};

} // namespace sonictrace
