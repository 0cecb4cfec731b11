#include "sonictrace/decode/quote.hpp"

#include <array>
#include <cstdint>
#include <cstring>

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

char* put_octal(char* at, unsigned char byte) {
  const char digits[] = {'\\', static_cast<char>('0' + (byte >> 6)),
                         static_cast<char>('0' + (byte >> 3 & 7)),
                         static_cast<char>('0' + (byte & 7))};
  std::memcpy(at, digits, sizeof digits);
  return at + sizeof digits;
}

void append_octal(std::string& out, unsigned char byte) {
  char digits[4];
  out.append(digits, put_octal(digits, byte));
}

constexpr std::uint64_t in_each_byte(char c) {
  return std::uint64_t{0x0101010101010101} * static_cast<unsigned char>(c);
}

/// Do eight bytes all stand for themselves? Eight at a time: a text is plain most often.
bool are_plain(std::uint64_t bytes, std::uint64_t quotes) {
  constexpr std::uint64_t kHigh = in_each_byte('\x80');
  // The high bit of a byte that is less than another one's, as long as none has its own high bit
  // set; borrows go wrong only behind a byte that was found already.
  const auto zeros = [](std::uint64_t x) { return (x - in_each_byte(1)) & ~x; };
  const std::uint64_t bad = bytes |                                   // from 0x80 on
                            ((bytes - in_each_byte(0x20)) & ~bytes) | // below the blank
                            (bytes + in_each_byte(1)) |               // 0x7f
                            zeros(bytes ^ in_each_byte('\\')) | zeros(bytes ^ quotes);
  return (bad & kHigh) == 0;
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

char* put_escaped(char* at, std::string_view text, char quote) {
  const std::uint64_t quotes = in_each_byte(quote);
  std::uint64_t bytes;
  std::size_t done = 0;
  for (; text.size() - done >= sizeof bytes; done += sizeof bytes, at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + done, sizeof bytes);
    if (!are_plain(bytes, quotes)) break;
    std::memcpy(at, &bytes, sizeof bytes);
  }
  for (; done < text.size(); ++done) {
    const char c = text[done];
    const char escape = c == quote ? quote : kEscapes[static_cast<unsigned char>(c)];
    if (escape == kPlain) {
      *at++ = c;
    } else if (escape == kOctal) {
      at = put_octal(at, static_cast<unsigned char>(c));
    } else {
      *at++ = '\\';
      *at++ = escape;
    }
  }
  return at;
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
