#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sonictrace {

/// The agent's clock, and what its ticks are in nanoseconds: the processor's time stamp counter
/// where it counts evenly on all cores, else CLOCK_MONOTONIC, whose ticks are nanoseconds.
///
/// The counter and the kernel's clock drift apart (the kernel steers its own), so they are compared
/// from time to time, and the difference is made up for in the course of the next interval. Times
/// given out thus never fall for rising ticks, but where somebody has set the clock. A value: each
/// thread has its own copy.
class TickClock {
public:
  /// The clocks at one moment.
  struct Reading {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic_ns = 0;
    std::uint64_t realtime_ns = 0;
    std::uint64_t width = 0; ///< ticks that it took: how uncertain it is
  };

  /// The best clock that there is here; takes two milliseconds.
  static TickClock calibrate();
  /// One that is made of these readings: for tests. `now` is then the ticks of a reading.
  TickClock(std::function<Reading()> read, bool uses_tsc);

  bool uses_tsc() const { return uses_tsc_; }
  std::uint64_t now() const;
  /// Nanoseconds of a tick, times 2^32.
  std::uint64_t ns_per_tick_32() const { return rate_; }

  std::uint64_t realtime_ns(std::uint64_t ticks) const {
    const Segment& segment = ticks >= current_.ticks ? current_ : segment_of(ticks);
    return at(segment, ticks) + segment.offset;
  }
  std::uint64_t duration_ns(std::uint64_t ticks) const { return scaled(ticks, rate_); }
  std::uint64_t ticks_of(std::uint64_t duration_ns) const;
  /// When CLOCK_REALTIME was so, as the clocks stand to each other now.
  std::uint64_t ticks_at(std::uint64_t realtime_ns) const;

  bool is_due() const { return now() >= due_; }
  /// Compares the clocks. At first after some milliseconds, later four times a second: when
  /// is_due().
  void recalibrate();

private:
  __extension__ typedef __int128 Wide;

  /// From `ticks` on the time is `ns` (CLOCK_MONOTONIC) and goes on with `rate`.
  struct Segment {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;
    std::uint64_t rate = 0;   ///< nanoseconds of a tick, times 2^32
    std::uint64_t offset = 0; ///< from CLOCK_MONOTONIC to CLOCK_REALTIME
  };

  static std::uint64_t scaled(std::uint64_t ticks, std::uint64_t rate) {
    return static_cast<std::uint64_t>(static_cast<Wide>(ticks) * static_cast<Wide>(rate) >> 32);
  }
  static std::uint64_t at(const Segment& segment, std::uint64_t ticks) {
    const auto distance = static_cast<std::int64_t>(ticks - segment.ticks);
    return segment.ns + static_cast<std::uint64_t>(
                            static_cast<Wide>(distance) * static_cast<Wide>(segment.rate) >> 32);
  }
  const Segment& segment_of(std::uint64_t ticks) const;
  void begin_segment(const Segment& segment);
  void plan_next(std::uint64_t from);

  std::function<Reading()> read_; ///< none: the machine's clocks
  bool uses_tsc_;
  std::uint64_t rate_ = std::uint64_t{1} << 32;
  Segment current_;
  std::vector<Segment> past_; ///< in the order of their ticks, for times of long ago
  Reading old_, young_;       ///< what the rate is measured from
  std::uint64_t interval_ns_;
  std::uint64_t due_ = 0; ///< ticks
};

} // namespace sonictrace
