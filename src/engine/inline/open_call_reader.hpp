#pragma once

#include <cstdint>
#include <vector>

#include "engine/inline/arena.hpp"

namespace sonictrace {

/// A copy of one, and where it is.
struct FoundOpenCall {
  std::uint32_t pool = 0, entry = 0;
  wire::OpenCall call = {};
};

/// The calls that are open in the thread of a ring, in the order in which they have begun. The
/// thread is stopped or gone.
std::vector<FoundOpenCall> find_open_calls(const Arena& arena, std::uint32_t ring);

/// From here on the agent takes the call for one that the log has the begin of.
void mark_as_told(const Arena& arena, const FoundOpenCall& call);

/// Forgets the calls that are open in the pools of a ring: they are nobody's any more.
void forget_open_calls(const Arena& arena, std::uint32_t ring);

} // namespace sonictrace
