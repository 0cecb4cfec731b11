#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonictrace {

/// How often each duration was seen, to within 1.6 %: log-linear, 32 buckets for each power of two,
/// and a value is given back as the middle of its bucket. Values below 64 are exact. Memory is
/// taken for the powers of two between the least and the largest value only: 256 bytes for each.
class Histogram {
public:
  void add(std::uint64_t value) {
    const std::size_t bucket = bucket_of(value);
    if (bucket < first_ || bucket >= first_ + counts_.size()) grow_to(bucket);
    ++counts_[bucket - first_];
    ++total_;
    if (value > largest_) largest_ = value;
  }
  void add(const Histogram& other);
  void clear();

  std::uint64_t total() const { return total_; }
  std::uint64_t largest() const { return largest_; }
  /// The least value that so many hundredths of all values do not exceed; 0 where there are none.
  std::uint64_t percentile(unsigned percent) const;

  static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < kExact) return static_cast<std::size_t>(value);
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - kBits - 1;
    // value >> shift is between 32 and 63.
    return shift * kBuckets + static_cast<std::size_t>(value >> shift);
  }
  static constexpr std::uint64_t middle_of(std::size_t bucket) {
    if (bucket < kExact) return bucket;
    const std::size_t shift = bucket / kBuckets - 1;
    const std::uint64_t least = std::uint64_t{kBuckets + bucket % kBuckets} << shift;
    return least + (std::uint64_t{1} << shift) / 2;
  }

private:
  static constexpr std::size_t kBits = 5;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  static constexpr std::uint64_t kExact = 2 * kBuckets;

  void grow_to(std::size_t bucket);

  std::size_t first_ = 0; ///< the bucket that counts_ begins with, a multiple of kBuckets
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t largest_ = 0;
};

} // namespace sonictrace
