#include "decode/json_values.hpp"

#include <array>

#include "decode/numbers.hpp"
#include "decode/text_values.hpp"
#include "decode/utf8.hpp"
#include "sonictrace/base/json_string.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/decode/json.hpp"

namespace sonictrace {
namespace {

using proto::Look;

constexpr char kHexDigits[] = "0123456789abcdef";

void append_hex_bytes(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 0xf];
  }
}

void append_wide(std::string& out, std::string_view wide) {
  std::uint32_t character;
  for (; wide.size() >= sizeof character; wide.remove_prefix(sizeof character)) {
    std::memcpy(&character, wide.data(), sizeof character);
    append_utf8(out, character);
  }
}

} // namespace

template <class Append>
void JsonValues::quoted(Append append) {
  out_ += '"';
  append();
  out_ += '"';
}

void JsonValues::recursion(unsigned levels) {
  out_ += R"({"recurse":)";
  append_decimal(out_, levels);
  out_ += '}';
}

void JsonValues::pointer(std::uint64_t address, bool) {
  if (address == 0)
    out_ += "null";
  else
    quoted([&] { append_hex(out_, address); });
}

void JsonValues::begin_array() { out_ += '['; }

void JsonValues::end_array(bool more) {
  if (more) out_ += out_.back() == '[' ? R"({"cut":true})" : R"(,{"cut":true})";
  out_ += ']';
}

void JsonValues::text(const CapturedText& captured) {
  CapturedText text = captured;
  cut_to_style(text, style_);
  std::string wide;
  if (text.look == Look::WideText) {
    append_wide(wide, text.bytes);
    text.bytes = wide;
  }
  sound_text(text.bytes, text.more);
}

void JsonValues::whole_text(std::string_view bytes) { sound_text(bytes, false); }

void JsonValues::sound_text(std::string_view bytes, bool more) {
  std::size_t sound = utf8_prefix(bytes);
  // A cut may have gone through a character: what is left of it is left out.
  if (more && is_utf8_beginning(bytes.substr(sound))) bytes = bytes.substr(0, sound);
  const bool is_utf8 = sound == bytes.size();
  if (is_utf8 && !more) return quoted([&] { append_json_escaped(out_, bytes); });
  out_ += is_utf8 ? R"({"text":")" : R"({"bytes":")";
  if (is_utf8)
    append_json_escaped(out_, bytes);
  else
    append_hex_bytes(out_, bytes);
  out_ += more ? R"(","cut":true})" : R"("})";
}

void JsonValues::scalar(const proto::RenderStep& look, std::span<const std::byte> bytes) {
  switch (look.look) {
    case Look::Float:
    case Look::HexFloat:
    case Look::FormatHexFloat: {
      const auto append = [&] {
        append_float(out_, bytes.data(), bytes.size(), look.size, FloatForm::Shortest);
      };
      if (is_finite_float(bytes.data(), bytes.size(), look.size))
        append();
      else
        quoted(append); // there is no number for it in JSON, or not with its readers
      return;
    }
    case Look::Matrix: return quoted([&] { append_matrix(out_, bytes.first(look.size)); });
    case Look::BitVector: return quoted([&] { append_bits(out_, bytes.first(look.size)); });
    default: return number(look, number_in(bytes.data(), look.size), look.size);
  }
}

void JsonValues::number(const proto::RenderStep& look, std::uint64_t value, std::size_t size) {
  switch (look.look) {
    case Look::Signed:
    case Look::FormatSigned: return append_decimal(out_, with_sign(value, size));
    case Look::Unsigned:
    case Look::FormatUnsigned:
    case Look::Hex:
    case Look::Octal:
    case Look::Binary: return append_decimal(out_, value);
    case Look::Guess: {
      const auto guess = static_cast<std::uint64_t>(with_sign(value, size));
      if (is_guessed_number(guess)) return append_decimal(out_, with_sign(value, size));
      return quoted([&] { append_hex(out_, guess); });
    }
    case Look::Bool: out_ += value != 0 ? "true" : "false"; return;
    case Look::Enumeration: {
      std::string name;
      if (look.names != nullptr && append_name(name, *look.names, value, size))
        return json_string(out_, name);
      return append_decimal(out_, with_sign(value, size));
    }
    case Look::Flags: {
      std::string names;
      if (look.names != nullptr)
        append_flags(names, *look.names, value, size);
      else
        append_hex_number(names, value);
      return json_string(out_, names);
    }
    case Look::Character: {
      const char c = static_cast<char>(value);
      return whole_text(std::string_view(&c, 1));
    }
    case Look::WideCharacter: {
      std::string utf8;
      append_utf8(utf8, static_cast<std::uint32_t>(value));
      return quoted([&] { append_json_escaped(out_, utf8); });
    }
    default: return missing();
  }
}

} // namespace sonictrace
