#include "debuginfo/peeled.hpp"

namespace sonictrace::debuginfo {
namespace {

constexpr int kLongestChain = 64; ///< typedefs of typedefs
constexpr int kDeepest = 16;      ///< arrays of arrays
constexpr std::uint64_t kPointer = 8;

std::optional<std::uint64_t> size_of(const Peeled& type, int depth) {
  if (!type.is_sound || !type.die || depth > kDeepest) return std::nullopt;
  if (const auto size = number(*type.die, DW_AT_byte_size)) return size;
  switch (type.tag()) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: return kPointer;
    case DW_TAG_array_type: {
      const auto count = count_of(*type.die);
      const auto element = size_of(type_behind(*type.die), depth + 1);
      std::uint64_t size = 0;
      if (!count || !element || __builtin_mul_overflow(*count, *element, &size))
        return std::nullopt;
      return size;
    }
    default: return std::nullopt;
  }
}

} // namespace

Peeled peel(std::optional<Dwarf_Die> type) {
  Peeled peeled;
  for (int step = 0; step < kLongestChain; ++step) {
    if (!type) {
      peeled.is_sound = true;
      return peeled;
    }
    const int tag = tag_of(*type);
    switch (tag) {
      case DW_TAG_const_type: peeled.is_const = true; break;
      case DW_TAG_typedef:
      case DW_TAG_template_alias:
        if (has(*type, DW_AT_alignment)) return peeled;
        peeled.is_wide = peeled.is_wide || name_of(*type) == "wchar_t";
        break;
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type: break;
      default:
        peeled.is_sound = tag > 0;
        peeled.die = type;
        return peeled;
    }
    if (has(*type, DW_AT_type)) {
      type = referred(*type, DW_AT_type);
      if (!type) return peeled; // it leads nowhere: that is not void
    } else {
      type = std::nullopt;
    }
  }
  return peeled;
}

Peeled type_behind(Dwarf_Die die, Reach reach) {
  if (!has(die, DW_AT_type, reach)) return peel(std::nullopt);
  const auto type = referred(die, DW_AT_type, reach);
  return type ? peel(type) : Peeled();
}

std::optional<std::uint64_t> size_of(const Peeled& type) { return size_of(type, 0); }

std::optional<std::uint64_t> count_of(Dwarf_Die array) {
  std::optional<std::uint64_t> count;
  int dimensions = 0;
  for_each_child(array, [&](Dwarf_Die child) {
    if (tag_of(child) != DW_TAG_subrange_type) return true;
    ++dimensions;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    if (number(child, DW_AT_lower_bound).value_or(0) != 0) return true;
    if (const auto elements = number(child, DW_AT_count))
      count = elements;
    else if (const auto last = number(child, DW_AT_upper_bound); last && *last < kMost)
      count = *last + 1;
    return true;
  });
  return dimensions == 1 ? count : std::nullopt;
}

bool is_plain_char(const Peeled& type) {
  if (type.tag() != DW_TAG_base_type || name_of(*type.die) != "char") return false;
  const auto encoding = number(*type.die, DW_AT_encoding);
  return size_of(type) == 1 && (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

bool is_wide_char(const Peeled& type) {
  if (type.tag() != DW_TAG_base_type || size_of(type) != 4) return false;
  return type.is_wide || name_of(*type.die) == "wchar_t" || name_of(*type.die) == "char32_t";
}

bool is_data_member(Dwarf_Die member) {
  return tag_of(member) == DW_TAG_member && !flag(member, DW_AT_external) &&
         !flag(member, DW_AT_declaration);
}

std::optional<std::uint64_t> place_in_object(Dwarf_Die member) {
  if (!has(member, DW_AT_data_member_location)) return 0;
  return number(member, DW_AT_data_member_location);
}

} // namespace sonictrace::debuginfo
