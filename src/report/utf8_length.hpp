#pragma once

#include <cstddef>
#include <string_view>

namespace sonictrace::report {

/// Length of the UTF-8 sequence that `text` begins with (RFC 3629), which is not empty; 0 where it
/// is none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto is_tail = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xbf) {
    return i < text.size() && byte(i) >= from && byte(i) <= to;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = is_tail(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && is_tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = is_tail(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

} // namespace sonictrace::report
