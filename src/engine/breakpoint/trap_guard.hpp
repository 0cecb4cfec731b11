#pragma once

#include <array>
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

/// Per thread.
struct TrapMask {
  bool blocked = false; ///< SIGTRAP, as far as seen: from the start, or set through the C library
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

private:
  void read_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  void send_again(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  void write_action(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed);
  Result<std::uint64_t> call(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                             TraceeAddress set, TraceeAddress get);

  PatchedSpace& space_;
  TrapDisposition& disposition_;
  TrapMask& mask_;
};

} // namespace sonictrace
