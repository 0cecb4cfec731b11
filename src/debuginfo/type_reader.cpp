#include "debuginfo/type_reader.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "debuginfo/enumerators.hpp"
#include "debuginfo/passing.hpp"
#include "sonictrace/proto/placement.hpp"

namespace sonictrace::debuginfo {
namespace {

using proto::CppValue;
using proto::Lens;
using proto::Type;
using proto::TypeKind;
using Passed = CppValue::Passed;

constexpr int kDeepest = 6;                   ///< structs in structs
constexpr std::uint64_t kLargest = 1'000'000; ///< bytes of a struct
/// What is behind a pointer is shown as long as it is small: it is copied at each call.
constexpr std::uint64_t kLargestFollowed = 256;
constexpr std::size_t kMostFollowed = 12; ///< fields
constexpr std::uint64_t kMostWords = 255;
constexpr std::uint8_t kWord = 8;

proto::Layout layout_of(const Type& type) { return proto::layout_of(type, kWord); }

CppValue plainly(const Type* type) {
  return {type, type == nullptr ? Passed::Unknown : Passed::Plainly};
}

/// Is all that it holds known?
bool is_whole(const Type& type) {
  switch (type.kind) {
    case TypeKind::Sequence: return type.target->kind != TypeKind::Void && is_whole(*type.target);
    case TypeKind::Array: return is_whole(*type.target);
    case TypeKind::Struct:
      return std::all_of(type.fields.begin(), type.fields.end(),
                         [](const Type* field) { return is_whole(*field); });
    default: return true;
  }
}

} // namespace

const Type* TypeReader::plain(TypeKind kind, std::uint64_t size, Lens lens) {
  Type type;
  type.kind = kind;
  type.size = static_cast<std::uint8_t>(size);
  type.lens = lens;
  return arena_.make(std::move(type));
}

const Type* TypeReader::hidden_word() { return plain(TypeKind::Unsigned, kWord, Lens::Hide); }

const Type* TypeReader::hidden_bytes(std::uint64_t count) {
  Type type;
  type.kind = TypeKind::Array;
  type.lens = Lens::Hide;
  type.target = plain(TypeKind::Unsigned, 1);
  type.length = {proto::Length::Source::Constant, static_cast<std::uint32_t>(count)};
  return arena_.make(std::move(type));
}

const Type* TypeReader::text(Lens lens, TypeKind kind, std::uint8_t size) {
  Type type;
  type.kind = TypeKind::Pointer;
  type.lens = lens;
  type.target = plain(kind, size);
  return arena_.make(std::move(type));
}

CppValue TypeReader::value(const Peeled& type, const names::CppType* named, int depth) {
  if (!type.is_sound || depth > kDeepest) return {};
  if (type.is_void()) return {arena_.void_type(), Passed::Plainly};
  switch (type.tag()) {
    case DW_TAG_base_type: return scalar(*type.die, type.is_wide);
    case DW_TAG_enumeration_type: return plainly(enumeration(*type.die));
    case DW_TAG_pointer_type: return plainly(pointer(*type.die, depth));
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: return plainly(reference(*type.die, named, depth));
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: return class_value(type, named, depth);
    case DW_TAG_array_type: return plainly(array(*type.die, depth));
    case DW_TAG_ptr_to_member_type: {
      const Peeled target = type_behind(*type.die);
      if (!target.is_sound) return {};
      return plainly(target.tag() == DW_TAG_subroutine_type ? known_.opaque(2)
                                                            : plain(TypeKind::Signed, kWord));
    }
    case DW_TAG_unspecified_type:
      return plainly(name_of(*type.die).starts_with("decltype(nullptr)") ? arena_.address()
                                                                         : nullptr);
    default: return {};
  }
}

CppValue TypeReader::scalar(Dwarf_Die base, bool is_wide) {
  const std::uint64_t size = number(base, DW_AT_byte_size).value_or(0);
  const bool is_usual = size == 1 || size == 2 || size == 4 || size == 8;
  const std::string_view name = name_of(base);
  if (size == 4 && (is_wide || name == "wchar_t"))
    return plainly(plain(TypeKind::WideCharacter, size));
  switch (number(base, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean:
      if (!is_usual) return {};
      return plainly(plain(TypeKind::Unsigned, size, size == 1 ? Lens::Bool : Lens::Plain));
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char: {
      if (size != 1) return {};
      if (name == "char") return plainly(plain(TypeKind::Character, size));
      const bool is_signed = number(base, DW_AT_encoding) == DW_ATE_signed_char;
      return plainly(plain(is_signed ? TypeKind::Signed : TypeKind::Unsigned, size));
    }
    case DW_ATE_signed: return is_usual ? plainly(plain(TypeKind::Signed, size)) : CppValue();
    case DW_ATE_unsigned: return is_usual ? plainly(plain(TypeKind::Unsigned, size)) : CppValue();
    case DW_ATE_UTF:
      if (size == 4) return plainly(plain(TypeKind::WideCharacter, size));
      return is_usual ? plainly(plain(TypeKind::Unsigned, size)) : CppValue();
    case DW_ATE_float: {
      const bool is_extended = size == 16 && name == "long double"; // not __float128
      return size == 4 || size == 8 || is_extended ? plainly(plain(TypeKind::Float, size))
                                                   : CppValue();
    }
    case DW_ATE_complex_float: {
      if (size != 8 && size != 16) return {};
      Type type;
      type.kind = TypeKind::Struct;
      type.fields = {plain(TypeKind::Float, size / 2), plain(TypeKind::Float, size / 2)};
      return plainly(arena_.make(std::move(type)));
    }
    default: return {};
  }
}

const Type* TypeReader::enumeration(Dwarf_Die die) {
  const auto [known, is_new] = enumerations_.try_emplace(die.addr);
  if (!is_new) return known->second;
  std::uint64_t size = number(die, DW_AT_byte_size).value_or(0);
  const Peeled underlying = type_behind(die);
  if (size == 0 && underlying.die) size = size_of(underlying).value_or(0);
  if (size != 1 && size != 2 && size != 4 && size != 8) return nullptr;
  auto table = read_enumerators(die);
  bool is_signed =
      std::any_of(table.begin(), table.end(), [](const auto& row) { return row.second < 0; });
  if (underlying.tag() == DW_TAG_base_type) {
    const auto encoding = number(*underlying.die, DW_AT_encoding);
    is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  }
  const Lens lens = table.empty()      ? Lens::Plain
                    : are_flags(table) ? Lens::Flags
                                       : Lens::Enumeration;
  Type type = *plain(is_signed ? TypeKind::Signed : TypeKind::Unsigned, size, lens);
  if (!table.empty()) type.names = std::make_shared<const proto::NameTable>(std::move(table));
  return known->second = arena_.make(std::move(type));
}

const Type* TypeReader::pointer(Dwarf_Die die, int depth) {
  const Peeled target = type_behind(die);
  if (is_plain_char(target)) {
    // What is behind one that is not const may be about to be filled.
    const Lens lens = target.is_const ? Lens::Text : Lens::TextOrAddress;
    return text(lens, TypeKind::Character, 1);
  }
  if (is_wide_char(target) && target.is_const) return text(Lens::Text, TypeKind::WideCharacter, 4);
  if (depth == 0 && target.is_const && is_class(target.tag())) {
    const auto size = size_of(target);
    const Type* const type =
        size && *size <= kLargestFollowed ? structure(*target.die, depth + 1) : nullptr;
    const bool is_shown =
        type != nullptr && !type->fields.empty() && type->fields.size() <= kMostFollowed;
    if (is_shown) {
      Type made;
      made.kind = TypeKind::Pointer;
      made.target = type;
      return arena_.make(std::move(made));
    }
  }
  return arena_.address();
}

const Type* TypeReader::reference(Dwarf_Die die, const names::CppType* named, int depth) {
  const Peeled target = type_behind(die);
  const names::CppType* inner =
      named != nullptr && named->is_reference() && named->inner.size() == 1 ? &named->inner[0]
                                                                            : nullptr;
  if (is_class(target.tag())) {
    if (const auto known = known_class(target, inner)) return reference_to(known->type);
    const auto size = size_of(target);
    // Of a plain one that is not const, the fields may be about to be filled.
    const bool is_shown = target.is_const && size && *size <= kLargestFollowed;
    const Type* const type = is_shown ? structure(*target.die, depth + 1) : nullptr;
    return reference_to(type != nullptr && type->fields.size() <= kMostFollowed ? type : nullptr);
  }
  const bool is_for_output = !target.is_const && tag_of(die) == DW_TAG_reference_type;
  if (is_for_output || target.is_void() || target.tag() == DW_TAG_array_type)
    return reference_to(nullptr);
  return reference_to(value(target, nullptr, depth + 1).type);
}

/// Of a class whose layout is known by its name, if its size does not contradict.
std::optional<CppValue> TypeReader::known_class(const Peeled& type, const names::CppType* named) {
  if (!is_cpp_) return std::nullopt;
  using Kind = names::CppType::Kind;
  CppValue value;
  if (named != nullptr && named->kind == Kind::Named) value = known_.value(*named);
  // A mangled name does not know what an enumeration or a class is that stands in another.
  if (value.type == nullptr || !is_whole(*value.type)) {
    const CppValue own = known_.value(names_.type(type));
    if (value.type == nullptr || (own.type != nullptr && is_whole(*own.type))) value = own;
  }
  if (value.type == nullptr) return std::nullopt;
  const auto size = size_of(type);
  const bool is_head = value.type->kind == TypeKind::Struct && value.type->sign_mask != 0;
  const bool is_empty = value.type->kind == TypeKind::Opaque && value.type->size == 0;
  if (size && !is_head && !is_empty && layout_of(*value.type).size != *size) return std::nullopt;
  return value;
}

/// Of classes that are copied by constructors of their own some are known by their names.
bool TypeReader::is_by_reference_by_name(const Peeled& type, const names::CppType* named) {
  if (named != nullptr && known_.value(*named).passed == Passed::ByReference) return true;
  return known_.value(names_.type(type)).passed == Passed::ByReference;
}

/// Of a type that stands in one that is known by its name.
CppValue TypeReader::inner_value(const names::CppType& type) {
  auto die = names_.origin_of(type);
  if (!die && unit_ && type.inner.empty()) die = units_.type_named(type.name, *unit_);
  if (!die) return {};
  if (tag_of(*die) == DW_TAG_enumeration_type) return plainly(enumeration(*die));
  const auto by_value = is_passed_by_value(*die, is_cpp_);
  if (!by_value) return {};
  if (!*by_value) return {nullptr, Passed::ByReference};
  return plainly(structure(*die, 1));
}

CppValue TypeReader::class_value(const Peeled& type, const names::CppType* named, int depth) {
  const auto known = known_class(type, named);
  const auto by_value = is_passed_by_value(*type.die, is_cpp_);
  CppValue value = known ? *known : CppValue{structure(*type.die, depth), Passed::Unknown};
  if (by_value) value.passed = *by_value ? Passed::Plainly : Passed::ByReference;
  // Of a class that is only declared, as by clang where nothing needs its members, some are known.
  const bool is_unknown = value.passed == Passed::Unknown && is_cpp_;
  if (is_unknown && is_by_reference_by_name(type, named)) value.passed = Passed::ByReference;
  if (!known && by_value == false) value.type = nullptr; // what is in it is nobody's business
  return value;
}

const Type* TypeReader::structure(Dwarf_Die die, int depth) {
  if (depth > kDeepest) return nullptr;
  const auto [known, is_new] = structures_.try_emplace(die.addr, nullptr);
  if (!is_new) return known->second;
  const Type* const made = make_structure(die, depth);
  return structures_[die.addr] = made;
}

/// A struct of C, each of whose fields lies where our layout puts it; what can't be said is hidden.
const Type* TypeReader::make_structure(Dwarf_Die die, int depth) {
  const auto size = number(die, DW_AT_byte_size);
  if (tag_of(die) != DW_TAG_structure_type || flag(die, DW_AT_declaration) || !size ||
      *size > kLargest || has(die, DW_AT_alignment))
    return nullptr;
  Type made;
  made.kind = TypeKind::Struct;
  bool is_plain = true, has_shown = false;
  std::uint64_t end = 0;
  const auto fill_to = [&](std::uint64_t offset) {
    if (offset > end) made.fields.push_back(hidden_bytes(offset - end));
    end = std::max(end, offset);
  };
  for_each_child(die, [&](Dwarf_Die child) {
    const bool is_special = tag_of(child) == DW_TAG_inheritance || flag(child, DW_AT_artificial);
    const bool is_method = tag_of(child) == DW_TAG_subprogram;
    if (is_special && !is_method) is_plain = false;
    if (is_method && number(child, DW_AT_virtuality).value_or(0) != 0) is_plain = false;
    if (!is_plain) return false;
    if (!is_data_member(child) || has(child, DW_AT_bit_size)) return true;
    const auto offset = place_in_object(child);
    const Peeled of = type_behind(child);
    const auto bytes = size_of(of);
    if (!offset || *offset < end || *offset > *size) return is_plain = false;
    if (!bytes || *bytes == 0) return true; // a flexible array
    if (*bytes > *size - *offset) return is_plain = false;
    const Type* const type = value(of, nullptr, depth + 1).type;
    const proto::Layout layout = type == nullptr ? proto::Layout() : layout_of(*type);
    const bool fits = type != nullptr && layout.size == *bytes && *offset % layout.align == 0;
    if (!fits) return true; // hidden, as a gap
    const std::uint64_t natural = (end + layout.align - 1) / layout.align * layout.align;
    if (natural != *offset) fill_to(*offset);
    made.fields.push_back(type);
    end = *offset + *bytes;
    return has_shown = true;
  });
  if (!is_plain || (!has_shown && *size > 0)) return nullptr;
  const std::uint64_t whole = layout_of(made).size;
  if (whole < *size) fill_to(*size);
  if (layout_of(made).size != *size) return nullptr;
  return arena_.make(std::move(made));
}

const Type* TypeReader::array(Dwarf_Die die, int depth) {
  const auto count = count_of(die);
  const Peeled element = type_behind(die);
  const auto size = size_of(element);
  if (!count || !size || *count == 0 || *size == 0 || *count > kLargest / *size ||
      flag(die, DW_AT_GNU_vector))
    return nullptr;
  Type made;
  made.kind = TypeKind::Array;
  made.length = {proto::Length::Source::Constant, static_cast<std::uint32_t>(*count)};
  made.target = value(element, nullptr, depth + 1).type;
  if (made.target == nullptr || layout_of(*made.target).size != *size) return nullptr;
  if (is_plain_char(element)) {
    made.lens = Lens::Text;
    made.length.until_zero = true;
  }
  return arena_.make(std::move(made));
}

const Type* TypeReader::passed(const Peeled& type, const CppValue& value) {
  if (type.tag() == DW_TAG_array_type)
    return nullptr; // it becomes a pointer, in all languages of ours
  if (!is_class(type.tag())) return value.type;
  const auto size = size_of(type);
  const auto classes = classes_of(type);
  if (!size || !classes) return nullptr;
  if (*size == 0 || classes->is_empty()) return plain(TypeKind::Opaque, 0, Lens::Hide);
  using Class = ValueClasses::Class;
  const bool is_x87 = classes->has(Class::X87);
  if (value.type != nullptr) {
    const proto::Placement placement =
        proto::ArgumentPlaces(proto::CallingConvention::SystemV64).next(*value.type);
    bool fits = layout_of(*value.type).size == *size && !placement.eightbytes.empty();
    for (std::size_t at = 0; at < placement.eightbytes.size() && fits; ++at) {
      const std::uint32_t place = placement.eightbytes[at];
      const bool on_stack = place >= wire::kStackWordsAt;
      if (classes->in_memory || is_x87)
        fits = on_stack;
      else
        fits =
            !on_stack && (place >= wire::kVectorWordsAt) ==
                             (classes->eightbytes[std::min<std::size_t>(at, 1)] == Class::Vector);
    }
    const std::uint32_t align = layout_of(*value.type).align;
    if (fits && (align >= 16) == classes->is_wide) return value.type;
  }
  // Something of the same size in the same registers, that is not shown.
  if (classes->is_wide) return nullptr;
  const std::uint64_t words = (*size + 7) / 8;
  if (classes->in_memory)
    return *size > 16 && words <= kMostWords ? known_.opaque(static_cast<std::uint8_t>(words))
                                             : nullptr;
  if (!classes->has(Class::Vector)) return known_.opaque(static_cast<std::uint8_t>(words));
  Type made;
  made.kind = TypeKind::Struct;
  for (std::uint64_t at = 0; at < words; ++at) {
    const bool is_vector = classes->eightbytes[at] == Class::Vector;
    made.fields.push_back(
        plain(is_vector ? TypeKind::Float : TypeKind::Unsigned, kWord, Lens::Hide));
  }
  return arena_.make(std::move(made));
}

} // namespace sonictrace::debuginfo
