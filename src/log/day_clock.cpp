#include "log/day_clock.hpp"

namespace sonictrace::log {

/// A line may have a time before that of the line above it: in whole lines, which have the time of
/// the entry and are written at the return, that of a call that has others in it. Or a midnight has
/// passed.
std::uint64_t DayClock::out_of_order(const Line& line, std::uint64_t time) {
  constexpr std::uint64_t kSlack = 1'000'000'000; // of two clocks that are read at two moments
  if (!begun_) {
    begun_ = true;
    return last_ = time;
  }
  const std::uint64_t spent = line.duration_ns == kNoDuration ? 0 : line.duration_ns;
  if (time < last_) {
    const bool is_now = time + spent + kSlack >= last_; // entered long ago, and over now
    if (last_ - time <= kDay / 2 || is_now || line.kind == LineKind::NoReturn) return time;
    day_ += kDay;
    return last_ = time + kDay;
  }
  // More than half a day later: entered before midnight and over now, or a long silence.
  const std::uint64_t before = time - kDay;
  if (line.kind == LineKind::NoReturn || before + spent + kSlack >= last_) return before;
  return last_ = time;
}

} // namespace sonictrace::log
