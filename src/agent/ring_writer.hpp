#pragma once

// The writing end of a ring: see wire/ring.hpp.

#include "agent/machine.hpp"

namespace sonictrace::agent {

/// A place in the ring that was taken: to be filled, then committed.
struct Place {
  RingRecord* record = nullptr; ///< null: there is none, the tracer is gone
  std::uint64_t position = 0;
  std::size_t size = 0;

  std::byte* payload() const { return reinterpret_cast<std::byte*>(record + 1); }
};

/// A record with so much behind its header is the largest there is.
inline std::size_t most_payload(std::size_t size, std::size_t besides = 0) {
  const std::size_t most = kRingSpill - sizeof(RingRecord) - 4096 - besides;
  return size < most ? size : most;
}

constexpr std::size_t rounded(std::size_t size) {
  return (size + kRingAlignment - 1) & ~(kRingAlignment - 1);
}

/// Waits until `position` may be written, or the tracer is gone: then the thread is muted.
bool wait_for_room(AgentBlock& block, std::uint64_t position);

/// `size`: a multiple of 8, at most kRingSpill.
inline Place take_place(AgentBlock& block, std::size_t size) {
  for (;;) {
    const std::uint64_t head = block.ring->head;
    if (head + size > block.limit) [[unlikely]] {
      if (!wait_for_room(block, head + size)) return {};
      continue;
    }
    if (!exchange_on_this_thread(block.ring->head, head, head + size)) continue;
    return {reinterpret_cast<RingRecord*>(block.data + head % kRingSize), head, size};
  }
}

/// Gives back what a place turned out not to need, unless a signal handler has taken the next one.
inline void shrink(AgentBlock& block, Place& place, std::size_t size) {
  if (size < place.size &&
      exchange_on_this_thread(block.ring->head, place.position + place.size, place.position + size))
    place.size = size;
}

inline void commit(const Place& place, RingKind kind) {
  store(place.record->commit, commit_word(place.position, kind, place.size));
}

} // namespace sonictrace::agent
