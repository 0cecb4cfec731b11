#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonictrace {

/// A Unicode scalar value: neither a surrogate nor behind the last character (RFC 3629).
constexpr bool is_scalar_value(std::uint32_t character) {
  return character <= 0x10ffff && (character < 0xd800 || character > 0xdfff);
}

/// The character at the front of a text that is not empty (RFC 3629, 4): no surrogates, no longer
/// forms, nothing behind U+10FFFF.
struct Utf8Front {
  unsigned size = 0;  ///< bytes that it has by its first one; 0: no character begins so
  unsigned sound = 0; ///< bytes of these that are there, and right

  bool is_whole() const { return size != 0 && sound == size; }
};

inline Utf8Front utf8_front(std::string_view text) {
  const auto byte = [text](unsigned at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  unsigned size = 1, lowest = 0x80, highest = 0xbf; // of the second byte
  if (first >= 0xc2) size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4) return {};
  if (first == 0xe0) lowest = 0xa0;
  if (first == 0xed) highest = 0x9f;
  if (first == 0xf0) lowest = 0x90;
  if (first == 0xf4) highest = 0x8f;
  unsigned at = 1;
  for (; at < size && at < text.size(); ++at) {
    const bool is_second = at == 1;
    if (byte(at) < (is_second ? lowest : 0x80) || byte(at) > (is_second ? highest : 0xbf)) break;
  }
  return {size, at};
}

/// Bytes of the character that `text`, which is not empty, begins with; 0 where it begins with
/// none.
inline std::size_t utf8_length(std::string_view text) {
  const Utf8Front front = utf8_front(text);
  return front.is_whole() ? front.size : 0;
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
