#pragma once

#include <optional>

#include "debuginfo/die.hpp"

namespace sonictrace::debuginfo {

/// A type without the typedefs and qualifiers around it.
struct Peeled {
  std::optional<Dwarf_Die> die; ///< nothing: void
  bool is_const = false;
  bool is_wide = false;  ///< behind a typedef wchar_t
  bool is_sound = false; ///< else nobody knows what it is

  bool is_void() const { return is_sound && !die; }
  int tag() const { return is_sound && die ? tag_of(*die) : 0; }
};

/// `type`: what DW_AT_type refers to; nothing: void.
Peeled peel(std::optional<Dwarf_Die> type);
/// The type of a parameter, a member, a pointer's target.
Peeled type_behind(Dwarf_Die die, Reach reach = Reach::Own);

/// Bytes in memory; nothing where it is not known.
std::optional<std::uint64_t> size_of(const Peeled& type);
/// Of an array of one dimension; nothing where it has no end, or more dimensions.
std::optional<std::uint64_t> count_of(Dwarf_Die array);

inline bool is_class(int tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}
inline bool is_reference(int tag) {
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}
/// `char` itself: neither a small number nor a byte.
bool is_plain_char(const Peeled& type);
bool is_wide_char(const Peeled& type);
/// A member that is in each object: none that is static.
bool is_data_member(Dwarf_Die member);
/// Where a member or a base begins in its object; nothing where that is computed.
std::optional<std::uint64_t> place_in_object(Dwarf_Die member);

} // namespace sonictrace::debuginfo
