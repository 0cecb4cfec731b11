#include "agent/threads.hpp"

#include "agent/open_calls.hpp"
#include "agent/ring_writer.hpp"

namespace sonictrace::agent {
namespace {

/// A slot that is being filled; no thread's key, which is an address.
constexpr std::uint64_t kBeingFilled = 2;

ThreadSlot& slot_at(std::uint64_t key, std::size_t probe) {
  return thread_slots()[(thread_slot_of(key) + probe) & (kThreadSlots - 1)];
}

bool enter_into_table(std::uint64_t key, AgentBlock& block) {
  for (std::size_t probe = 0; probe < kThreadProbes; ++probe) {
    ThreadSlot& slot = slot_at(key, probe);
    std::uint64_t found = load(slot.key);
    if (found != 0 && found != kTombstone) continue;
    if (!__atomic_compare_exchange_n(&slot.key, &found, kBeingFilled, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      continue;
    slot.block = reinterpret_cast<std::uint64_t>(&block);
    store(slot.key, key);
    return true;
  }
  return false;
}

/// A ring that nobody uses: its number, or the limit.
std::uint32_t take_ring() {
  const auto limit = static_cast<std::uint32_t>(control().max_rings);
  RingHeader* const rings = ring_headers();
  for (std::uint32_t i = 0; i < limit; ++i) {
    if (load(rings[i].state) != kRingFree) continue;
    std::uint32_t expected = kRingFree;
    if (!__atomic_compare_exchange_n(&rings[i].state, &expected,
                                     static_cast<std::uint32_t>(kRingInUse), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    std::uint32_t used = load(shared().rings_used);
    while (used <= i && !__atomic_compare_exchange_n(&shared().rings_used, &used, i + 1, false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
    return i;
  }
  return limit;
}

/// Its tid, as the tracer has announced it, or as the kernel says. The announcement is taken.
std::uint32_t tid_of(std::uint64_t key) {
  for (std::size_t probe = 0; probe < kThreadProbes; ++probe) {
    ThreadSlot& slot = slot_at(key, probe);
    const std::uint64_t found = load(slot.key);
    if (found == 0) break;
    if (found != (key | kAnnounced)) continue;
    const auto tid = static_cast<std::uint32_t>(slot.block);
    store(slot.key, kTombstone);
    return tid;
  }
  return may_make_calls() ? static_cast<std::uint32_t>(system_call(number::kGettid)) : 0;
}

AgentBlock* begin_thread(std::uint64_t key) {
  const std::uint32_t index = take_ring();
  if (index >= control().max_rings) return nullptr;
  RingHeader& ring = ring_headers()[index];
  // A ring keeps its pools when it changes hands.
  std::uint32_t pool = ring.incarnation == 0 ? kNoPool : ring.first_pool;
  if (pool >= kMaxPools || !map_group_of(pool)) pool = take_pool();
  if (pool == kNoPool) {
    store(ring.state, static_cast<std::uint32_t>(kRingFree));
    return nullptr;
  }
  AgentBlock& block = block_at(index);
  auto* const words = reinterpret_cast<std::uint64_t*>(&block);
  for (std::size_t i = 0; i < sizeof block / sizeof *words; ++i)
    words[i] = 0;
  block.owner = key;
  block.ring = &ring;
  block.data = in_arena<std::uint8_t>(ArenaLayout::kRings + index * kRingStride);
  block.limit = load(ring.tail) + kRingSize;
  block.index = index;
  block.pool = pool;
  block.python_known = now(); // no thread before it, nor a parent's, has had that one
  pools()[pool].used = 0;
  if (control().max_rings <= kMaxCountingRings) {
    block.counts = control().arena + ArenaLayout::kCounts + index * kCountsStride;
    block.histograms = block.counts + kMaxFunctions * sizeof(CallCount);
  }
  ring.first_pool = pool;
  ring.tid = tid_of(key);
  ring.owner = key;
  ring.incarnation = ring.incarnation + 1;
  return &block;
}

/// What the first thread of a fork child that is followed goes on with: the open calls of the
/// thread which called fork(2).
struct Inheritance {
  std::uint64_t owner = 0; ///< 0: there is none
  AgentEntry* top = nullptr;
  std::uint64_t own = 0;
  std::uint32_t depth = 0;
  std::uint32_t call = 0;

  /// To be taken before the child's own block is made, which may be the very same one.
  static Inheritance take() {
    const std::uint32_t from = the_switch().inherits;
    if (from == 0 || from > kMaxRings) return {};
    the_switch().inherits = 0;
    const AgentBlock& parent = block_at(from - 1);
    return {parent.owner, parent.top, parent.own, parent.depth, parent.call};
  }
  void give_to(AgentBlock& block) const {
    if (owner != block.owner) return;
    block.top = top;
    block.own = own;
    block.depth = depth;
    block.call = call;
  }
};

void say_whose_records_follow(AgentBlock& block) {
  const Place place = take_place(block, sizeof(RingRecord));
  if (place.record == nullptr) return;
  *place.record = RingRecord{};
  place.record->time = now();
  place.record->call = block.ring->tid;
  commit(place, RingKind::Thread);
}

} // namespace

AgentBlock* known_thread(std::uint64_t key) {
  for (std::size_t probe = 0; probe < kThreadProbes; ++probe) {
    const ThreadSlot& slot = slot_at(key, probe);
    const std::uint64_t found = load(slot.key);
    if (found == key) return reinterpret_cast<AgentBlock*>(slot.block);
    if (found == 0) return nullptr;
  }
  return nullptr;
}

extern "C" AgentBlock* agent_find_thread(std::uint64_t key) {
  if (AgentBlock* const known = known_thread(key)) return known;
  if (the_switch().is_on == 0 || load(shared().is_over) != 0) return nullptr;
  const Inheritance inheritance = Inheritance::take();
  AgentBlock* const block = begin_thread(key);
  if (block == nullptr) {
    __atomic_fetch_add(&shared().lost, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  // A signal handler may have made calls meanwhile, and a block for them.
  AgentBlock* const other = known_thread(key);
  if (other != nullptr || !enter_into_table(key, *block)) {
    store(block->ring->state, static_cast<std::uint32_t>(kRingEnded));
    if (other == nullptr) __atomic_fetch_add(&shared().lost, 1, __ATOMIC_RELAXED);
    return other;
  }
  inheritance.give_to(*block);
  say_whose_records_follow(*block);
  return block;
}

bool wait_for_room(AgentBlock& block, std::uint64_t position) {
  RingHeader& ring = *block.ring;
  block.limit = load(ring.tail) + kRingSize;
  if (position <= block.limit) return true;
  const std::uint64_t begin = now();
  Patience patience;
  bool has_room = false;
  for (unsigned round = 0;; ++round) {
    block.limit = load(ring.tail) + kRingSize;
    has_room = position <= block.limit;
    if (has_room) break;
    constexpr unsigned kSpins = 200;
    if (round < kSpins) {
      pause();
      continue;
    }
    if (patience.is_over()) break;
    store(ring.is_waiting, std::uint32_t{1});
    if (load(ring.tail) + kRingSize < position) futex_wait(&ring.is_waiting, 1);
    store(ring.is_waiting, std::uint32_t{0});
  }
  block.own += now() - begin;
  if (has_room) return true;
  block.stale_heartbeat = patience.heartbeat();
  block.is_muted = kMutedTracerGone;
  ++ring.lost;
  return false;
}

} // namespace sonictrace::agent
