#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/base/utf8.hpp"

namespace sonictrace::names {

/// Appends a character as UTF-8; false for what is not one, or would control a terminal.
inline bool append_utf8(std::string& out, std::uint32_t character) {
  const bool is_control = character < 0x20 || (0x7f <= character && character <= 0x9f);
  if (!is_scalar_value(character) || is_control) return false;
  encode_utf8(out, character);
  return true;
}

} // namespace sonictrace::names
