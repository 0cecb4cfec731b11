#pragma once

#include <optional>
#include <vector>

#include "sonictrace/process/mappings.hpp"

namespace sonictrace {

/// Where something of `size` bytes, which may be a terabyte, is out of the way: in the first large
/// gap below the libraries, with room between for those that come later, so that areas can lie near
/// them. As the kernel itself gives out addresses from there, sanitizers expect mappings there, and
/// keep their shadows elsewhere.
std::optional<TraceeAddress> find_big_room(const std::vector<Mapping>& mappings,
                                           std::uint64_t size);

} // namespace sonictrace
