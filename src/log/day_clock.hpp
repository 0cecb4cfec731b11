#pragma once

#include <cstdint>

#include "sonictrace/log/line.hpp"

namespace sonictrace::log {

/// Makes one scale of the times of a log's lines, over midnights.
class DayClock {
public:
  static constexpr std::uint64_t kDay = 86'400'000'000'000; ///< ns

  /// Of a line, in the order of the log. Of -t and -tt, the nanoseconds since the midnight *before*
  /// the day of the first line: a call that is told there may have been entered on the day before.
  std::uint64_t time_of(const Line& line) {
    switch (line.clock) {
      case Clock::TimeOfDay: return time_of_day(line);
      case Clock::Epoch: return line.time_ns;
      case Clock::Relative: return relative_ += line.time_ns;
      case Clock::None: break;
    }
    return kNoTime;
  }

private:
  std::uint64_t time_of_day(const Line& line) {
    const std::uint64_t time = line.time_ns + day_;
    if (time - last_ < kDay / 2) return last_ = time; // nearly always: a little later
    return out_of_order(line, time);
  }
  std::uint64_t out_of_order(const Line& line, std::uint64_t time);

  std::uint64_t day_ = kDay;
  std::uint64_t last_ = 0; ///< the latest so far
  bool begun_ = false;
  std::uint64_t relative_ = 0;
};

} // namespace sonictrace::log
