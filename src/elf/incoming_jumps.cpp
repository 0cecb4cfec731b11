#include "elf/incoming_jumps.hpp"

#include <algorithm>
#include <cstring>

namespace sonictrace::elf {

IncomingJumps::IncomingJumps(std::vector<FunctionRange> into) : into_(std::move(into)) {}

void IncomingJumps::scan(std::span<const std::byte> code, ElfAddress begin) {
  if (into_.empty()) return;
  const ElfAddress first = into_.front().begin;
  const auto reach = static_cast<std::uint64_t>(into_.back().end - first);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(code.data());
  // e9 rel32 (jmp), 0f 80 to 0f 8f rel32 (jcc): the opcode byte before the displacement.
  for (std::size_t at = 1; at + 4 < code.size(); ++at) {
    if (bytes[at] != 0xe9 && ((bytes[at] & 0xf0) != 0x80 || bytes[at - 1] != 0x0f)) continue;
    std::int32_t displacement;
    std::memcpy(&displacement, bytes + at + 1, sizeof displacement);
    const ElfAddress target = begin + (static_cast<std::int64_t>(at) + 5 + displacement);
    if (target.value() - first.value() < reach) add(target);
  }
}

void IncomingJumps::add(ElfAddress target) {
  const auto after =
      std::upper_bound(into_.begin(), into_.end(), target,
                       [](ElfAddress x, const FunctionRange& range) { return x < range.begin; });
  if (after == into_.begin() || target >= (after - 1)->end) return;
  targets_.push_back(target);
  is_sorted_ = false;
}

std::vector<ElfAddress> IncomingJumps::targets_in(const FunctionRange& range) {
  if (!is_sorted_) {
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    is_sorted_ = true;
  }
  return {std::lower_bound(targets_.begin(), targets_.end(), range.begin),
          std::lower_bound(targets_.begin(), targets_.end(), range.end)};
}

} // namespace sonictrace::elf
