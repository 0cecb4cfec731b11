#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace sonictrace {

// Digits at the end of a text, without a locale and without an allocation of their own. By hand:
// they are most of what a log line is made of, and std::to_chars takes two times as long.
//
// put_... write to a place that has the room, and return where they ended; append_... to a string.

/// No put_... here touches more bytes than that (but for the width of put_padded).
constexpr std::size_t kDigitsRoom = 24;

/// 00 01 .. 99
inline constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t at = 0; at < 100; ++at) {
    pairs[2 * at] = static_cast<char>('0' + at / 10);
    pairs[2 * at + 1] = static_cast<char>('0' + at % 10);
  }
  return pairs;
}();

/// `value` is less than 100.
inline char* put_pair(char* at, std::uint64_t value) {
  std::memcpy(at, &kDigitPairs[2 * value], 2);
  return at + 2;
}

/// `-42`
template <class Integer>
inline char* put_decimal(char* at, Integer value) {
  static_assert(sizeof value <= sizeof(std::uint64_t));
  auto rest = static_cast<std::uint64_t>(value);
  if constexpr (std::is_signed_v<Integer>) {
    if (value < 0) {
      *at++ = '-';
      rest = 0 - rest;
    }
  }
  // Most numbers are small.
  if (rest < 10) {
    *at = static_cast<char>('0' + rest);
    return at + 1;
  }
  if (rest < 100) return put_pair(at, rest);
  if (rest < 1000) {
    *at = static_cast<char>('0' + rest / 100);
    return put_pair(at + 1, rest % 100);
  }
  if (rest < 10000) return put_pair(put_pair(at, rest / 100), rest % 100);
  char digits[20];
  unsigned begin = sizeof digits;
  for (; rest >= 10; rest /= 100)
    put_pair(digits + (begin -= 2), rest % 100);
  // Of an even number of digits nothing is left.
  if (rest != 0) digits[--begin] = static_cast<char>('0' + rest);
  std::memcpy(at, digits + begin, sizeof digits - begin);
  return at + (sizeof digits - begin);
}

/// Sixteen bytes that are computed with at once.
using SixteenBytes = std::uint8_t __attribute__((vector_size(16)));

/// All hex digits of a number, the highest first in memory. At once, as a loop would have to ask a
/// table digit by digit.
inline SixteenBytes hex_digits(std::uint64_t value) {
  // Not through memory: half of it would be stored, all of it loaded, and the processor stalled.
  using TwoWords = std::uint64_t __attribute__((vector_size(16)));
  const TwoWords words = {__builtin_bswap64(value), 0};
  const auto bytes = reinterpret_cast<SixteenBytes>(words);
  const SixteenBytes halves = __builtin_shufflevector(bytes >> 4, bytes & 0xf, 0, 16, 1, 17, 2, 18,
                                                      3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const SixteenBytes are_letters = reinterpret_cast<SixteenBytes>(halves > 9);
  return halves + '0' + (are_letters & ('a' - '0' - 10));
}

/// `0xff`
inline char* put_hex(char* at, std::uint64_t value) {
  constexpr unsigned kDigits = 16, kBits = 4; // of them, and of each
  const unsigned unused = static_cast<unsigned>(__builtin_clzll(value | 1)) / kBits;
  const SixteenBytes digits = hex_digits(value << unused * kBits);
  std::memcpy(at, "0x", 2);
  std::memcpy(at + 2, &digits, sizeof digits);
  return at + 2 + (kDigits - unused);
}

/// Exactly `width` digits (20 at most), with zeros in front; higher digits are left out.
inline char* put_padded(char* at, std::uint64_t value, unsigned width) {
  unsigned begin = width;
  for (; begin >= 2; value /= 100)
    put_pair(at + (begin -= 2), value % 100);
  if (begin > 0) *at = static_cast<char>('0' + value % 10);
  return at + width;
}

template <class Integer>
inline void append_decimal(std::string& out, Integer value) {
  char digits[kDigitsRoom];
  out.append(digits, put_decimal(digits, value));
}

inline void append_hex(std::string& out, std::uint64_t value) {
  char digits[kDigitsRoom];
  out.append(digits, put_hex(digits, value));
}

inline void append_padded(std::string& out, std::uint64_t value, unsigned width) {
  char digits[kDigitsRoom];
  out.append(digits, put_padded(digits, value, width));
}

} // namespace sonictrace
