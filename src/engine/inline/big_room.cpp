#include "engine/inline/big_room.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sonictrace {

std::optional<TraceeAddress> find_big_room(const std::vector<Mapping>& mappings,
                                           std::uint64_t size) {
  constexpr std::uint64_t kDistance = std::uint64_t{64} << 30;
  constexpr std::uint64_t kPage = 4096;
  constexpr std::array<std::string_view, 5> kOfTheKernel = {"[stack]", "[vdso]", "[vvar]",
                                                            "[vvar_vclock]", "[vsyscall]"};
  std::optional<std::uint64_t> above; // where the mapping above the gap begins
  for (auto mapping = mappings.rbegin(); mapping != mappings.rend(); ++mapping) {
    if (std::find(kOfTheKernel.begin(), kOfTheKernel.end(), mapping->path) != kOfTheKernel.end())
      continue;
    const std::uint64_t end = mapping->range.end().value();
    // What lies below grows upwards (brk) or downwards as well: a distance on that side, too.
    if (above && *above > end && *above - end >= size + 2 * kDistance)
      return TraceeAddress((*above - kDistance - size) & ~(kPage - 1));
    above = mapping->range.begin().value();
  }
  return std::nullopt;
}

} // namespace sonictrace
