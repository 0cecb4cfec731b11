#pragma once

// A thread's open calls: their entries, taken from its pools, and the list of them in the order in
// which they were opened.
//
// Signal handlers may run at any instruction and make calls themselves; some of these are left, as
// others are by an exception that the handler catches, and their entries go from list to list while
// what was interrupted changes the lists too. So whoever takes a step puts it in by an exchange,
// and sees by that who was interrupted. That a list's first entry is the same as before does not
// say that the second one is: the list of free ones counts, in the bits above an address, how many
// entries have gone another way than back.

#include "agent/machine.hpp"

namespace sonictrace::agent {

inline AgentEntry& entry_of(std::uint32_t pool, std::uint32_t number) {
  const std::uint64_t group = control().region + pool / kPoolsOfGroup * kGroupStride;
  const std::uint64_t in_group = pool % kPoolsOfGroup * kEntriesOfPool + std::uint64_t{number};
  return reinterpret_cast<AgentEntry*>(group + kGroupCode)[in_group];
}

/// Whether the entry was taken since this session's tracer has come. Those that were not are in no
/// list.
bool is_of_this_session(const AgentEntry& entry);

/// A new pool for this ring, mapped in this process; kNoPool where there is none left.
std::uint32_t take_pool();
/// Where the pool has its code and entries in this process.
bool map_group_of(std::uint32_t pool);

/// When no entry was given back so far: from the pools, or one whose call was left long ago.
AgentEntry* take_fresh_entry(AgentBlock& block);

constexpr unsigned kLeftAt = 48; ///< the bit of AgentBlock::free from which on it counts
constexpr std::uint64_t kFreeEntry = (std::uint64_t{1} << kLeftAt) - 1;

/// Of those that were given back; null where there is none.
inline AgentEntry* take_free(AgentBlock& block) {
  for (;;) {
    const std::uint64_t free = block.free;
    auto* const entry = reinterpret_cast<AgentEntry*>(free & kFreeEntry);
    if (entry == nullptr) [[unlikely]]
      return nullptr;
    const std::uint64_t rest =
        reinterpret_cast<std::uint64_t>(entry->previous) | (free & ~kFreeEntry);
    if (exchange_on_this_thread(block.free, free, rest)) [[likely]]
      return entry;
  }
}

inline AgentEntry* take_entry(AgentBlock& block) {
  AgentEntry* const entry = take_free(block);
  if (entry == nullptr) [[unlikely]]
    return take_fresh_entry(block);
  return entry;
}

inline void give_back(AgentBlock& block, AgentEntry& entry) {
  entry.state = EntryState::Free;
  for (;;) {
    const std::uint64_t free = block.free;
    entry.previous = reinterpret_cast<AgentEntry*>(free & kFreeEntry);
    const std::uint64_t now_free = reinterpret_cast<std::uint64_t>(&entry) | (free & ~kFreeEntry);
    if (exchange_on_this_thread(block.free, free, now_free)) [[likely]]
      return;
  }
}

/// Behind those whose calls were told as left before it.
inline void put_among_told(AgentBlock& block, AgentEntry& entry) {
  std::uint64_t free;
  do
    free = block.free;
  while (!exchange_on_this_thread(block.free, free, free + (std::uint64_t{1} << kLeftAt)));
  entry.previous = nullptr;
  AgentEntry* last;
  do
    last = block.told_last;
  while (!exchange_on_this_thread(block.told_last, last, &entry));
  if (last != nullptr)
    last->previous = &entry;
  else
    block.told_first = &entry;
  ++block.told;
}

} // namespace sonictrace::agent
