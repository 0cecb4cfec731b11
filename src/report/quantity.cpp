#include "sonictrace/report/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace sonictrace::report {

std::string format_duration(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{}ns", ns);
  struct Unit {
    double ns;
    const char* name;
  };
  static constexpr std::array<Unit, 3> kUnits = {{{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  const auto value = static_cast<double>(ns);
  for (const auto& unit : kUnits) {
    const double in_unit = value / unit.ns;
    if (in_unit < 9.995) return fmt::format("{:.2f}{}", in_unit, unit.name);
    // 999.95 would be rounded to a thousand.
    if (in_unit < 999.95) return fmt::format("{:.1f}{}", in_unit, unit.name);
  }
  const auto seconds = (ns + 500'000'000) / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string format_seconds(std::uint64_t ns, unsigned decimals) {
  std::uint64_t unit = 1;
  for (unsigned i = decimals; i < 9; ++i)
    unit *= 10;
  const std::uint64_t rounded = ns / unit + (ns % unit * 2 >= unit && unit > 1 ? 1 : 0);
  const std::uint64_t second = 1'000'000'000 / unit;
  if (decimals == 0) return fmt::format("{}", rounded);
  return fmt::format("{}.{:0{}}", rounded / second, rounded % second, decimals);
}

std::string format_count(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::optional<std::uint64_t> parse_duration_ns(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc{} || value < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  double scale = 0;
  if (unit == "ns") scale = 1;
  if (unit == "us") scale = 1e3;
  if (unit == "ms") scale = 1e6;
  if (unit == "s") scale = 1e9;
  if (unit == "m") scale = 60e9;
  if (unit == "h") scale = 3600e9;
  if (unit.empty() && value == 0) return 0; // NOLINT: exactly the text 0
  if (scale == 0 || value * scale > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * scale));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  unsigned shift = 0;
  if (unit == "K" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "GiB") shift = 30;
  if ((shift == 0 && !unit.empty()) || value > ~std::uint64_t{0} >> shift) return std::nullopt;
  return value << shift;
}

} // namespace sonictrace::report
