#include "engine/inline/arena_readers.hpp"

#include <algorithm>

#include "engine/inline/open_call_reader.hpp"
#include "engine/inline/shared_memory.hpp"

namespace sonictrace {
namespace {

/// Less than this of a ring's memory is left to its next thread: to give it back costs more.
constexpr std::uint64_t kWorthReleasing = std::uint64_t{64} * 1024;

} // namespace

void ArenaReaders::look(std::uint64_t now, std::uint64_t patience) {
  slots_.resize(std::max(slots_.size(), rings_used()));
  for (std::uint32_t ring = 0; ring < slots_.size(); ++ring)
    look_at(ring);
  for_each([&](RingReader& reader) { reader.look(now, patience); });
}

std::size_t ArenaReaders::rings_used() const {
  return std::min<std::size_t>(load_shared(arena_->control().rings_used), arena_->max_rings());
}

void ArenaReaders::look_at(std::uint32_t ring) {
  Slot& slot = slots_[ring];
  const wire::RingHeader& header = arena_->ring(ring);
  // Counted up last, when the ring is the thread's.
  const std::uint32_t incarnation = load_shared(header.incarnation);
  if (incarnation == slot.last_incarnation) return;
  if (load_shared(header.state) == wire::kRingFree) return;
  slot.last_incarnation = incarnation;
  if (slot.open) { // nobody has told that the last thread is gone: it is its own fault
    add_sums(slot.open->reader);
    slot.open->reader.publish();
  } else {
    active_.push_back(ring);
  }
  slot.open = std::make_unique<OpenRing>(arena_, ring, numbers_->of(*arena_, ring, incarnation));
  if (arena_->is_counting()) slot.open->counts.emplace(*arena_, ring);
}

void ArenaReaders::add_sums(const RingReader& reader) {
  calls_ += reader.calls();
  lost_ += reader.lost();
  left_out_ += reader.left_out();
}

void ArenaReaders::read_counts(const KnownFunctions& functions, const TickClock& clock,
                               std::uint64_t time_ns, BatchWriter& out) {
  for (const std::uint32_t ring : active_) {
    OpenRing& open = *slots_[ring].open;
    if (open.counts)
      calls_ += open.counts->read(open.reader.thread(), functions, clock, time_ns, out);
  }
}

void ArenaReaders::free_ended(const KnownFunctions& functions, const TickClock& clock,
                              std::uint64_t now, BatchWriter& out) {
  std::erase_if(active_, [&](std::uint32_t ring) {
    if (load_shared(arena_->ring(ring).state) != wire::kRingEnded) return false;
    OpenRing& open = *slots_[ring].open;
    // Once more: it may have written until its end, which came behind the last look.
    if (open.reader.look(now, 0) != RingReader::State::Empty) return false;
    if (open.counts)
      calls_ +=
          open.counts->read(open.reader.thread(), functions, clock, clock.realtime_ns(now), out);
    free_ring(ring);
    return true;
  });
}

void ArenaReaders::free_ring(std::uint32_t ring) {
  Slot& slot = slots_[ring];
  RingReader& reader = slot.open->reader;
  add_sums(reader);
  reader.publish();
  slot.told_damage |= reader.is_damaged();
  if (reader.position() - slot.released_at >= kWorthReleasing || slot.open->counts) {
    arena_->release_ring(ring);
    slot.released_at = reader.position();
  }
  forget_open_calls(*arena_, ring);
  slot.open.reset();
  store_shared(arena_->ring(ring).state, static_cast<std::uint32_t>(wire::kRingFree));
}

void ArenaReaders::end_all() {
  for (std::uint32_t ring = 0; ring < rings_used(); ++ring)
    store_shared(arena_->ring(ring).state, static_cast<std::uint32_t>(wire::kRingEnded));
}

std::uint64_t ArenaReaders::calls() const {
  std::uint64_t sum = calls_;
  for (const std::uint32_t ring : active_)
    sum += slots_[ring].open->reader.calls();
  return sum;
}

std::uint64_t ArenaReaders::lost() const {
  std::uint64_t sum = lost_ + std::min(load_shared(arena_->control().lost), kMostBelieved);
  for (const std::uint32_t ring : active_)
    sum += slots_[ring].open->reader.lost();
  return sum;
}

LeftOutCalls ArenaReaders::left_out() const {
  LeftOutCalls sum = left_out_;
  for (const std::uint32_t ring : active_)
    sum += slots_[ring].open->reader.left_out();
  return sum;
}

std::size_t ArenaReaders::take_damaged() {
  std::size_t found = 0;
  for (const std::uint32_t ring : active_) {
    Slot& slot = slots_[ring];
    if (slot.told_damage || !slot.open->reader.is_damaged()) continue;
    slot.told_damage = true;
    ++found;
  }
  return found;
}

} // namespace sonictrace
