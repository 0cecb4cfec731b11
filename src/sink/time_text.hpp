#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "sonictrace/sink/text_options.hpp"

namespace sonictrace {

/// Writes the time in front of a line. Local time; TZ is read once.
class TimeText {
public:
  TimeText(TimeStamp form, bool nanoseconds);

  /// Without a blank behind it. `Relative` is the time since the call before, 0 where that was
  /// later (whole lines carry the time of their entry, so an outer call's comes late).
  void append(std::string& out, std::uint64_t time_ns);

private:
  void append_fraction(std::string& out, std::uint64_t ns) const;

  TimeStamp form_;
  bool nanoseconds_;
  std::uint64_t cached_second_ = ~std::uint64_t{0};
  char clock_[8] = {}; ///< `HH:MM:SS` of cached_second_
  std::uint64_t previous_ns_ = 0;
};

/// `<S.UUUUUU>`, or nine digits. Cut, not rounded, as ltrace does.
void append_duration(std::string& out, std::uint64_t duration_ns, bool nanoseconds);

} // namespace sonictrace
