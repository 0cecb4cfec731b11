#include "decode/utf8.hpp"

#include "sonictrace/base/utf8.hpp"

namespace sonictrace {
namespace {

/// What the first byte of a character promises (RFC 3629, 4).
struct Lead {
  unsigned size;                 ///< bytes of the character; 0: there is none that begins so
  unsigned char lowest, highest; ///< of its second byte
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

/// How many bytes of the character at the front are sound, of as many as it has.
unsigned sound_bytes(std::string_view text, unsigned& size) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  size = lead.size;
  if (size == 0) return 0;
  unsigned at = 1;
  for (; at < size && at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const unsigned lowest = at == 1 ? lead.lowest : 0x80u;
    const unsigned highest = at == 1 ? lead.highest : 0xbfu;
    if (byte < lowest || byte > highest) break;
  }
  return at;
}

} // namespace

std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    unsigned size = 0;
    if (sound_bytes(text.substr(at), size) != size || size == 0) break;
    at += size;
  }
  return at;
}

bool is_utf8_beginning(std::string_view text) {
  if (text.empty()) return true;
  unsigned size = 0;
  return sound_bytes(text, size) == text.size() && text.size() < size;
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
