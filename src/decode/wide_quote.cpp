#include "decode/wide_quote.hpp"

#include <cstring>

#include "decode/escape.hpp"

namespace sonictrace {
namespace {

void append_character(std::string& out, std::uint32_t character, char quote) {
  if (character < 0x80) {
    const char c = static_cast<char>(character);
    return append_escaped(out, std::string_view(&c, 1), quote, Nul::Octal);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  const unsigned digits = character <= 0xffff ? 4 : 8;
  out += digits == 4 ? "\\u" : "\\U";
  for (unsigned at = digits; at-- > 0;)
    out += kDigits[character >> at * 4 & 0xf];
}

} // namespace

void append_wide_quoted(std::string& out, std::string_view text) {
  out += "L\"";
  std::uint32_t character;
  for (; text.size() >= sizeof character; text.remove_prefix(sizeof character)) {
    std::memcpy(&character, text.data(), sizeof character);
    append_character(out, character, '"');
  }
  out += '"';
}

void append_wide_quoted_char(std::string& out, std::uint32_t character) {
  out += "L'";
  if (character == 0)
    out += "\\0";
  else
    append_character(out, character, '\'');
  out += '\'';
}

} // namespace sonictrace
