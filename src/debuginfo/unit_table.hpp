#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debuginfo/budget.hpp"
#include "debuginfo/die.hpp"
#include "debuginfo/unit_scan.hpp"

namespace sonictrace::debuginfo {

/// The units of a file, by the addresses of their code; and those that have been looked into.
class UnitTable {
public:
  UnitTable(Dwarf* dwarf, Budget& budget) : dwarf_(dwarf), budget_(budget) {}

  /// All functions whose code begins there.
  std::vector<Dwarf_Die> functions_at(std::uint64_t address);
  /// The scan of the unit that an entry is in, of this file or of the one that it shares with
  /// others.
  const UnitScan& scan_of(Dwarf_Die die);

  /// A class or enumeration by its name, in the unit that `near` is in.
  std::optional<Dwarf_Die> type_named(const std::string& name, Dwarf_Die near);

  /// Units whose entries are in a file that was not found (-gsplit-dwarf).
  std::size_t missing_units() const { return missing_units_; }

private:
  struct Range {
    std::uint64_t begin, end;
    Dwarf_Die unit;
  };

  void read_units();
  void add(Dwarf_Die with_ranges, Dwarf_Die unit);
  UnitScan& scan(Dwarf_Die unit);

  Dwarf* dwarf_;
  Budget& budget_;
  std::vector<Range> ranges_; ///< by begin
  bool is_read_ = false;
  std::size_t missing_units_ = 0;
  /// By the unit's first entry: its address tells units of different files apart.
  std::map<const void*, UnitScan> scans_;
};

} // namespace sonictrace::debuginfo
