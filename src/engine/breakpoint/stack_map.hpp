#pragma once

#include <cstdint>
#include <vector>

#include "engine/breakpoint/open_calls.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"

namespace sonictrace {

/// Numbers the mappings of one address space that hold stacks. A stack grows, and mappings merge:
/// a region that overlaps a known one is the known one.
class StackMap {
public:
  struct Region {
    AddressRange range;
    StackId id;
  };

  /// The region that holds `sp`; asks the kernel where it is not known yet.
  /// `control_block`: where fs_base points, 0: not to be looked at. The C library puts a thread's
  /// control block into the mapping that it makes for its stack: so that one is the thread's own.
  const Region& region_of(const AddressSpace& space, TraceeAddress sp,
                          TraceeAddress control_block);

  /// The region that holds `address`, if one is known.
  std::optional<StackId> known(TraceeAddress address) const {
    for (const auto& region : regions_)
      if (region.range.contains(address)) return region.id;
    return std::nullopt;
  }

private:
  std::vector<Region> regions_;
};

} // namespace sonictrace
