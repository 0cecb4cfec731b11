#pragma once

#include <string>
#include <string_view>

namespace sonictrace {

/// Appends UTF-8 as it stands within a string of JSON (RFC 8259, 7), without the quotes around it.
void append_json_escaped(std::string& out, std::string_view text);

/// Appends any bytes as a string of JSON; those that are not UTF-8 as U+FFFD.
void json_string(std::string& out, std::string_view text);

/// The same by itself.
inline std::string json_string(std::string_view text) {
  std::string out;
  json_string(out, text);
  return out;
}

} // namespace sonictrace
