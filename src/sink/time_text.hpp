#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

#include "sonictrace/decode/digits.hpp"
#include "sonictrace/sink/text_options.hpp"

namespace sonictrace {

/// Writes the time in front of a line. Local time; TZ is read once.
class TimeText {
public:
  TimeText(TimeStamp form, bool nanoseconds);

  /// No time touches more bytes.
  static constexpr std::size_t kRoom = 40;
  /// Without a blank behind it; returns where it ends. `Relative` is the time since the call
  /// before, 0 where that was later (whole lines carry the time of their entry, so an outer call's
  /// comes late).
  char* put(char* at, std::uint64_t time_ns) {
    // Wraps around before what is kept: as far away as any other time.
    const std::uint64_t passed = time_ns - kept_begin_ns_;
    if (passed >= kept_for_ns_) return put_anew(at, time_ns);
    std::memcpy(at, kept_, sizeof kept_);
    return put_pair(at + kKeptDigits, passed / 1000);
  }
  void append(std::string& out, std::uint64_t time_ns) {
    char text[kRoom];
    out.append(text, put(text, time_ns));
  }

private:
  static constexpr std::uint64_t kKeepFor = 100'000;
  static constexpr std::size_t kKeptDigits = sizeof "HH:MM:SS.UUUU" - 1;

  char* put_anew(char* at, std::uint64_t time_ns);
  char* put_relative(char* at, std::uint64_t time_ns);
  void read_clock(std::uint64_t second);

  TimeStamp form_;
  bool nanoseconds_;
  std::uint64_t second_begin_ns_ = 0; ///< of the second that clock_ shows
  char clock_[8] = {};                ///< `HH:MM:SS`
  // The usual form, -tt: all but the last two digits, which are those of so many nanoseconds.
  std::uint64_t kept_begin_ns_ = 0;
  std::uint64_t kept_for_ns_ = 0; ///< 0: nothing is kept
  char kept_[16] = {};
  std::uint64_t previous_ns_ = 0;
};

/// No duration touches more bytes.
constexpr std::size_t kDurationRoom = 40;
/// Of any duration: see put_duration.
char* put_long_duration(char* at, std::uint64_t duration_ns, bool nanoseconds);
/// `<S.UUUUUU>`, or nine digits. Cut, not rounded, as ltrace does. Returns where it ends.
inline char* put_duration(char* at, std::uint64_t duration_ns, bool nanoseconds) {
  // Most are so short, and have nothing but the last two digits of their own.
  if (duration_ns >= 100'000 || nanoseconds) return put_long_duration(at, duration_ns, nanoseconds);
  static constexpr char kNothing[] = "<0.000000>";
  std::memcpy(at, kNothing, sizeof kNothing - 1);
  put_pair(at + sizeof "<0.0000" - 1, duration_ns / 1000);
  return at + sizeof kNothing - 1;
}
inline void append_duration(std::string& out, std::uint64_t duration_ns, bool nanoseconds) {
  char text[kDurationRoom];
  out.append(text, put_duration(text, duration_ns, nanoseconds));
}

} // namespace sonictrace
