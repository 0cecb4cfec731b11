#include "sonictrace/report/log_time.hpp"

#include <fmt/format.h>

namespace sonictrace::report {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000; ///< ns

std::string fraction(std::uint64_t ns, unsigned digits) {
  if (digits == 0) return {};
  return "." + fmt::format("{:09}", ns % kSecond).substr(0, digits < 9 ? digits : 9);
}

} // namespace

std::string format_log_time(std::uint64_t time_ns, log::Clock clock, unsigned fraction_digits) {
  if (time_ns == log::kNoTime) return "-";
  const std::uint64_t seconds = time_ns / kSecond;
  if (clock != log::Clock::TimeOfDay)
    return fmt::format("{}", seconds) + fraction(time_ns, fraction_digits);
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) +
         fraction(time_ns, fraction_digits);
}

std::string format_milliseconds(std::uint64_t ns, unsigned fraction_digits) {
  if (fraction_digits == 0) return fmt::format("{} ms", ns / 1'000'000);
  const bool exact = fraction_digits > 6;
  const std::uint64_t unit = exact ? 1 : 1000;
  const std::uint64_t parts = 1'000'000 / unit; // of a millisecond
  return fmt::format("{}.{:0{}} ms", ns / unit / parts, ns / unit % parts, exact ? 6 : 3);
}

} // namespace sonictrace::report
