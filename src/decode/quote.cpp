#include "sonictrace/decode/quote.hpp"

#include <array>

#include "decode/escape.hpp"

namespace sonictrace {
namespace {

constexpr char kPlain = 0;
constexpr char kOctal = 1;

/// For each byte: kPlain, kOctal, or the letter behind its backslash.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  for (std::size_t byte = 0; byte < escapes.size(); ++byte)
    escapes[byte] = byte < 0x20 || byte >= 0x7f ? kOctal : kPlain;
  escapes['\a'] = 'a';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\v'] = 'v';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['\\'] = '\\';
  return escapes;
}
constexpr std::array<char, 256> kEscapes = make_escapes();

void append_octal(std::string& out, unsigned char byte) {
  const char digits[] = {'\\', static_cast<char>('0' + (byte >> 6)),
                         static_cast<char>('0' + (byte >> 3 & 7)),
                         static_cast<char>('0' + (byte & 7))};
  out.append(digits, sizeof digits);
}

} // namespace

void append_escaped(std::string& out, std::string_view text, char quote, Nul nul) {
  std::size_t plain = 0; // where the run of bytes that stand for themselves begins
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    char escape = kEscapes[byte];
    if (quote != 0 && text[at] == quote) escape = quote;
    if (escape == kPlain) continue;
    out.append(text, plain, at - plain);
    plain = at + 1;
    if (byte == 0 && nul == Nul::Short) {
      out += "\\0";
    } else if (escape == kOctal) {
      append_octal(out, byte);
    } else {
      out += '\\';
      out += escape;
    }
  }
  out.append(text, plain, text.size() - plain);
}

void append_quoted(std::string& out, std::string_view text, Quoting quoting) {
  out += '"';
  if (quoting == Quoting::Readable)
    append_escaped(out, text, '"', Nul::Octal);
  else
    append_escaped(out, text, '\0', Nul::Short);
  out += '"';
}

void append_quoted_char(std::string& out, char c, Quoting quoting) {
  out += '\'';
  append_escaped(out, std::string_view(&c, 1), quoting == Quoting::Readable ? '\'' : '\0',
                 Nul::Short);
  out += '\'';
}

void append_sanitized(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      append_octal(out, byte);
    } else {
      out += c;
    }
  }
}

} // namespace sonictrace
