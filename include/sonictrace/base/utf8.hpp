#pragma once

#include <cstdint>
#include <string>

namespace sonictrace {

/// A Unicode scalar value: neither a surrogate nor behind the last character (RFC 3629).
constexpr bool is_scalar_value(std::uint32_t character) {
  return character <= 0x10ffff && (character < 0xd800 || character > 0xdfff);
}

/// Appends a character, for which is_scalar_value() holds, as UTF-8.
inline void encode_utf8(std::string& out, std::uint32_t character) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto add_tail = [&](unsigned shift) { add(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xc0 | character >> 6);
    add_tail(0);
  } else if (character < 0x10000) {
    add(0xe0 | character >> 12);
    add_tail(6);
    add_tail(0);
  } else {
    add(0xf0 | character >> 18);
    add_tail(12);
    add_tail(6);
    add_tail(0);
  }
}

} // namespace sonictrace
