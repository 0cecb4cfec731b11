#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sonictrace::log {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline unsigned digit(char c) { return static_cast<unsigned>(c - '0'); }

/// Reads digits up to `end`, at most 18 of them; `p` is then behind them.
inline std::uint64_t read_number(const char*& p, const char* end) {
  const char* const limit = end - p > 18 ? p + 18 : end;
  std::uint64_t value = 0;
  for (; p != limit && is_digit(*p); ++p)
    value = value * 10 + digit(*p);
  return value;
}

/// A fraction of a second in nanoseconds; digits beyond the ninth say nothing. `p` is then behind
/// all of them.
inline std::uint64_t read_fraction_ns(const char*& p, const char* end) {
  static constexpr std::uint32_t kScale[] = {
      1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
  std::uint64_t value = 0;
  unsigned count = 0;
  for (; p != end && is_digit(*p); ++p) {
    if (count == 9) continue;
    value = value * 10 + digit(*p);
    ++count;
  }
  return value * kScale[count];
}

/// Eight bytes at once: the first one is the lowest. Little endian, as everything we run on.
inline std::uint64_t load_eight(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

constexpr std::uint64_t in_all_bytes(unsigned char byte) { return byte * 0x0101010101010101U; }

/// The high bit of each byte that is between `low` and `high`; no byte may have its own high bit
/// set.
constexpr std::uint64_t bytes_between(std::uint64_t word, unsigned char low, unsigned char high) {
  return (word + in_all_bytes(static_cast<unsigned char>(0x80 - low))) &
         ~(word + in_all_bytes(static_cast<unsigned char>(0x7f - high))) & in_all_bytes(0x80);
}

/// The six digits in the low bytes as a number; false where they are none.
inline bool read_six_digits(std::uint64_t word, std::uint64_t& value) {
  constexpr std::uint64_t kSix = 0xffffffffffffU;
  const std::uint64_t digits = (word ^ in_all_bytes('0')) & kSix;
  // Each byte is at most 9: adding 0x76 then sets no high bit.
  if (((digits + (in_all_bytes(0x76) & kSix)) | digits) & (in_all_bytes(0x80) & kSix)) return false;
  const std::uint64_t shifted = digits << 16; // two zeros in front
  const std::uint64_t pairs = (shifted * 10 + (shifted >> 8)) & 0x00ff00ff00ff00ffU;
  const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000ffff0000ffffU;
  value = (fours * 10000 + (fours >> 32)) & 0xffffffffU;
  return true;
}

} // namespace sonictrace::log
