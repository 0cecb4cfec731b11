#include "decode/utf8.hpp"

#include "sonictrace/base/utf8.hpp"

namespace sonictrace {
std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool is_utf8_beginning(std::string_view text) {
  if (text.empty()) return true;
  const Utf8Front front = utf8_front(text);
  return front.sound == text.size() && text.size() < front.size;
}

bool is_printable(std::string_view text, bool is_cut) {
  constexpr unsigned char kDelete = 0x7f;
  constexpr std::string_view kCursor = "\t\n\v\f\r\b\033";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == kDelete || (byte < ' ' && kCursor.find(character) == std::string_view::npos))
      return false;
  }
  const std::string_view rest = text.substr(utf8_prefix(text));
  return rest.empty() || (is_cut && is_utf8_beginning(rest));
}

void append_utf8(std::string& out, std::uint32_t character) {
  encode_utf8(out, is_scalar_value(character) ? character : kReplacement);
}

} // namespace sonictrace
