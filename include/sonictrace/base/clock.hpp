#pragma once

#include <cstdint>
#include <ctime>

namespace sonictrace {

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now); // cannot fail for the clocks below (clock_gettime(2))
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// CLOCK_MONOTONIC, for durations.
inline std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
/// CLOCK_REALTIME, for the time of day.
inline std::uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

/// The time of day of a moment on CLOCK_MONOTONIC, as the two clocks stand to each other now.
inline std::uint64_t to_realtime(std::uint64_t monotonic) {
  return monotonic + (realtime_ns() - monotonic_ns());
}

} // namespace sonictrace
