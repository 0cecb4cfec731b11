#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonictrace {

// Access to memory that a traced process may write at any time. Each value is read once.

template <class T>
T load_shared(const T& from) {
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}
template <class T>
void store_shared(T& to, T value) {
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}

/// What is looked at later is the copy: the compiler can't know that it is the same, and read the
/// original once more.
inline void copy_shared(void* to, const void* from, std::size_t size) {
  std::memcpy(to, from, size);
  std::atomic_signal_fence(std::memory_order_acq_rel);
  asm volatile("" : : "r"(to) : "memory");
}

/// Counters of the process that grow by more than this at once are wrong.
constexpr std::uint64_t kMostBelieved = std::uint64_t{1} << 48;

} // namespace sonictrace
