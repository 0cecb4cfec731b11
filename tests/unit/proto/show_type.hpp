#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/proto/type.hpp"

namespace sonictrace::proto {

inline std::string show(Length::Source source, std::uint32_t number) {
  switch (source) {
    case Length::Source::Unlimited: break;
    case Length::Source::Constant: return std::to_string(number);
    case Length::Source::Argument: return "arg" + std::to_string(number);
    case Length::Source::Result: return "retval";
    case Length::Source::Element: return "elt" + std::to_string(number);
  }
  return "-";
}

/// A length, as tests write it.
inline std::string show(const Length& length) {
  std::string text = show(length.source, length.number);
  if (length.combine != Length::Combine::Alone) {
    text += length.combine == Length::Combine::Least ? "|" : "*";
    text += show(length.second_source, length.second_number);
  }
  return text + (length.until_zero ? "/0" : "");
}

/// A type, as tests write it: `LENS:KIND`, what it points to behind `>`. Structs in themselves end
/// as `^`.
inline std::string show(const Type& type, int levels = 8) {
  static constexpr const char* kLenses[] = {
      "",        "guess:",    "hex:",        "oct:",   "bool:", "bits:",
      "enum:",   "flags:",    "text:",       "text?:", "path:", "bytes:",
      "format:", "vaformat:", "scanformat:", "addr:",  "hide:"};
  std::string text = kLenses[static_cast<std::size_t>(type.lens)];
  if (levels == 0) return text + "^";
  const std::string size = type.size == 0 ? "word" : std::to_string(type.size);
  switch (type.kind) {
    case TypeKind::Void: text += "void"; break;
    case TypeKind::Signed: text += "i" + size; break;
    case TypeKind::Unsigned: text += "u" + size; break;
    case TypeKind::Character: text += "c"; break;
    case TypeKind::WideCharacter: text += "w" + size; break;
    case TypeKind::Float: text += "f" + size; break;
    case TypeKind::Pointer: text += ">" + show(*type.target, levels - 1); break;
    case TypeKind::Array:
      text += "[" + show(*type.target, levels - 1) + " " + show(type.length) + "]";
      break;
    case TypeKind::Struct:
      text += "{";
      for (const Type* field : type.fields)
        text += (text.back() == '{' ? "" : " ") + show(*field, levels - 1);
      text += "}";
      break;
    case TypeKind::Sequence:
      text += "<" + std::to_string(static_cast<int>(type.layout)) + " " +
              show(*type.target, levels - 1) + ">";
      break;
    case TypeKind::Opaque: text += "o" + std::to_string(type.size); break;
  }
  if (type.names != nullptr) {
    text += "(";
    for (const auto& [name, value] : *type.names)
      text += (text.back() == '(' ? "" : " ") + name + "=" + std::to_string(value);
    text += ")";
  }
  return text;
}

} // namespace sonictrace::proto
