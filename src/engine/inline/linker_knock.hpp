#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// The dynamic linker's `_dl_debug_state`, which does nothing, turned into a signal to the process
/// itself, one that is ignored unless a tracer stops at it. For the time before the agent is there:
/// a breakpoint would kill the process if the tracer were gone.
class LinkerKnock {
public:
  static constexpr std::size_t kSize = 14; ///< bytes

  /// `tid`: the only thread of the process, which is stopped elsewhere. Nothing where the place has
  /// no room, or the process blocks or handles the signals that will do.
  static std::optional<LinkerKnock> put(std::shared_ptr<AddressSpace> space, pid_t tid,
                                        TraceeAddress function);
  /// Whether such code is there, of a tracer that was killed.
  static bool is_at(std::span<const std::byte> code);

  /// Whether the thread is at the entry or the exit of the system call in it.
  bool is_knocking(const StoppedTracee& tracee) const;
  /// Whether the thread has just knocked.
  bool is_heard(const StoppedTracee& tracee) const;
  /// Lets it return to the dynamic linker, and stops it there as PTRACE_INTERRUPT does.
  StoppedTracee::Outcome answer(StoppedTracee tracee) const;
  void restore() const;

private:
  LinkerKnock() = default;
  bool is_in_it(const StoppedTracee& tracee) const;

  std::shared_ptr<AddressSpace> space_;
  TraceeAddress at_;
  int signal_ = 0;
  std::array<std::byte, kSize> before_{};
};

} // namespace sonictrace
