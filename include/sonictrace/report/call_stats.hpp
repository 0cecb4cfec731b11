#pragma once

#include <algorithm>
#include <cstdint>

#include "sonictrace/log/call.hpp"
#include "sonictrace/report/histogram.hpp"

namespace sonictrace::report {

/// What many calls come to. Those that have been put together from two may be added up again.
struct CallStats {
  std::uint64_t calls = 0;        ///< that ended or do not return, and thinned ones
  std::uint64_t timed = 0;        ///< of those, with a time of their own
  std::uint64_t sum_ns = 0;       ///< of all times
  std::uint64_t outermost_ns = 0; ///< without those of calls inside a call of the same function
  std::uint64_t self_ns = 0;      ///< without the calls inside
  std::uint64_t no_return = 0;
  std::uint64_t unwound = 0;
  std::uint64_t thinned = 0; ///< calls that the log only counts: not in `durations`
  DurationHistogram durations;

  /// Unfinished calls are none.
  void add(const log::Call& call) {
    ++calls;
    if (call.end != log::Call::End::Returned) {
      no_return += call.end == log::Call::End::NoReturn ? 1 : 0;
      unwound += call.end == log::Call::End::Unwound ? 1 : 0;
    }
    if (!call.has_duration()) return;
    ++timed;
    sum_ns += call.duration_ns;
    outermost_ns += call.outermost_ns;
    self_ns += call.self_ns;
    durations.add(call.duration_ns);
  }
  /// Calls that the log counts and does not show: what they contained is not known.
  void add_thinned(std::uint64_t more_calls, std::uint64_t total_ns) {
    calls += more_calls;
    thinned += more_calls;
    sum_ns += total_ns;
    outermost_ns += total_ns;
    self_ns += total_ns;
  }
  void add(const CallStats& other) {
    calls += other.calls;
    timed += other.timed;
    sum_ns += other.sum_ns;
    outermost_ns += other.outermost_ns;
    self_ns += other.self_ns;
    no_return += other.no_return;
    unwound += other.unwound;
    thinned += other.thinned;
    durations.add(other.durations);
  }
  std::uint64_t average_ns() const {
    const auto with_time = timed + thinned;
    return with_time == 0 ? 0 : sum_ns / with_time;
  }
};

} // namespace sonictrace::report
