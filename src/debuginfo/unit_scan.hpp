#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "debuginfo/budget.hpp"
#include "debuginfo/die.hpp"

namespace sonictrace::debuginfo {

/// What one unit of debug information has: found by one walk over its entries, but not over what is
/// in functions and classes.
class UnitScan {
public:
  /// Incomplete, and then empty, where the time was over.
  static UnitScan of(Dwarf_Die unit, const Budget& budget);

  /// The functions whose code begins at `address`; more than one where the linker has put the same
  /// code in one place.
  std::vector<Dwarf_Off> functions_at(std::uint64_t address) const;

  /// The namespace that a type is in (`std::__cxx11`, empty for the global one); nothing where it
  /// is in a class or in a function.
  std::optional<std::string> scope_of(Dwarf_Off type) const;
  /// The class or enumeration of a name (`kinds::Color`, no template's) that is defined here. `unit`:
  /// any entry of it. The first call makes an index.
  std::optional<Dwarf_Die> type_named(const std::string& name, Dwarf_Die unit);
  /// Does anything here have a type? Else there was no more than names and lines (-g1).
  bool has_types() const { return has_types_; }
  bool is_complete() const { return is_complete_; }

private:
  struct Function {
    std::uint64_t address;
    Dwarf_Off die;
  };

  void walk(Dwarf_Die scope, std::uint32_t name, int depth, const Budget& budget);

  std::vector<Function> functions_; ///< by address
  std::vector<std::string> scopes_;
  std::unordered_map<Dwarf_Off, std::uint32_t> scope_of_type_;
  std::optional<std::unordered_map<std::string, Dwarf_Off>> types_; ///< by name, once asked for
  std::uint64_t seen_ = 0;
  bool has_types_ = false;
  bool is_complete_ = true;
};

/// Where the code of a function begins.
std::optional<std::uint64_t> entry_of(Dwarf_Die function);

} // namespace sonictrace::debuginfo
