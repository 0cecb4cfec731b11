#include "sonictrace/base/json_string.hpp"

#include <array>

#include "sonictrace/base/utf8.hpp"

namespace sonictrace {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

/// For each byte below 0x80: 0 for itself, `u`, or the letter behind its backslash.
constexpr std::array<char, 128> make_escapes() {
  std::array<char, 128> escapes{};
  for (std::size_t byte = 0; byte < 0x20; ++byte)
    escapes[byte] = 'u';
  escapes[0x7f] = 'u'; // may stand as it is, but steers terminals
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}
constexpr std::array<char, 128> kEscapes = make_escapes();

} // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 || kEscapes[byte] == 0) continue;
    out.append(text, plain, at - plain);
    plain = at + 1;
    out += '\\';
    out += kEscapes[byte];
    if (kEscapes[byte] != 'u') continue;
    out += "00";
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 0xf];
  }
  out.append(text, plain, text.size() - plain);
}

void json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t sound = 0; // bytes that are UTF-8
    for (std::size_t length = 1; sound < text.size() && length > 0; sound += length) {
      length = 1;
      if (static_cast<unsigned char>(text[sound]) >= 0x80) length = utf8_length(text.substr(sound));
    }
    append_json_escaped(out, text.substr(0, sound));
    text.remove_prefix(sound);
    if (text.empty()) break;
    out += "\xef\xbf\xbd"; // U+FFFD
    text.remove_prefix(1);
  }
  out += '"';
}

} // namespace sonictrace
