#include "debuginfo/enumerators.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace sonictrace::debuginfo {

proto::NameTable read_enumerators(Dwarf_Die enumeration) {
  constexpr std::size_t kMost = 10'000;
  constexpr std::size_t kLongestName = 256;
  proto::NameTable names;
  for_each_child(enumeration, [&](Dwarf_Die child) {
    if (tag_of(child) != DW_TAG_enumerator) return true;
    const auto value = signed_number(child, DW_AT_const_value);
    const std::string_view name = name_of(child);
    if (!value || name.empty() || name.size() > kLongestName || names.size() >= kMost) {
      names.clear(); // some of them would be worse than none
      return false;
    }
    names.emplace_back(std::string(name), *value);
    return true;
  });
  return names;
}

bool are_flags(const proto::NameTable& names) {
  constexpr int kFewest = 3;
  std::uint64_t bits = 0;
  std::int64_t highest = 0;
  for (const auto& [name, value] : names) {
    if (value < 0) return false;
    highest = std::max(highest, value);
    if (std::has_single_bit(static_cast<std::uint64_t>(value)))
      bits |= static_cast<std::uint64_t>(value);
  }
  if (std::popcount(bits) < kFewest) return false;
  bool has_zero = false;
  for (const auto& [name, value] : names) {
    has_zero = has_zero || value == 0;
    if ((static_cast<std::uint64_t>(value) & ~bits) != 0) return false;
  }
  // All numbers up to the highest one.
  const auto distinct = [&] {
    std::vector<std::int64_t> values;
    for (const auto& [name, value] : names)
      values.push_back(value);
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
  }();
  return distinct < highest + (has_zero ? 1 : 0);
}

} // namespace sonictrace::debuginfo
