#include "elf/guarded_bytes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sonictrace::elf {

GuardedBytes::GuardedBytes(std::span<const EntryBytes> entries) : reasons_(entries.size()) {
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const EntryBytes& entry = entries[index];
    const ElfAddress jump = entry.entry + entry.skipped;
    const ElfAddress begin = entry.skipped == 0 ? jump + 1 : jump;
    const ElfAddress end = jump + entry.replaced;
    if (begin < end) ranges_.push_back({begin, end, jump, index});
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  if (ranges_.empty()) return;
  first_ = ranges_.front().begin;
  for (const Range& range : ranges_)
    reach_ = std::max(reach_, static_cast<std::uint64_t>(range.end - first_));
  const std::size_t bits = std::bit_ceil(std::max<std::size_t>(4096, ranges_.size() * 64));
  shift_ = 64 - std::countr_zero(bits);
  filter_.resize(bits / 64);
  for (const Range& range : ranges_)
    for (ElfAddress at = range.begin; at < range.end; at = at + 1) {
      const std::uint64_t key = key_of(at);
      filter_[key / 64] |= std::uint64_t{1} << (key % 64);
    }
}

template <class Visit>
void GuardedBytes::for_each_that_holds(ElfAddress address, Visit visit) const {
  constexpr std::int64_t kLongest = std::numeric_limits<std::uint8_t>::max();
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](ElfAddress x, const Range& r) { return x < r.begin; });
  while (range != ranges_.begin() && address - (--range)->begin < kLongest)
    if (address < range->end) visit(*range);
}

bool GuardedBytes::holds(ElfAddress address) const {
  bool found = false;
  if (may_hold(address)) for_each_that_holds(address, [&](const Range&) { found = true; });
  return found;
}

void GuardedBytes::led_to(ElfAddress address, const char* why) {
  if (may_hold(address))
    for_each_that_holds(address, [&](const Range& range) { refuse(range.index, why); });
}

void GuardedBytes::refuse(std::size_t index, const char* why) {
  if (!reasons_[index]) reasons_[index] = why;
}

} // namespace sonictrace::elf
