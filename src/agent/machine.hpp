#pragma once

// What the agent asks of the machine and of the kernel. Nothing here touches errno or a vector
// register.

#include <cstddef>
#include <cstdint>

#include "sonictrace/wire/agent_abi.hpp"

#define AGENT_HIDDEN __attribute__((visibility("hidden")))

namespace sonictrace::agent {

using namespace wire;

/// The private data, right behind the text's room (agent.ld).
extern "C" AGENT_HIDDEN std::byte agent_private[];

inline AgentControl& control() {
  return *reinterpret_cast<AgentControl*>(agent_private + AgentPrivate::kControlAt);
}
inline AgentSwitch& the_switch() {
  return *reinterpret_cast<AgentSwitch*>(agent_private + AgentPrivate::kSwitchAt);
}
inline ThreadSlot* thread_slots() {
  return reinterpret_cast<ThreadSlot*>(agent_private + AgentPrivate::kThreadsAt);
}
inline AgentBlock& block_at(std::uint32_t index) {
  return reinterpret_cast<AgentBlock*>(agent_private + AgentPrivate::kBlocksAt)[index];
}

/// Of the ring with this number.
inline PythonSeen* python_seen(std::uint32_t index) {
  return reinterpret_cast<PythonSeen*>(agent_private + AgentPrivate::kPythonAt) +
         index * kPythonSeen;
}

template <class T>
T* in_arena(std::uint64_t offset) {
  return reinterpret_cast<T*>(control().arena + offset);
}
inline SharedControl& shared() { return *in_arena<SharedControl>(ArenaLayout::kControl); }
inline RingHeader* ring_headers() { return in_arena<RingHeader>(ArenaLayout::kRingHeaders); }
inline PoolInfo* pools() { return in_arena<PoolInfo>(ArenaLayout::kPools); }
inline std::uint8_t* function_flags() {
  return in_arena<std::uint8_t>(ArenaLayout::kFunctionFlags);
}
/// See OpenCall.
inline OpenCall& open_call_of(const AgentEntry& entry) {
  const auto distance = reinterpret_cast<std::uint64_t>(&entry) - control().region;
  return *in_arena<OpenCall>(ArenaLayout::kOpenCalls + distance * 4);
}
inline std::uint64_t thunk_of(const AgentEntry& entry) {
  const auto at = reinterpret_cast<std::uint64_t>(&entry);
  const std::uint64_t group = at & ~std::uint64_t{kGroupStride - 1};
  return group + (at - group - kGroupCode) / (sizeof(AgentEntry) / kThunkSize);
}
/// What a thunk's call puts on the stack.
inline std::uint64_t return_of(const AgentEntry& entry) {
  return thunk_of(entry) + kThunkReturnsAt;
}
inline bool is_thunk(std::uint64_t address) {
  return address - control().region < control().region_end - control().region;
}
/// The address that a return thunk, or code in it, stands for: where its call really returns to.
/// Any other address is as it is.
inline std::uint64_t original_of(std::uint64_t address) {
  if (!is_thunk(address)) return address;
  const std::uint64_t distance = address - control().region;
  const std::uint64_t in_group = distance % kGroupStride;
  const std::uint64_t thunk = in_group / kThunkSize;
  // There is no thunk 0; behind the code are the entries.
  if (thunk == 0 || in_group >= kGroupCode) return address;
  const std::uint64_t group = distance / kGroupStride;
  if (control().group_is_mapped[group % kMaxGroups] == 0) return address;
  const auto* const entries = reinterpret_cast<const AgentEntry*>(address - in_group + kGroupCode);
  return entries[thunk].return_address;
}

inline long system_call(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                        std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
  long result;
  register std::uint64_t r10 asm("r10") = d;
  register std::uint64_t r8 asm("r8") = e;
  register std::uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
inline bool has_failed(long result) { return result < 0 && result > -4096; }

namespace number { // arch/x86/entry/syscalls/syscall_64.tbl
constexpr long kMmap = 9, kRtSigprocmask = 14, kMremap = 25, kSigaltstack = 131, kGettid = 186,
               kFutex = 202;
} // namespace number

struct TimeSpec {
  std::int64_t seconds, nanoseconds;
};

/// Ticks of the agent's clock. Where there is no such counter, no agent is injected.
inline std::uint64_t now() {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

/// What it is known by: its %fs:0, which points to itself (psABI, TLS).
inline std::uint64_t this_thread() {
  std::uint64_t key;
  asm("mov %%fs:0, %0" : "=r"(key));
  return key;
}

template <class T>
T load(const T& from) {
  T value; // clang knows the other form of numbers and pointers only
  __atomic_load(&from, &value, __ATOMIC_ACQUIRE);
  return value;
}
template <class T>
void store(T& to, T value) {
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}

inline void pause() { asm volatile("pause"); }

inline bool may_make_calls() { return load(control().makes_no_calls) == 0; }

/// Waits while `*word` is `value`, two milliseconds at most (futex(2), shared between processes).
inline void futex_wait(const std::uint32_t* word, std::uint32_t value,
                       std::int64_t nanoseconds = 2'000'000) {
  if (!may_make_calls()) return pause();
  const TimeSpec timeout = {0, nanoseconds};
  constexpr int kWait = 0;
  system_call(number::kFutex, reinterpret_cast<std::uint64_t>(word), kWait, value,
              reinterpret_cast<std::uint64_t>(&timeout));
}

/// Against signal handlers of this thread only, which is all that can interfere; without the bus
/// lock it costs as much as a store.
template <class T>
inline bool exchange_on_this_thread(T& at, T expected, T wanted) {
  static_assert(sizeof(T) == sizeof(std::uint64_t));
  bool done;
  asm volatile("cmpxchgq %3, %1"
               : "=@ccz"(done), "+m"(at), "+a"(expected)
               : "r"(wanted)
               : "memory");
  return done;
}

/// Whether the tracer still shows signs of life: asked again and again while one waits for it.
class Patience {
public:
  Patience() : heartbeat_(load(shared().heartbeat)), since_(now()) {}
  bool is_over() {
    if (load(shared().is_over) != 0) return true;
    const std::uint64_t heartbeat = load(shared().heartbeat);
    if (heartbeat != heartbeat_) {
      heartbeat_ = heartbeat;
      since_ = now();
      return false;
    }
    return now() - since_ > control().heartbeat_ticks;
  }
  std::uint64_t heartbeat() const { return heartbeat_; }

private:
  std::uint64_t heartbeat_;
  std::uint64_t since_;
};

} // namespace sonictrace::agent
