#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace sonictrace {

/// Digits at the end of `out`, without a locale and without an allocation of their own.
template <class Integer>
inline void append_decimal(std::string& out, Integer value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

/// `0xff`
inline void append_hex(std::string& out, std::uint64_t value) {
  char digits[18] = {'0', 'x'};
  const auto [end, error] = std::to_chars(digits + 2, digits + sizeof digits, value, 16);
  out.append(digits, end);
}

/// Exactly `width` digits (20 at most), with zeros in front; higher digits are left out.
inline void append_padded(std::string& out, std::uint64_t value, unsigned width) {
  char digits[20];
  for (unsigned at = width; at > 0; value /= 10)
    digits[--at] = static_cast<char>('0' + value % 10);
  out.append(digits, width);
}

} // namespace sonictrace
