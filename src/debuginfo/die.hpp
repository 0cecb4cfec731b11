#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonictrace::debuginfo {

/// What is asked of one entry of debug information (a DIE). libdw takes them by pointers that are
/// not const and changes nothing: these take copies.
///
/// `Own`: of this entry only. `Inherited`: also of what it is the instance or the definition of.
enum class Reach : std::uint8_t { Own, Inherited };

inline int tag_of(Dwarf_Die die) { return ::dwarf_tag(&die); }
inline Dwarf_Off offset_of(Dwarf_Die die) { return ::dwarf_dieoffset(&die); }

std::optional<Dwarf_Attribute> attribute(Dwarf_Die die, unsigned name, Reach reach = Reach::Own);
inline bool has(Dwarf_Die die, unsigned name, Reach reach = Reach::Own) {
  return attribute(die, name, reach).has_value();
}
/// Of a flag that is not there: false.
bool flag(Dwarf_Die die, unsigned name, Reach reach = Reach::Own);
std::optional<std::uint64_t> number(Dwarf_Die die, unsigned name, Reach reach = Reach::Own);
/// Negative numbers by the form that they are written in.
std::optional<std::int64_t> signed_number(Dwarf_Die die, unsigned name);
/// Empty where there is none. Lives as long as the file.
std::string_view text(Dwarf_Die die, unsigned name, Reach reach = Reach::Own);
inline std::string_view name_of(Dwarf_Die die, Reach reach = Reach::Own) {
  return text(die, DW_AT_name, reach);
}
/// The entry that an attribute refers to.
std::optional<Dwarf_Die> referred(Dwarf_Die die, unsigned name, Reach reach = Reach::Own);

/// Calls `visit(child)` for each child, until it returns false. Entries that do not come in order
/// end it: there is no way to go round in circles.
template <class Visit>
void for_each_child(Dwarf_Die die, Visit visit) {
  Dwarf_Die child;
  if (::dwarf_child(&die, &child) != 0) return;
  for (;;) {
    if (!visit(child)) return;
    Dwarf_Die next;
    if (::dwarf_siblingof(&child, &next) != 0) return;
    if (::dwarf_dieoffset(&next) <= ::dwarf_dieoffset(&child)) return;
    child = next;
  }
}

} // namespace sonictrace::debuginfo
