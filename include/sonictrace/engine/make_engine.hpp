#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "sonictrace/engine/engine.hpp"
#include "sonictrace/engine/recorder.hpp"
#include "sonictrace/probe/image_cache.hpp"

namespace sonictrace {

/// Told where a call really goes, when that is first seen or changes.
using BindingObserver =
    std::function<void(const AddressSpace&, FunctionId, TraceeAddress target)>;

/// What an engine works with.
struct EngineParts {
  Recorder& recorder;
  /// What a stop costs the tracee besides the time that it is held; taken off the times of calls, and so
  /// is the time that it is held.
  std::uint64_t stop_latency_ns = 0;
  BindingObserver on_binding;
  ImageCache& images;      ///< for the backtraces; not looked at before the first call
  std::size_t frames = 0;  ///< of each call's backtrace, at most; 0: none are made
  /// The same as `stop_latency_ns` of a syscall-stop, which is cheaper.
  std::uint64_t syscall_stop_latency_ns = 0;
};

/// Breakpoints through ptrace.
std::unique_ptr<Engine> make_breakpoint_engine(EngineParts parts);

} // namespace sonictrace
