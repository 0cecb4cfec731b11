#include "decode/text_values.hpp"

#include <limits>

#include "decode/numbers.hpp"
#include "decode/wide_quote.hpp"
#include "sonictrace/decode/digits.hpp"

namespace sonictrace {

using proto::Look;

void cut_to_style(CapturedText& text, const ValueStyle& style) {
  const std::size_t unit = text.look == Look::WideText ? 4 : 1;
  // ltrace knows no file names and no bytes: both are strings, and end at a NUL.
  if (style.ltrace && text.look == Look::Bytes) {
    const std::size_t nul = text.bytes.find('\0');
    if (nul != std::string_view::npos) {
      text.bytes = text.bytes.substr(0, nul);
      text.more = false;
    }
  }
  const bool whole = text.look == Look::Path && style.whole_paths && !style.ltrace;
  const std::size_t limit =
      whole ? std::numeric_limits<std::size_t>::max() : std::size_t{style.string_limit} * unit;
  if (text.bytes.size() > limit) {
    text.bytes = text.bytes.substr(0, limit);
    text.more = true;
  }
  // ltrace does not look whether the string ends at the limit.
  if (style.ltrace && text.bytes.size() == limit) text.more = true;
}

void TextValues::pointer(std::uint64_t address, bool null_is_zero) {
  if (address != 0)
    append_hex(out_, address);
  else
    out_ += style_.ltrace && null_is_zero ? "0" : "nil";
}

void TextValues::text(const CapturedText& captured) {
  CapturedText text = captured;
  cut_to_style(text, style_);
  if (text.look == Look::WideText)
    append_wide_quoted(out_, text.bytes);
  else
    append_quoted(out_, text.bytes, quoting());
  if (text.more) out_ += "...";
}

void TextValues::scalar(const proto::RenderStep& look, std::span<const std::byte> bytes) {
  const std::size_t size = bytes.size();
  const FloatForm decimal = style_.ltrace ? FloatForm::Fixed : FloatForm::Shortest;
  switch (look.look) {
    case Look::Float: return append_float(out_, bytes.data(), size, look.size, decimal);
    case Look::HexFloat: return append_float(out_, bytes.data(), size, look.size, FloatForm::Hex);
    case Look::FormatHexFloat: // ltrace shows whatever a format calls a float as %f
      return append_float(out_, bytes.data(), size, look.size,
                          style_.ltrace ? FloatForm::Fixed : FloatForm::Hex);
    case Look::Matrix: return append_matrix(out_, bytes.first(look.size));
    case Look::BitVector: return append_bits(out_, bytes.first(look.size));
    default: return number(look, number_in(bytes.data(), look.size), look.size);
  }
}

void TextValues::number(const proto::RenderStep& look, std::uint64_t value, std::size_t size) {
  switch (look.look) {
    case Look::FormatSigned: // %hhd is a character to ltrace
      if (style_.ltrace && size == 1)
        return append_quoted_char(out_, static_cast<char>(value), quoting());
      return append_decimal(out_, with_sign(value, size));
    case Look::FormatUnsigned:
      if (style_.ltrace && size == 1)
        return append_quoted_char(out_, static_cast<char>(value), quoting());
      return append_decimal(out_, value);
    case Look::Signed: return append_decimal(out_, with_sign(value, size));
    case Look::Unsigned: return append_decimal(out_, value);
    case Look::Guess: return append_guess(out_, static_cast<std::uint64_t>(with_sign(value, size)));
    case Look::Hex: return append_hex_number(out_, value);
    case Look::Octal: return append_octal_number(out_, value);
    case Look::Binary: return append_binary_number(out_, value);
    case Look::Bool: out_ += value != 0 ? "true" : "false"; return;
    case Look::Enumeration:
      if (look.names != nullptr && append_name(out_, *look.names, value, size)) return;
      return append_decimal(out_, with_sign(value, size));
    case Look::Flags:
      if (look.names != nullptr) return append_flags(out_, *look.names, value, size);
      return append_hex_number(out_, value);
    case Look::Character: return append_quoted_char(out_, static_cast<char>(value), quoting());
    case Look::WideCharacter:
      return append_wide_quoted_char(out_, static_cast<std::uint32_t>(value));
    default: return missing();
  }
}

} // namespace sonictrace
