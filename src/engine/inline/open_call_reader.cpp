#include "engine/inline/open_call_reader.hpp"

#include <algorithm>

#include "engine/inline/shared_memory.hpp"

namespace sonictrace {
namespace {

/// More than any stack has room for by far; against a process that says that it has them.
constexpr std::size_t kMostOpenCalls = std::size_t{1} << 20;

/// The pools of a ring, in the order in which they are taken from; each once, whatever the chain
/// says.
std::vector<std::uint32_t> pools_of(const Arena& arena, std::uint32_t ring) {
  std::vector<std::uint32_t> pools;
  std::vector<bool> seen(wire::kMaxPools);
  std::uint32_t pool = load_shared(arena.ring(ring).first_pool);
  while (pool < wire::kMaxPools && !seen[pool]) {
    seen[pool] = true;
    pools.push_back(pool);
    pool = load_shared(arena.pool(pool).next);
  }
  return pools;
}

} // namespace

std::vector<FoundOpenCall> find_open_calls(const Arena& arena, std::uint32_t ring) {
  std::vector<FoundOpenCall> found;
  for (const std::uint32_t pool : pools_of(arena, ring)) {
    const std::uint32_t used =
        std::min<std::uint32_t>(load_shared(arena.pool(pool).used), wire::kEntriesOfPool);
    for (std::uint32_t entry = 0; entry < used && found.size() < kMostOpenCalls; ++entry) {
      const wire::OpenCall& call = arena.open_call(pool, entry);
      const std::uint32_t state = load_shared(call.state);
      if (state != wire::kOpenWhole && state != wire::kOpenTold) continue;
      FoundOpenCall& copy = found.emplace_back(FoundOpenCall{pool, entry, {}});
      copy_shared(&copy.call, &call, sizeof call);
      copy.call.state = state;
    }
    // The next one is not taken from before this one is empty; what it holds is an earlier
    // thread's.
    if (used < wire::kEntriesOfPool) break;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.call.begin != b.call.begin ? a.call.begin < b.call.begin : a.call.depth < b.call.depth;
  });
  return found;
}

void mark_as_told(const Arena& arena, const FoundOpenCall& call) {
  store_shared(arena.open_call(call.pool, call.entry).state, wire::kOpenTold);
}

void forget_open_calls(const Arena& arena, std::uint32_t ring) {
  for (const std::uint32_t pool : pools_of(arena, ring))
    store_shared(arena.pool(pool).used, std::uint32_t{0});
}

} // namespace sonictrace
