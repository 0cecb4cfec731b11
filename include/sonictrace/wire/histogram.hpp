#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

/// How durations are put into buckets: log-linear, 32 for each power of two, so that a value is
/// known to within 1.6 %. Values below 64 have a bucket each.
constexpr unsigned kHistogramBits = 5;
constexpr std::size_t kBucketsOfPower = std::size_t{1} << kHistogramBits;
constexpr std::uint64_t kExactBelow = 2 * kBucketsOfPower;

constexpr std::size_t bucket_of(std::uint64_t value) {
  if (value < kExactBelow) return static_cast<std::size_t>(value);
  const unsigned width = 64 - static_cast<unsigned>(__builtin_clzll(value));
  const unsigned shift = width - kHistogramBits - 1;
  // value >> shift is between 32 and 63.
  return shift * kBucketsOfPower + static_cast<std::size_t>(value >> shift);
}

/// The middle of a bucket.
constexpr std::uint64_t middle_of_bucket(std::size_t bucket) {
  if (bucket < kExactBelow) return bucket;
  const std::size_t shift = bucket / kBucketsOfPower - 1;
  const std::uint64_t least = std::uint64_t{kBucketsOfPower + bucket % kBucketsOfPower} << shift;
  return least + (std::uint64_t{1} << shift) / 2;
}

} // namespace sonictrace::wire
