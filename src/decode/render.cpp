#include "sonictrace/decode/render.hpp"

#include <cstdint>
#include <limits>

#include "decode/field_reader.hpp"
#include "sonictrace/decode/digits.hpp"

namespace sonictrace {
namespace {

using proto::Lens;
using proto::Parameter;
using wire::FieldState;

/// The low `width` bytes of a word.
std::uint64_t low_bytes(std::uint64_t word, std::uint8_t width) {
  return width >= sizeof word ? word : word & ((std::uint64_t{1} << width * 8) - 1);
}

void append_octal_number(std::string& out, std::uint64_t value) {
  out += '0'; // in front of a zero too: `00`
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 8);
  out.append(digits, end);
}

void append_guess(std::string& out, std::uint64_t word) {
  constexpr std::int64_t kSmall = 10000;
  const auto value = static_cast<std::int64_t>(word);
  if (value >= -kSmall && value <= kSmall) {
    append_decimal(out, value);
  } else {
    append_hex(out, word);
  }
}

void append_text(std::string& out, const Parameter& parameter, const CapturedField& field,
                 const ValueStyle& style) {
  if (field.word == 0) {
    out += "nil";
    return;
  }
  if (field.state == FieldState::Unreadable) {
    append_hex(out, field.word);
    return;
  }
  std::string_view text = field.text;
  bool more = field.state != FieldState::Whole;
  // ltrace knows no file names and no bytes: both are strings, and end at a NUL.
  if (style.ltrace && parameter.lens == Lens::Bytes) {
    const std::size_t nul = text.find('\0');
    if (nul != std::string_view::npos) {
      text = text.substr(0, nul);
      more = false;
    }
  }
  const bool whole = parameter.lens == Lens::Path && style.whole_paths && !style.ltrace;
  const std::size_t limit = whole ? std::numeric_limits<std::size_t>::max() : style.string_limit;
  if (text.size() > limit) {
    text = text.substr(0, limit);
    more = true;
  }
  // ltrace does not look whether the string ends at the limit.
  if (style.ltrace && text.size() == limit) more = true;

  append_quoted(out, text, style.ltrace ? Quoting::Ltrace : Quoting::Readable);
  if (more) out += "...";
}

void append_value(std::string& out, const Parameter& parameter, const CapturedField& field,
                  const ValueStyle& style) {
  const std::uint64_t word = field.word;
  switch (parameter.lens) {
    case Lens::Void: out += "<void>"; break;
    case Lens::Hide: break;
    case Lens::Guess: append_guess(out, word); break;
    case Lens::Char:
      append_quoted_char(out, static_cast<char>(word),
                         style.ltrace ? Quoting::Ltrace : Quoting::Readable);
      break;
    case Lens::Short: append_decimal(out, static_cast<std::int16_t>(word)); break;
    case Lens::UShort: append_decimal(out, static_cast<std::uint16_t>(word)); break;
    case Lens::Int: append_decimal(out, static_cast<std::int32_t>(word)); break;
    case Lens::UInt: append_decimal(out, static_cast<std::uint32_t>(word)); break;
    case Lens::Long: append_decimal(out, static_cast<std::int64_t>(word)); break;
    case Lens::ULong: append_decimal(out, word); break;
    case Lens::Bool: out += low_bytes(word, parameter.width) != 0 ? "true" : "false"; break;
    case Lens::Hex:
      if (const auto value = low_bytes(word, parameter.width)) {
        append_hex(out, value);
      } else {
        out += '0';
      }
      break;
    case Lens::Octal: append_octal_number(out, low_bytes(word, parameter.width)); break;
    case Lens::Pointer:
    case Lens::Address:
      if (word != 0) {
        append_hex(out, word);
      } else {
        out += style.ltrace && parameter.lens == Lens::Address ? "0" : "nil";
      }
      break;
    case Lens::String:
    case Lens::Path:
    case Lens::Bytes: append_text(out, parameter, field, style); break;
  }
}

} // namespace

void append_arguments(std::string& out, const proto::Prototype& prototype,
                      std::span<const std::byte> captured, const ValueStyle& style) {
  FieldReader fields(captured);
  bool first = true;
  for (const Parameter& parameter : prototype.parameters) {
    if (parameter.lens == Lens::Hide || parameter.lens == Lens::Void) continue;
    if (!first) out += ", ";
    first = false;
    if (const auto field = fields.next()) {
      append_value(out, parameter, *field, style);
    } else {
      out += '?';
    }
  }
}

void append_result(std::string& out, const proto::Prototype& prototype,
                   std::span<const std::byte> captured, const ValueStyle& style) {
  const Parameter& result = prototype.result;
  if (result.lens == Lens::Void || result.lens == Lens::Hide) {
    append_value(out, result, {}, style);
  } else if (const auto field = FieldReader(captured).next()) {
    append_value(out, result, *field, style);
  } else {
    out += '?';
  }
}

} // namespace sonictrace
