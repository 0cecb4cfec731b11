#pragma once

#include <cstdint>
#include <vector>

#include "engine/breakpoint/traced_thread.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/engine/recorder.hpp"

namespace sonictrace {

/// Writes the records of calls that a stop shows: runs the capture plans, keeps the clocks.
class CallRecorder {
public:
  /// `stop_latency_ns`: what a stop costs the tracee besides the time that we hold it.
  CallRecorder(Recorder& recorder, std::uint64_t stop_latency_ns)
      : recorder_(recorder), latency_ns_(stop_latency_ns) {}

  Recorder& recorder() { return recorder_; }

  /// Opens a call in `thread` and records its beginning. `seen_ns` is when the stop was seen.
  void enter(TracedThread& thread, const OpenCall& place, const Registers& registers,
             std::uint64_t seen_ns);
  /// Records the ends of calls that have returned (with the result in `registers`), or were left.
  void leave(TracedThread& thread, const std::vector<EndedCall>& ended, const Registers& registers,
             std::uint64_t seen_ns);
  /// The thread is about to be let go: starts the clocks of the `opened` newest calls.
  void let_go(TracedThread& thread, std::uint64_t seen_ns, std::size_t opened);

  std::uint64_t latency_ns() const { return latency_ns_; }
  /// Of all stops so far: how long they were held, and how many.
  std::uint64_t held_ns() const { return held_ns_; }
  std::uint64_t stops() const { return stops_; }

private:
  Recorder& recorder_;
  std::uint64_t latency_ns_;
  std::uint64_t held_ns_ = 0;
  std::uint64_t stops_ = 0;
};

} // namespace sonictrace
