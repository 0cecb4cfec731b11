#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sonictrace/engine/engine.hpp"
#include "sonictrace/engine/recorder.hpp"

namespace sonictrace {

/// Told where a call really goes, when that is first seen or changes.
using BindingObserver =
    std::function<void(const AddressSpace&, FunctionId, TraceeAddress target)>;

/// Breakpoints through ptrace. `stop_latency_ns`: what a stop costs the tracee besides the time that
/// it is held; taken off the times of calls, and so is the time that it is held.
std::unique_ptr<Engine> make_breakpoint_engine(Recorder& recorder, std::uint64_t stop_latency_ns,
                                               BindingObserver on_binding);

} // namespace sonictrace
