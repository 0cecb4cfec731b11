#include "cli/quantity.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace sonictrace {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

bool begins_with_digit(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

/// Length of `digits[.digits]` at the beginning of `text`; 0: none. Not strtod(3), which follows
/// the locale and takes `0x1p3`, `inf` and `nan`.
std::size_t decimal_length(const std::string& text) {
  const auto digits = [&text](std::size_t at) {
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0)
      ++at;
    return at;
  };
  const std::size_t whole = digits(0);
  if (whole == 0 || whole >= text.size() || text[whole] != '.') return whole;
  const std::size_t end = digits(whole + 1);
  return end == whole + 1 ? 0 : end;
}

} // namespace

std::optional<std::int64_t> parse_integer(const std::string& text) {
  char* end = nullptr;
  const std::int64_t value = std::strtol(text.c_str(), &end, 0);
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return value;
}

std::optional<std::chrono::nanoseconds> parse_duration(const std::string& text) {
  if (text == "0") return std::chrono::nanoseconds(0);
  const std::size_t length = decimal_length(text);
  if (length == 0) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (std::string_view(text).substr(length) != unit.name) continue;
    long double value = 0;
    long double weight = 0; // of the next digit; 0: before the point
    for (const char c : std::string_view(text).substr(0, length)) {
      if (c == '.') {
        weight = 0.1L;
      } else if (weight == 0) {
        value = value * 10 + (c - '0');
      } else {
        value += weight * (c - '0');
        weight /= 10;
      }
    }
    const long double total = std::round(value * static_cast<long double>(unit.nanoseconds));
    if (total >= static_cast<long double>(std::numeric_limits<std::int64_t>::max()))
      return std::chrono::nanoseconds::max();
    return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  if (!begins_with_digit(text)) return std::nullopt;
  char* end = nullptr;
  const std::uint64_t number = std::strtoul(text.c_str(), &end, 10);
  unsigned shift = 0;
  const std::string_view unit(end);
  if (!unit.empty()) {
    const std::size_t power = std::string_view("KMGT").find(unit[0]);
    if (unit.size() > 1 || power == std::string_view::npos) return std::nullopt;
    shift = 10 * (static_cast<unsigned>(power) + 1);
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return number > kMost >> shift ? kMost : number << shift;
}

} // namespace sonictrace
