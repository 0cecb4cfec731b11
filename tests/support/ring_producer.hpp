#pragma once

#include <linux/memfd.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "engine/inline/arena.hpp"
#include "engine/inline/shared_memory.hpp"

namespace sonictrace {

/// An arena on a memfd of its own.
inline std::shared_ptr<Arena> make_arena(bool counting = false) {
  const UniqueFd memory(::memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  auto arena = Arena::map(memory, counting);
  return arena ? *arena : nullptr;
}

/// Writes to a ring as the agent does, in a thread of the test.
class RingProducer {
public:
  struct Place {
    std::uint64_t position;
    std::size_t size;
  };
  struct Call {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t function = 0;
    std::uint8_t flags = wire::kRingEntryWords | wire::kRingResultWords;
    std::uint16_t depth = 1;
    std::uint64_t where = 0x401000;
  };

  RingProducer(std::shared_ptr<Arena> arena, std::uint32_t tid)
      : arena_(std::move(arena)), index_(take_ring()), header_(arena_->ring(index_)),
        data_(arena_->ring_data(index_)) {
    limit_ = load_shared(header_.tail) + wire::kRingSize;
    header_.tid = tid;
    store_shared(header_.incarnation, header_.incarnation + 1);
  }

  std::uint32_t index() const { return index_; }
  wire::RingHeader& header() const { return header_; }

  /// Waits for room.
  Place take(std::size_t size) {
    while (header_.head + size > limit_) {
      limit_ = load_shared(header_.tail) + wire::kRingSize;
      if (header_.head + size <= limit_) break;
      store_shared(header_.is_waiting, std::uint32_t{1});
      std::this_thread::yield();
    }
    store_shared(header_.is_waiting, std::uint32_t{0});
    const Place place = {header_.head, size};
    store_shared(header_.head, place.position + size);
    return place;
  }
  bool has_room(std::size_t size) const {
    return header_.head + size <= load_shared(header_.tail) + wire::kRingSize;
  }
  std::byte* at(const Place& place) const { return data_ + place.position % wire::kRingSize; }
  void commit(const Place& place, wire::RingKind kind) {
    store_shared(*reinterpret_cast<std::uint64_t*>(at(place)),
                 wire::commit_word(place.position, kind, place.size));
  }
  /// Everything but the commit word.
  void fill(const Place& place, wire::RingRecord record, std::span<const std::uint64_t> entry,
            std::span<const std::uint64_t> result) {
    record.entry_size = static_cast<std::uint32_t>(entry.size_bytes());
    record.result_size = static_cast<std::uint32_t>(result.size_bytes());
    constexpr std::size_t kCommit = sizeof record.commit;
    std::memcpy(at(place) + kCommit, reinterpret_cast<const std::byte*>(&record) + kCommit,
                sizeof record - kCommit);
    std::byte* const payload = at(place) + sizeof record;
    if (!entry.empty()) std::memcpy(payload, entry.data(), entry.size_bytes());
    if (!result.empty())
      std::memcpy(payload + entry.size_bytes(), result.data(), result.size_bytes());
  }

  void write(wire::RingKind kind, const wire::RingRecord& record,
             std::span<const std::uint64_t> entry = {},
             std::span<const std::uint64_t> result = {}) {
    const Place place = take(sizeof record + entry.size_bytes() + result.size_bytes());
    fill(place, record, entry, result);
    commit(place, kind);
  }
  static wire::RingRecord record_of(const Call& call) {
    wire::RingRecord record = {};
    record.time = call.end;
    record.begin = call.begin;
    record.ticks = call.end - call.begin;
    record.where = call.where;
    record.function = call.function;
    record.depth = call.depth;
    record.flags = call.flags;
    return record;
  }
  void call(const Call& call, std::span<const std::uint64_t> entry = {},
            std::span<const std::uint64_t> result = {}) {
    write(wire::RingKind::Call, record_of(call), entry, result);
  }

private:
  std::uint32_t take_ring() {
    for (std::uint32_t ring = 0;; ++ring) {
      std::uint32_t expected = wire::kRingFree;
      if (!std::atomic_ref(arena_->ring(ring).state)
               .compare_exchange_strong(expected, static_cast<std::uint32_t>(wire::kRingInUse)))
        continue;
      std::atomic_ref used(arena_->control().rings_used);
      std::uint32_t known = used;
      while (known <= ring && !used.compare_exchange_weak(known, ring + 1)) {}
      return ring;
    }
  }

  std::shared_ptr<Arena> arena_;
  std::uint32_t index_;
  wire::RingHeader& header_;
  std::byte* data_;
  std::uint64_t limit_;
};

} // namespace sonictrace
