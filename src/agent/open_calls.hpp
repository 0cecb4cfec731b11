#pragma once

// A thread's open calls: their entries, taken from its pools, and the list of them in the order in
// which they were opened.
//
// Signal handlers may run at any instruction and make calls themselves. The entries of these they
// give back before they return, in the opposite order, or they never come back (siglongjmp): so the
// list of free ones needs no more than to be changed by one store. Entries of calls that were left
// move from list to list at other times, and what moves them may be interrupted by what moves them
// too: who has lost such a race sees it by the exchange, and leaves it at that.

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

inline AgentEntry* take_entry(AgentBlock& block) {
  AgentEntry* const entry = block.free;
  if (entry == nullptr) [[unlikely]]
    return take_fresh_entry(block);
  block.free = entry->previous;
  return entry;
}

inline void give_back(AgentBlock& block, AgentEntry& entry) {
  entry.state = EntryState::Free;
  entry.previous = block.free;
  block.free = &entry;
}

/// Behind those whose calls were told as left before it.
inline void put_among_told(AgentBlock& block, AgentEntry& entry) {
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
