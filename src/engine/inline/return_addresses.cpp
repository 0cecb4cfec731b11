#include "engine/inline/return_addresses.hpp"

#include <algorithm>
#include <vector>

#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

void give_back_return_addresses(const TraceeMemory& memory, AddressRange region,
                                std::uint32_t first_pool, std::span<const std::uint32_t> used) {
  std::vector<wire::AgentEntry> entries(wire::kEntriesOfPool);
  std::uint64_t pool = first_pool;
  for (const std::uint32_t count : used) {
    const std::uint64_t group =
        region.begin().value() + pool / wire::kPoolsOfGroup * wire::kGroupStride;
    const std::uint64_t first = pool++ % wire::kPoolsOfGroup * wire::kEntriesOfPool;
    const auto piece = std::span(entries).first(std::min<std::size_t>(count, entries.size()));
    const TraceeAddress at(group + wire::kGroupCode + first * sizeof(wire::AgentEntry));
    if (piece.empty() || !memory.read(at, std::as_writable_bytes(piece))) continue;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const wire::AgentEntry& entry = piece[i];
      if (entry.state != wire::EntryState::Open && entry.state != wire::EntryState::Told) continue;
      const std::uint64_t thunk_return =
          group + (first + i) * wire::kThunkSize + wire::kThunkReturnsAt;
      const auto word = memory.read_word(TraceeAddress(entry.slot));
      if (word && *word == thunk_return)
        (void)memory.write_word(TraceeAddress(entry.slot), entry.return_address);
    }
  }
}

} // namespace sonictrace
