#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sonictrace/wire/histogram.hpp"

namespace sonictrace::report {

/// How often each duration was seen, in the log-linear buckets of wire/histogram.hpp: a value is
/// given back as the middle of its bucket, to within 1.6 %. Two of them added up are that of all
/// values, whatever the order. Memory is taken for the powers of two between the least and the
/// largest value only: 256 bytes for each.
class DurationHistogram {
public:
  static constexpr std::size_t kBuckets = wire::bucket_of(~std::uint64_t{0}) + 1;

  void add(std::uint64_t value) {
    const std::size_t bucket = wire::bucket_of(value);
    if (bucket - first_ >= counts_.size()) grow_to(bucket);
    ++counts_[bucket - first_];
    ++total_;
    if (value > largest_) largest_ = value;
    if (value < least_) least_ = value;
  }
  void add(const DurationHistogram& other);
  /// What for_each, least() and largest() gave, put back; bounds last.
  void add_bucket(std::size_t bucket, std::uint64_t count);
  void set_bounds(std::uint64_t least, std::uint64_t largest) {
    if (total_ == 0) return;
    least_ = least;
    largest_ = largest < least ? least : largest; // quantile() clamps to them
  }

  std::uint64_t total() const { return total_; }
  std::uint64_t largest() const { return largest_; }               ///< exact; 0 without values
  std::uint64_t least() const { return total_ == 0 ? 0 : least_; } ///< exact
  /// The least value that so many thousandths of all values do not exceed; 0 where there are none.
  /// Never beyond the least and the largest.
  std::uint64_t quantile(unsigned per_mille) const;

  /// Calls with (bucket, count) for each bucket that is not empty, from the shortest durations on.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visit(first_ + i, counts_[i]);
  }

private:
  void grow_to(std::size_t bucket);

  std::size_t first_ = 0; ///< the bucket that counts_ begins with, a multiple of kBucketsOfPower
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t least_ = ~std::uint64_t{0};
};

} // namespace sonictrace::report
