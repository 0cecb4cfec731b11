#include "engine/breakpoint/stack_map.hpp"

#include <algorithm>

namespace sonictrace {

const StackMap::Region& StackMap::region_of(const AddressSpace& space, TraceeAddress sp,
                                            TraceeAddress control_block) {
  for (const auto& region : regions_)
    if (region.range.contains(sp)) return region;
  const auto mapping = space.mapping_at(sp);
  // A thread whose stack pointer points to nothing will fault soon; its own page may stand for it.
  constexpr std::int64_t kPage = 4096;
  const auto range = mapping ? mapping->range : *AddressRange::make(sp, sp + kPage);
  const bool heap = mapping && mapping->path == "[heap]";
  const bool exclusive =
      mapping && (mapping->path == "[stack]" || (!heap && range.contains(control_block)));
  for (auto& region : regions_) {
    if (range.end() <= region.range.begin() || region.range.end() <= range.begin()) continue;
    region.range = *AddressRange::make(std::min(range.begin(), region.range.begin()),
                                       std::max(range.end(), region.range.end()));
    region.id.exclusive = region.id.exclusive || exclusive;
    return region;
  }
  regions_.push_back({range, {static_cast<std::uint32_t>(regions_.size() + 1), exclusive}});
  return regions_.back();
}

} // namespace sonictrace
