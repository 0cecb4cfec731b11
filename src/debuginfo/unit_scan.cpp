#include "debuginfo/unit_scan.hpp"

#include <algorithm>

namespace sonictrace::debuginfo {
namespace {

constexpr int kDeepest = 32;              ///< namespaces in namespaces
constexpr std::uint64_t kLookEvery = 256; ///< entries, at the clock
constexpr std::size_t kLongestName = 1024;

bool is_type_with_scope(int tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

/// The name of a namespace, which only the first of its parts may have.
std::string_view name_of_namespace(Dwarf_Die space) {
  const std::string_view name = name_of(space);
  if (!name.empty()) return name;
  if (const auto first = referred(space, DW_AT_extension)) return name_of(*first);
  return {};
}

} // namespace

std::optional<std::uint64_t> entry_of(Dwarf_Die function) {
  Dwarf_Addr address = 0;
  if (::dwarf_lowpc(&function, &address) == 0) return address;
  // In several pieces: the one with the entry comes first.
  if (!has(function, DW_AT_ranges)) return std::nullopt;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  if (::dwarf_ranges(&function, 0, &base, &begin, &end) <= 0) return std::nullopt;
  return begin;
}

UnitScan UnitScan::of(Dwarf_Die unit, const Budget& budget) {
  UnitScan scan;
  scan.scopes_.emplace_back();
  scan.walk(unit, 0, 0, budget);
  std::stable_sort(scan.functions_.begin(), scan.functions_.end(),
                   [](const Function& a, const Function& b) { return a.address < b.address; });
  return scan;
}

void UnitScan::walk(Dwarf_Die scope, std::uint32_t name, int depth, const Budget& budget) {
  if (depth > kDeepest) return;
  for_each_child(scope, [&](Dwarf_Die child) {
    if (++seen_ % kLookEvery == 0 && budget.is_over()) is_complete_ = false;
    if (!is_complete_) return false;
    const int tag = tag_of(child);
    if (tag == DW_TAG_subprogram) {
      if (const auto entry = entry_of(child)) functions_.push_back({*entry, offset_of(child)});
    } else if (tag == DW_TAG_namespace) {
      const std::string_view part = name_of_namespace(child);
      std::string inner = scopes_[name];
      if (!inner.empty()) inner += "::";
      // A name that no other namespace has: types in it are nobody else's.
      inner += part.empty() ? "(anonymous namespace)" : part.substr(0, kLongestName);
      if (inner.size() > kLongestName) return true;
      scopes_.push_back(std::move(inner));
      walk(child, static_cast<std::uint32_t>(scopes_.size() - 1), depth + 1, budget);
    } else if (is_type_with_scope(tag)) {
      scope_of_type_.emplace(offset_of(child), name);
      has_types_ = true;
    } else if (tag == DW_TAG_base_type) {
      has_types_ = true;
    }
    return true;
  });
}

std::vector<Dwarf_Off> UnitScan::functions_at(std::uint64_t address) const {
  std::vector<Dwarf_Off> found;
  auto at = std::lower_bound(
      functions_.begin(), functions_.end(), address,
      [](const Function& function, std::uint64_t value) { return function.address < value; });
  for (; at != functions_.end() && at->address == address; ++at)
    found.push_back(at->die);
  return found;
}

std::optional<std::string> UnitScan::scope_of(Dwarf_Off type) const {
  const auto found = scope_of_type_.find(type);
  if (found == scope_of_type_.end()) return std::nullopt;
  return scopes_[found->second];
}

std::optional<Dwarf_Die> UnitScan::type_named(const std::string& name, Dwarf_Die unit) {
  Dwarf* const file = ::dwarf_cu_getdwarf(unit.cu);
  Dwarf_Die die;
  if (!types_) {
    types_.emplace();
    for (const auto& [offset, scope] : scope_of_type_) {
      if (::dwarf_offdie(file, offset, &die) == nullptr || flag(die, DW_AT_declaration)) continue;
      const std::string_view own = name_of(die);
      if (own.empty() || own.find('<') != std::string_view::npos) continue;
      std::string whole = scopes_[scope];
      if (!whole.empty()) whole += "::";
      types_->emplace(whole += own, offset);
    }
  }
  const auto found = types_->find(name);
  if (found == types_->end() || ::dwarf_offdie(file, found->second, &die) == nullptr)
    return std::nullopt;
  return die;
}

} // namespace sonictrace::debuginfo
