#include "debuginfo/unit_table.hpp"

#include <algorithm>
#include <cstddef>

namespace sonictrace::debuginfo {
namespace {

constexpr std::size_t kMostUnits = 200'000;
constexpr std::size_t kMostRanges = 4'000'000;
constexpr std::size_t kLookEvery = 64; ///< units, at the clock

} // namespace

void UnitTable::read_units() {
  is_read_ = true;
  Dwarf_CU* unit = nullptr;
  for (std::size_t count = 0; count < kMostUnits; ++count) {
    if (count % kLookEvery == 0 && budget_.is_over()) return ranges_.clear();
    std::uint8_t type = 0;
    Dwarf_Half version = 0;
    Dwarf_Die first, split;
    if (::dwarf_get_units(dwarf_, unit, &unit, &version, &type, &first, &split) != 0) break;
    if (type == DW_UT_compile)
      add(first, first);
    else if (type == DW_UT_skeleton && ::dwarf_tag(&split) > 0)
      add(first, split);
    else if (type == DW_UT_skeleton)
      ++missing_units_;
  }
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

void UnitTable::add(Dwarf_Die with_ranges, Dwarf_Die unit) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (std::ptrdiff_t at = 0; ranges_.size() < kMostRanges;) {
    const std::ptrdiff_t next = ::dwarf_ranges(&with_ranges, at, &base, &begin, &end);
    if (next <= 0 || next == at) return;
    at = next;
    // What the linker has thrown away begins at 0, or where it ends.
    if (begin != 0 && begin < end) ranges_.push_back({begin, end, unit});
  }
}

std::vector<Dwarf_Die> UnitTable::functions_at(std::uint64_t address) {
  if (!is_read_) read_units();
  std::vector<Dwarf_Die> found;
  auto at =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uint64_t value, const Range& range) { return value < range.begin; });
  // Ranges do not overlap, except where the linker has put the same code in one place.
  constexpr int kMostTried = 8;
  for (int tried = 0; at != ranges_.begin() && tried < kMostTried; ++tried) {
    --at;
    if (address >= at->end) break;
    Dwarf_Die unit = at->unit;
    const UnitScan& scanned = scan(unit);
    Dwarf* const dwarf = ::dwarf_cu_getdwarf(unit.cu);
    for (const Dwarf_Off offset : scanned.functions_at(address)) {
      Dwarf_Die die;
      if (::dwarf_offdie(dwarf, offset, &die) != nullptr) found.push_back(die);
    }
  }
  return found;
}

std::optional<Dwarf_Die> UnitTable::type_named(const std::string& name, Dwarf_Die near) {
  Dwarf_Die unit;
  if (::dwarf_diecu(&near, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
  return scan(unit).type_named(name, unit);
}

UnitScan& UnitTable::scan(Dwarf_Die unit) {
  const auto known = scans_.find(unit.addr);
  if (known != scans_.end()) return known->second;
  return scans_.emplace(unit.addr, UnitScan::of(unit, budget_)).first->second;
}

const UnitScan& UnitTable::scan_of(Dwarf_Die die) {
  Dwarf_Die unit;
  if (::dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) {
    static const UnitScan kNone;
    return kNone;
  }
  return scan(unit);
}

} // namespace sonictrace::debuginfo
