#pragma once

// -c, and calls that are too frequent and too short to be written: counted where they are made.

#include "agent/machine.hpp"

namespace sonictrace::agent {

inline std::uint64_t to_ns(std::uint64_t ticks) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{ticks} * control().ns_per_tick_32 >> 32);
}

inline void add_to_histogram(AgentBlock& block, CallCount& count, std::uint64_t ticks) {
  if (count.histogram == 0) {
    if (block.histograms_used >= kHistogramsOfRing) return;
    count.histogram = ++block.histograms_used;
  }
  auto* const histograms = reinterpret_cast<CallHistogram*>(block.histograms);
  const std::size_t bucket = bucket_of(to_ns(ticks));
  ++histograms[(count.histogram - 1) % kHistogramsOfRing]
        .buckets[bucket < kHistogramBuckets ? bucket : kHistogramBuckets - 1];
}

inline void count_call(AgentBlock& block, std::uint32_t function, std::uint64_t ticks) {
  if (block.counts == 0 || function >= kMaxFunctions) {
    ++block.ring->lost;
    return;
  }
  CallCount& count = reinterpret_cast<CallCount*>(block.counts)[function];
  ++count.calls;
  count.sum_ticks += ticks;
  if (count.least_ticks == 0 || ticks + 1 < count.least_ticks) count.least_ticks = ticks + 1;
  if (ticks > count.most_ticks) count.most_ticks = ticks;
  if (control().wants_histograms != 0) add_to_histogram(block, count, ticks);
}

} // namespace sonictrace::agent
