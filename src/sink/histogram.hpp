#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sonictrace/wire/histogram.hpp"

namespace sonictrace {

/// How often each duration was seen, in the buckets of wire/histogram.hpp: a value is given back as
/// the middle of its bucket. Memory is taken for the powers of two between the least and the
/// largest value only: 256 bytes for each.
class Histogram {
public:
  void add(std::uint64_t value) {
    add_bucket(wire::bucket_of(value), 1);
    note_largest(value);
  }
  /// So many values of one bucket, of which the largest is not told. A bucket that there is not
  /// counts nothing.
  void add_bucket(std::size_t bucket, std::uint64_t count) {
    if (bucket < first_ || bucket >= first_ + counts_.size()) {
      if (bucket >= kAllBuckets) return;
      grow_to(bucket);
    }
    counts_[bucket - first_] += count;
    total_ += count;
  }
  void note_largest(std::uint64_t value) {
    if (value > largest_) largest_ = value;
  }
  void add(const Histogram& other);
  void clear();

  std::uint64_t total() const { return total_; }
  std::uint64_t largest() const { return largest_; }
  /// The least value that so many hundredths of all values do not exceed; 0 where there are none.
  std::uint64_t percentile(unsigned percent) const;

private:
  static constexpr std::size_t kAllBuckets = wire::bucket_of(~std::uint64_t{0}) + 1;

  void grow_to(std::size_t bucket);

  std::size_t first_ = 0; ///< the bucket that counts_ begins with, a multiple of kBucketsOfPower
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t largest_ = 0;
};

} // namespace sonictrace
