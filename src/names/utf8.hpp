#pragma once

#include <cstdint>
#include <string>

namespace sonictrace::names {

/// Appends a character as UTF-8; false for what is not one, or would control a terminal.
inline bool append_utf8(std::string& out, std::uint32_t character) {
  const bool is_surrogate = 0xd800 <= character && character <= 0xdfff;
  const bool is_control = character < 0x20 || (0x7f <= character && character <= 0x9f);
  if (character > 0x10ffff || is_surrogate || is_control) return false;
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto add_tail = [&](int shift) { add(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xc0 | (character >> 6));
    add_tail(0);
  } else if (character < 0x10000) {
    add(0xe0 | (character >> 12));
    add_tail(6);
    add_tail(0);
  } else {
    add(0xf0 | (character >> 18));
    add_tail(12);
    add_tail(6);
    add_tail(0);
  }
  return true;
}

} // namespace sonictrace::names
