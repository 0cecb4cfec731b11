#pragma once

#include <cstdint>

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

} // namespace sonictrace::log
