#include "debuginfo/die.hpp"

namespace sonictrace::debuginfo {

std::optional<Dwarf_Attribute> attribute(Dwarf_Die die, unsigned name, Reach reach) {
  Dwarf_Attribute found;
  const bool is_there = reach == Reach::Own ? ::dwarf_attr(&die, name, &found) != nullptr
                                            : ::dwarf_attr_integrate(&die, name, &found) != nullptr;
  if (!is_there) return std::nullopt;
  return found;
}

bool flag(Dwarf_Die die, unsigned name, Reach reach) {
  auto found = attribute(die, name, reach);
  bool value = false;
  return found && ::dwarf_formflag(&*found, &value) == 0 && value;
}

std::optional<std::uint64_t> number(Dwarf_Die die, unsigned name, Reach reach) {
  auto found = attribute(die, name, reach);
  Dwarf_Word value = 0;
  if (!found || ::dwarf_formudata(&*found, &value) != 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> signed_number(Dwarf_Die die, unsigned name) {
  auto found = attribute(die, name);
  if (!found) return std::nullopt;
  const unsigned form = ::dwarf_whatform(&*found);
  if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
    Dwarf_Sword value = 0;
    if (::dwarf_formsdata(&*found, &value) != 0) return std::nullopt;
    return value;
  }
  Dwarf_Word value = 0;
  if (::dwarf_formudata(&*found, &value) != 0) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string_view text(Dwarf_Die die, unsigned name, Reach reach) {
  auto found = attribute(die, name, reach);
  const char* const value = found ? ::dwarf_formstring(&*found) : nullptr;
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<Dwarf_Die> referred(Dwarf_Die die, unsigned name, Reach reach) {
  auto found = attribute(die, name, reach);
  Dwarf_Die target;
  if (!found || ::dwarf_formref_die(&*found, &target) == nullptr) return std::nullopt;
  return target;
}

} // namespace sonictrace::debuginfo
