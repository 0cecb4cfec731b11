#include "agent/open_calls.hpp"

#include "agent/safe_memory.hpp"

namespace sonictrace::agent {
namespace {

/// So many entries of calls that were left may wait before one of them is used again.
constexpr std::uint32_t kMostTold = 16384;

bool add_on_this_thread(std::uint32_t& counter, std::uint32_t expected) {
  bool done;
  asm volatile("cmpxchgl %3, %1"
               : "=@ccz"(done), "+m"(counter), "+a"(expected)
               : "r"(expected + 1)
               : "memory");
  return done;
}

/// Whether somebody may return through an entry whose call has not been seen to return.
bool may_return(AgentBlock& block, const AgentEntry& entry) {
  const EntryState state = load(entry.state);
  if (state == EntryState::Returning) return true;
  if (state != EntryState::Open && state != EntryState::Told) return false;
  std::uint64_t word = 0;
  return SafeMemory(block).read_word(entry.slot, word) && word == return_of(entry);
}

/// The oldest of the entries whose calls were left, if its slot holds something else by now. A
/// stack that somebody has copied away (coroutines that share one) is back in its place before a
/// call on it returns, so that only an entry which nobody has put back for thousands of others is
/// taken.
AgentEntry* take_told(AgentBlock& block) {
  AgentEntry* const oldest = block.told_first;
  if (oldest == nullptr) return nullptr;
  AgentEntry* const next = oldest->previous;
  if (next == nullptr) return nullptr; // the last one stays: another is put behind it
  if (!exchange_on_this_thread(block.told_first, oldest, next)) return nullptr;
  --block.told;
  if (!may_return(block, *oldest)) return oldest; // or it has returned after all
  put_among_told(block, *oldest);
  return nullptr;
}

} // namespace

bool map_group_of(std::uint32_t pool) {
  const std::uint32_t group = pool / kPoolsOfGroup;
  std::uint8_t& state = control().group_is_mapped[group];
  constexpr std::uint8_t kUnmapped = 0, kMapped = 1, kBeingMapped = 2, kFailed = 3;
  for (;;) {
    std::uint8_t known = load(state);
    if (known == kMapped) return true;
    if (known == kFailed) return false;
    if (known == kUnmapped && __atomic_compare_exchange_n(&state, &known, kBeingMapped, false,
                                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      break;
    pause();
  }
  if (!may_make_calls()) {
    store(state, kUnmapped);
    return false;
  }
  const std::uint64_t code = control().region + group * kGroupStride;
  constexpr std::uint64_t kReadWrite = 3, kPrivateAnonymousFixed = 0x2 | 0x20 | 0x10 | 0x4000;
  constexpr std::uint64_t kMayMove = 1, kFixed = 2;
  // mremap(2): with an old size of 0 a shared mapping is mapped a second time.
  const bool done =
      !has_failed(system_call(number::kMmap, code + kGroupCode, kGroupEntries, kReadWrite,
                              kPrivateAnonymousFixed, ~std::uint64_t{0})) &&
      !has_failed(system_call(number::kMremap, control().thunk_template, 0, kGroupCode,
                              kMayMove | kFixed, code));
  store(state, done ? kMapped : kFailed);
  return done;
}

bool is_of_this_session(const AgentEntry& entry) {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(&entry) - control().region;
  const std::uint64_t number = (offset % kGroupStride - kGroupCode) / sizeof(AgentEntry);
  const auto pool =
      static_cast<std::uint32_t>(offset / kGroupStride * kPoolsOfGroup + number / kEntriesOfPool);
  return pool >= control().first_pool && pool < load(shared().pools_used) && pool < kMaxPools &&
         number % kEntriesOfPool < load(pools()[pool].used);
}

std::uint32_t take_pool() {
  const std::uint32_t pool = __atomic_fetch_add(&shared().pools_used, 1, __ATOMIC_ACQ_REL);
  if (pool >= kMaxPools) {
    store(shared().pools_used, static_cast<std::uint32_t>(kMaxPools));
    return kNoPool;
  }
  pools()[pool].next = kNoPool;
  pools()[pool].used = 0;
  return map_group_of(pool) ? pool : kNoPool;
}

AgentEntry* take_fresh_entry(AgentBlock& block) {
  if (block.told > kMostTold)
    if (AgentEntry* const entry = take_told(block)) return entry;
  for (;;) {
    const std::uint32_t number = block.pool_used;
    if (number < kEntriesOfPool) {
      if (!add_on_this_thread(block.pool_used, number)) continue;
      // The first of each group has no thunk: its place is that of the jump out.
      if (number == 0 && block.pool % kPoolsOfGroup == 0) continue;
      AgentEntry& entry = entry_of(block.pool, number);
      store(open_call_of(entry).state, std::uint32_t{0});
      store(pools()[block.pool].used, number + 1);
      // Of an earlier session, or of a thread that was there before: its turn will come.
      if (may_return(block, entry)) [[unlikely]]
        continue;
      return &entry;
    }
    std::uint32_t next = pools()[block.pool].next;
    if (next >= kMaxPools || !map_group_of(next)) {
      next = take_pool();
      if (next == kNoPool) return nullptr;
      store(pools()[block.pool].next, next);
    }
    pools()[next].used = 0;
    block.pool = next;
    block.pool_used = 0;
  }
}

} // namespace sonictrace::agent
