#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace sonictrace {

// Digits at the end of a text, without a locale and without an allocation of their own. By hand:
// they are most of what a log line is made of, and std::to_chars takes two times as long.

/// 00 01 .. 99
inline constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t at = 0; at < 100; ++at) {
    pairs[2 * at] = static_cast<char>('0' + at / 10);
    pairs[2 * at + 1] = static_cast<char>('0' + at % 10);
  }
  return pairs;
}();

/// `-42`
template <class Integer>
inline void append_decimal(std::string& out, Integer value) {
  static_assert(sizeof value <= sizeof(std::uint64_t));
  auto rest = static_cast<std::uint64_t>(value);
  bool negative = false;
  if constexpr (std::is_signed_v<Integer>) {
    negative = value < 0;
    if (negative) rest = 0 - rest;
  }
  char digits[20];
  unsigned at = sizeof digits;
  for (; rest >= 10; rest /= 100)
    std::memcpy(digits + (at -= 2), &kDigitPairs[2 * (rest % 100)], 2);
  // Of an even number of digits nothing is left.
  if (rest != 0 || at == sizeof digits) digits[--at] = static_cast<char>('0' + rest);
  if (negative) out += '-';
  out.append(digits + at, sizeof digits - at);
}

/// `0xff`
inline void append_hex(std::string& out, std::uint64_t value) {
  char digits[18];
  unsigned at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[value & 0xf];
    value >>= 4;
  } while (value != 0);
  digits[--at] = 'x';
  digits[--at] = '0';
  out.append(digits + at, sizeof digits - at);
}

/// Exactly `width` digits (20 at most), with zeros in front; higher digits are left out.
inline void append_padded(std::string& out, std::uint64_t value, unsigned width) {
  char digits[20];
  unsigned at = width;
  for (; at >= 2; value /= 100)
    std::memcpy(digits + (at -= 2), &kDigitPairs[2 * (value % 100)], 2);
  if (at > 0) digits[0] = static_cast<char>('0' + value % 10);
  out.append(digits, width);
}

} // namespace sonictrace
