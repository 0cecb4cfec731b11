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
/// Returns whose calls they are from now on.
using BindingObserver =
    std::function<FunctionId(const AddressSpace&, FunctionId, TraceeAddress target)>;

/// What a recording is for, for an engine that can leave work undone.
struct RecordingOptions {
  enum class Form : std::uint8_t {
    Whole, ///< the log tells a call at its end
    Split, ///< the log tells a call when it begins, and when it ends
    Count, ///< calls are counted only
  };

  Form form = Form::Split;
  bool percentiles = false;      ///< of Count
  bool thins = false;            ///< the log leaves out short calls from some size on
  std::uint64_t min_time_ns = 0; ///< shorter calls are left out
  unsigned max_depth = 0;        ///< deeper calls are left out; 0: none
  std::uint64_t sample = 1;      ///< every Nth call of each function is shown
  std::uint64_t interval_ns =
      0; ///< of Count: there is a table each so long time; 0: only at the end

  bool operator==(const RecordingOptions&) const = default;
};

/// What an engine works with.
struct EngineParts {
  Recorder& recorder;
  /// What a stop costs the tracee besides the time that it is held; taken off the times of calls,
  /// and so is the time that it is held.
  std::uint64_t stop_latency_ns = 0;
  BindingObserver on_binding;
  ImageCache& images;     ///< for the backtraces; not looked at before the first call
  std::size_t frames = 0; ///< of each call's backtrace, at most; 0: none are made
  /// The same as `stop_latency_ns` of a syscall-stop, which is cheaper.
  std::uint64_t syscall_stop_latency_ns = 0;
  RecordingOptions recording = {};
  bool python = false; ///< the Python function that makes each call, too
};

/// Breakpoints through ptrace.
std::unique_ptr<Engine> make_breakpoint_engine(EngineParts parts);

class Collector;

/// Code in the traced processes, and breakpoints where that can't be. What it records goes through
/// `collector`, and so must what the Recorder writes.
std::unique_ptr<Engine> make_inline_engine(EngineParts parts, Collector& collector);

} // namespace sonictrace
