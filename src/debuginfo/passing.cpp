#include "debuginfo/passing.hpp"

#include <string>

namespace sonictrace::debuginfo {
namespace {

using Class = ValueClasses::Class;

constexpr int kDeepest = 16;
constexpr std::uint64_t kMostElements = 16; ///< of 16 bytes

Class merge(Class a, Class b) {
  if (a == b || b == Class::None) return a;
  if (a == Class::None) return b;
  return Class::Integer; // or X87 and something else, which goes into memory anyway
}

class Classifier {
public:
  std::optional<ValueClasses> classes(const Peeled& type) {
    const auto size = size_of(type);
    if (!size) return std::nullopt;
    if (!place(type, 0, 0)) return std::nullopt;
    const auto& [low, high] = classes_.eightbytes;
    const bool is_whole_x87 = low == Class::X87 && high == Class::X87;
    if (*size > 16 || (has_x87_ && !is_whole_x87)) classes_.in_memory = true;
    return classes_;
  }

private:
  bool place(const Peeled& type, std::uint64_t at, int depth) {
    if (depth > kDeepest || !type.die) return false;
    const auto size = size_of(type);
    if (!size || has(*type.die, DW_AT_alignment)) return false;
    switch (type.tag()) {
      case DW_TAG_base_type: return place_base(*type.die, at, *size);
      case DW_TAG_enumeration_type:
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type:
      case DW_TAG_rvalue_reference_type:
      case DW_TAG_ptr_to_member_type: return put(Class::Integer, at, *size, 8);
      case DW_TAG_array_type: return place_array(*type.die, at, depth);
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type: return place_members(*type.die, at, depth);
      default: return false;
    }
  }

  bool place_base(Dwarf_Die base, std::uint64_t at, std::uint64_t size) {
    switch (number(base, DW_AT_encoding).value_or(0)) {
      case DW_ATE_boolean:
      case DW_ATE_signed:
      case DW_ATE_signed_char:
      case DW_ATE_unsigned:
      case DW_ATE_unsigned_char:
      case DW_ATE_UTF: return size <= 16 && put(Class::Integer, at, size, 16);
      case DW_ATE_complex_float:
        if (size > 16) return false;
        return put(Class::Vector, at, size / 2, 8) &&
               put(Class::Vector, at + size / 2, size / 2, 8);
      case DW_ATE_float:
        if (size == 4 || size == 8) return put(Class::Vector, at, size, 8);
        return size == 16 && name_of(base) == "long double" && put(Class::X87, at, size, 16);
      default: return false;
    }
  }

  bool place_array(Dwarf_Die array, std::uint64_t at, int depth) {
    if (flag(array, DW_AT_GNU_vector)) return false;
    const auto count = count_of(array);
    const Peeled element = type_behind(array);
    const auto size = size_of(element);
    if (!count || !size) return false;
    // All that is behind the first bytes goes into memory anyway.
    for (std::uint64_t index = 0; index < *count && index <= kMostElements; ++index)
      if (!place(element, at + index * *size, depth + 1)) return false;
    return true;
  }

  bool place_members(Dwarf_Die type, std::uint64_t at, int depth) {
    if (flag(type, DW_AT_declaration)) return false;
    bool is_known = true;
    for_each_child(type, [&](Dwarf_Die child) {
      const bool is_base = tag_of(child) == DW_TAG_inheritance;
      if (!is_base && !is_data_member(child)) return true;
      if (++members_ > kMostMembers) is_known = false;
      if (has(child, DW_AT_alignment)) is_known = false;
      if (has(child, DW_AT_data_bit_offset) || has(child, DW_AT_bit_offset)) {
        is_known = is_known && place_bits(child, at);
        return is_known;
      }
      const auto offset = place_in_object(child);
      const Peeled member = type_behind(child);
      // A flexible array at the end has no size.
      if (member.tag() == DW_TAG_array_type && !count_of(*member.die)) return true;
      is_known = is_known && offset && place(member, at + *offset, depth + 1);
      return is_known;
    });
    return is_known;
  }

  /// A bit field: all of the bytes that it is in.
  bool place_bits(Dwarf_Die member, std::uint64_t at) {
    const auto bits = number(member, DW_AT_bit_size);
    const auto first = number(member, DW_AT_data_bit_offset);
    if (!bits || *bits == 0 || *bits > 128) return false;
    if (first) {
      const std::uint64_t begin = at + *first / 8, end = at + (*first + *bits - 1) / 8;
      return put(Class::Integer, begin, 1, 1) && put(Class::Integer, end, 1, 1);
    }
    // DWARF 3: the bytes of its storage, which may be larger than what it is in.
    const auto offset = place_in_object(member);
    const auto storage = number(member, DW_AT_byte_size);
    const auto skipped = number(member, DW_AT_bit_offset);
    if (!offset || !skipped) return false;
    const std::uint64_t bytes = storage ? *storage : size_of(type_behind(member)).value_or(0);
    if (bytes == 0 || bytes > 16 || *skipped + *bits > bytes * 8) return false;
    const std::uint64_t low = bytes * 8 - *skipped - *bits; // counted from the other end
    return put(Class::Integer, at + *offset + low / 8, 1, 1) &&
           put(Class::Integer, at + *offset + (low + *bits - 1) / 8, 1, 1);
  }

  bool put(Class what, std::uint64_t at, std::uint64_t size, std::uint64_t most_align) {
    if (size == 0) return true;
    const std::uint64_t align = size < most_align ? size : most_align;
    classes_.is_wide = classes_.is_wide || align == 16;
    if (at % align != 0) classes_.in_memory = true; // packed
    if (what == Class::X87) has_x87_ = true;
    for (std::uint64_t byte = at; byte < at + size; byte += 8) {
      if (byte >= 16)
        classes_.in_memory = true;
      else
        classes_.eightbytes[byte / 8] = merge(classes_.eightbytes[byte / 8], what);
    }
    // One that is not aligned ends in the next eightbyte.
    if (at + size - 1 < 16) {
      Class& last = classes_.eightbytes[(at + size - 1) / 8];
      last = merge(last, what);
    }
    return true;
  }

  static constexpr int kMostMembers = 4096;

  ValueClasses classes_;
  int members_ = 0;
  bool has_x87_ = false;
};

/// What a class says of how it is copied, base classes and members included.
class Triviality {
public:
  std::optional<bool> is_trivial(Dwarf_Die type, int depth) {
    if (depth > kDeepest || ++looked_at_ > kMost) return std::nullopt;
    if (const auto convention = number(type, DW_AT_calling_convention)) {
      if (convention == DW_CC_pass_by_value) return true;
      if (convention == DW_CC_pass_by_reference) return false;
    }
    if (flag(type, DW_AT_declaration)) return std::nullopt;
    std::optional<bool> trivial = true;
    const auto name = name_of(type);
    for_each_child(type, [&](Dwarf_Die child) {
      const auto one = of_child(child, offset_of(type), name.substr(0, name.find('<')), depth);
      if (one == true) return true;
      trivial = one; // one that is sure is enough, and counts more than one that is not
      return one != false && ++looked_at_ < kMost;
    });
    if (looked_at_ >= kMost && trivial != false) return std::nullopt;
    return trivial;
  }

private:
  std::optional<bool> of_child(Dwarf_Die child, Dwarf_Off type, std::string_view name, int depth) {
    switch (tag_of(child)) {
      case DW_TAG_inheritance:
        if (number(child, DW_AT_virtuality).value_or(0) != 0) return false;
        return of_type(type_behind(child), depth);
      case DW_TAG_member:
        if (!is_data_member(child)) return true;
        return of_type(type_behind(child), depth);
      case DW_TAG_subprogram: return of_function(child, type, name);
      default: return true;
    }
  }

  std::optional<bool> of_type(Peeled type, int depth) {
    for (int step = 0; step < kDeepest && type.tag() == DW_TAG_array_type; ++step)
      type = type_behind(*type.die);
    if (!type.is_sound) return std::nullopt;
    return is_class(type.tag()) ? is_trivial(*type.die, depth + 1) : std::optional<bool>(true);
  }

  /// A special member function that was written by hand.
  static std::optional<bool> of_function(Dwarf_Die function, Dwarf_Off type,
                                         std::string_view name) {
    if (number(function, DW_AT_virtuality).value_or(0) != 0) return false; // there is a vptr
    if (flag(function, DW_AT_artificial)) return true;
    const std::string_view own = name_of(function);
    const bool is_destructor = own.starts_with('~');
    const bool is_constructor = !is_destructor && own.substr(0, own.find('<')) == name;
    if (!is_destructor && !(is_constructor && takes_one_of(function, type))) return true;
    if (flag(function, DW_AT_deleted)) return std::nullopt;
    // Whether one is defaulted is written since DWARF 5.
    Dwarf_Die unit;
    Dwarf_Half version = 0;
    if (::dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
    if (::dwarf_cu_info(unit.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) !=
        0)
      return std::nullopt;
    if (has(function, DW_AT_defaulted)) {
      constexpr std::uint64_t kInClass = 1;
      return number(function, DW_AT_defaulted) == kInClass ? std::optional(true) : false;
    }
    return version >= 5 ? std::optional(false) : std::nullopt;
  }

  /// Is the first parameter behind `this` a reference to the class?
  static bool takes_one_of(Dwarf_Die function, Dwarf_Off type) {
    bool takes = false;
    for_each_child(function, [&](Dwarf_Die child) {
      if (tag_of(child) != DW_TAG_formal_parameter || flag(child, DW_AT_artificial)) return true;
      const Peeled parameter = type_behind(child);
      if (is_reference(parameter.tag())) {
        const Peeled target = type_behind(*parameter.die);
        takes = target.die && offset_of(*target.die) == type;
      }
      return false;
    });
    return takes;
  }

  static constexpr int kMost = 4096;
  int looked_at_ = 0;
};

} // namespace

std::optional<ValueClasses> classes_of(const Peeled& type) { return Classifier().classes(type); }

std::optional<bool> is_passed_by_value(Dwarf_Die type, bool is_cpp) {
  if (!is_cpp) return true;
  return Triviality().is_trivial(type, 0);
}

} // namespace sonictrace::debuginfo
