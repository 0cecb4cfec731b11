#pragma once

#include <cstdint>
#include <optional>

#include "engine/breakpoint/open_calls.hpp"
#include "sonictrace/process/syscall_stop.hpp"

namespace sonictrace {

/// The system call that a thread is in: always its innermost call, and at most one.
struct OpenSyscall {
  OpenCall call;
  Machine machine = Machine::X86_64;
  std::uint64_t number = 0;
  TraceeAddress at; ///< behind its instruction

  /// How it is about to end, unless it is made again.
  struct End {
    std::int64_t result = 0;
    CallEnd at;
    bool begins_anew = false; ///< the tracer makes it again
  };
  std::optional<End> end;

  /// Whether `result` may stay unseen by the program.
  static bool may_begin_anew(std::int64_t result);
  /// Whether a call that is made next, with no signal in between, is this one made again.
  bool goes_on_as(const SyscallEntry& next) const;
};

} // namespace sonictrace
