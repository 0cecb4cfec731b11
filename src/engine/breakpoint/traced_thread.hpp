#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/breakpoint/open_calls.hpp"
#include "engine/breakpoint/open_syscall.hpp"
#include "engine/breakpoint/patched_space.hpp"
#include "engine/breakpoint/trap_guard.hpp"
#include "sonictrace/wire/python.hpp"

namespace sonictrace {

/// What the engine keeps of one thread.
struct TracedThread {
  pid_t tid = 0;
  std::shared_ptr<PatchedSpace> space;
  std::shared_ptr<TrapDisposition> trap; ///< of its process
  TrapMask trap_mask;
  bool silent = false; ///< no records
  OpenCalls calls;
  std::uint16_t outer_depth = 0;         ///< calls that another engine has open in the thread
  std::optional<OpenSyscall> syscall;    ///< inside the innermost of `calls`
  std::optional<StackMap::Region> stack; ///< the one it was last seen on
  /// pc and sp at which a breakpoint will be hit a second time for the same call: a signal came
  /// before its instruction had run.
  std::pair<TraceeAddress, TraceeAddress> replay;

  /// The call that recording ends with: where it returns to, and the slot of that address.
  std::optional<std::pair<TraceeAddress, TraceeAddress>> last_call;

  wire::PythonHint python{};

  std::uint64_t own_ns = 0; ///< of its time, spent stopped by us
  std::uint64_t unwound_ns =
      0; ///< CLOCK_MONOTONIC of the last raised exception or longjmp, 0: none
  std::uint64_t unwound_own_ns = 0; ///< own_ns at that time
};

} // namespace sonictrace
