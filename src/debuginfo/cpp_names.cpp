#include "debuginfo/cpp_names.hpp"

#include <algorithm>
#include <string>

namespace sonictrace::debuginfo {
namespace {

using names::CppType;

constexpr int kDeepest = 8;
constexpr std::size_t kMostArguments = 64;

/// As C++ spells it. Compilers have their own ways: `long unsigned int`.
std::string_view spelling(Dwarf_Die base) {
  const std::string_view name = name_of(base);
  const auto size = number(base, DW_AT_byte_size).value_or(0);
  const bool is_long_long = name.find("long long") != std::string_view::npos;
  switch (number(base, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean: return size == 1 ? "bool" : "";
    case DW_ATE_signed_char: return name == "char" ? "char" : "signed char";
    case DW_ATE_unsigned_char: return name == "char" ? "char" : "unsigned char";
    case DW_ATE_UTF: return size == 1 ? "char8_t" : size == 2 ? "char16_t" : "char32_t";
    case DW_ATE_float:
      return size == 4 ? "float" : size == 8 ? "double" : name == "long double" ? name : "";
    case DW_ATE_signed:
      if (name == "wchar_t") return name;
      return size == 2   ? "short"
             : size == 4 ? "int"
             : size == 8 ? (is_long_long ? "long long" : "long")
                         : "";
    case DW_ATE_unsigned:
      return size == 2   ? "unsigned short"
             : size == 4 ? "unsigned int"
             : size == 8 ? (is_long_long ? "unsigned long long" : "unsigned long")
                         : "";
    default: return "";
  }
}

CppType of_kind(CppType::Kind kind, std::string name = {}) {
  CppType type;
  type.kind = kind;
  type.name = std::move(name);
  return type;
}

/// Of a class that is only declared, some compilers write down no arguments: those of strings are
/// in the name.
bool append_spelled(std::string_view name, CppType& type) {
  std::string plain(name);
  std::erase(plain, ' ');
  for (const char* const character : {"char", "wchar_t"}) {
    const std::string of = "<" + std::string(character) + ">";
    if (plain != "basic_string<" + std::string(character) + ",std::char_traits" + of +
                     ",std::allocator" + of + ">")
      continue;
    const CppType inner = of_kind(CppType::Kind::Builtin, character);
    CppType traits = of_kind(CppType::Kind::Named, "std::char_traits");
    CppType allocator = of_kind(CppType::Kind::Named, "std::allocator");
    traits.inner = allocator.inner = {inner};
    type.inner = {inner, traits, allocator};
    return true;
  }
  return false;
}

} // namespace

CppType CppNames::type(const Peeled& type, int depth) {
  if (!type.is_sound || depth > kDeepest) return {};
  CppType named_type;
  using Kind = CppType::Kind;
  if (type.is_void()) {
    named_type = of_kind(Kind::Builtin, "void");
  } else {
    switch (type.tag()) {
      case DW_TAG_base_type:
        named_type = of_kind(Kind::Builtin, std::string(spelling(*type.die)));
        if (named_type.name.empty()) return {};
        break;
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type:
      case DW_TAG_rvalue_reference_type:
        named_type = of_kind(type.tag() == DW_TAG_pointer_type     ? Kind::Pointer
                             : type.tag() == DW_TAG_reference_type ? Kind::LvalueReference
                                                                   : Kind::RvalueReference);
        named_type.inner.push_back(this->type(type_behind(*type.die), depth + 1));
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type: named_type = named(*type.die, depth); break;
      case DW_TAG_subroutine_type: named_type = of_kind(Kind::Function); break;
      default: return {};
    }
  }
  named_type.is_const = type.is_const;
  return named_type;
}

CppType CppNames::named(Dwarf_Die die, int depth) {
  const auto scope = units_.scan_of(die).scope_of(offset_of(die));
  const std::string_view whole = name_of(die);
  if (!scope || whole.empty()) return {};
  const std::string_view name = whole.substr(0, whole.find('<'));
  CppType type =
      of_kind(CppType::Kind::Named, *scope + (scope->empty() ? "" : "::") + std::string(name));
  type.origin.known_by = die.addr;
  origins_.try_emplace(die.addr, die);
  append_arguments(die, type, depth);
  const bool is_template = name.size() < whole.size();
  if (is_template && type.inner.empty() && !append_spelled(whole, type)) return {};
  return type;
}

std::optional<Dwarf_Die> CppNames::origin_of(const CppType& type) const {
  const auto found = origins_.find(type.origin.known_by);
  return found == origins_.end() ? std::nullopt : std::optional(found->second);
}

/// GCC writes down no arguments of an explicit instantiation, such as std::allocator<char>: where
/// it is one for the first argument of `of`, which the spelling says, that is its argument too.
CppType CppNames::of_the_same(const Peeled& type, Dwarf_Die of, const CppType& named) {
  if (!is_class(type.tag()) || named.inner.empty()) return {};
  const auto scope = units_.scan_of(*type.die).scope_of(offset_of(*type.die));
  const std::string_view whole = name_of(*type.die), outer = name_of(of);
  const std::size_t open = whole.find('<'), outer_open = outer.find('<');
  if (!scope || open == std::string_view::npos || outer_open == std::string_view::npos) return {};
  std::string_view argument = whole.substr(open + 1);
  if (!argument.ends_with('>')) return {};
  argument.remove_suffix(1);
  if (argument.ends_with(' ')) argument.remove_suffix(1); // `> >`
  if (!outer.substr(outer_open + 1).starts_with(std::string(argument) + ",")) return {};
  CppType same = of_kind(CppType::Kind::Named, *scope + (scope->empty() ? "" : "::") +
                                                   std::string(whole.substr(0, open)));
  same.inner = {named.inner[0]};
  return same;
}

void CppNames::append_arguments(Dwarf_Die die, CppType& type, int depth) {
  for_each_child(die, [&](Dwarf_Die child) {
    if (type.inner.size() >= kMostArguments) return false;
    const int tag = tag_of(child);
    if (tag == DW_TAG_template_type_parameter) {
      const Peeled of = type_behind(child);
      names::CppType argument = this->type(of, depth + 1);
      if (argument.kind == CppType::Kind::Unknown) argument = of_the_same(of, die, type);
      type.inner.push_back(std::move(argument));
    } else if (tag == DW_TAG_template_value_parameter) {
      const auto value = signed_number(child, DW_AT_const_value);
      const bool is_unsigned = [&] {
        const Peeled of = type_behind(child);
        return of.tag() == DW_TAG_base_type && number(*of.die, DW_AT_encoding) == DW_ATE_unsigned;
      }();
      type.inner.push_back(of_kind(
          CppType::Kind::Value, !value        ? ""
                                : is_unsigned ? std::to_string(static_cast<std::uint64_t>(*value))
                                              : std::to_string(*value)));
    } else if (tag == DW_TAG_GNU_template_parameter_pack && depth < kDeepest) {
      append_arguments(child, type, depth + 1);
    }
    return true;
  });
}

} // namespace sonictrace::debuginfo
