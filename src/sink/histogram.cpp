#include "sink/histogram.hpp"

#include <algorithm>

namespace sonictrace {

void Histogram::grow_to(std::size_t bucket) {
  const std::size_t octave = bucket / wire::kBucketsOfPower * wire::kBucketsOfPower;
  if (counts_.empty()) first_ = octave;
  if (octave < first_) {
    counts_.insert(counts_.begin(), first_ - octave, 0);
    first_ = octave;
  }
  const std::size_t end = octave + wire::kBucketsOfPower;
  if (end > first_ + counts_.size()) counts_.resize(end - first_);
}

void Histogram::add(const Histogram& other) {
  if (other.total_ == 0) return;
  grow_to(other.first_);
  grow_to(other.first_ + other.counts_.size() - 1);
  for (std::size_t at = 0; at < other.counts_.size(); ++at)
    counts_[other.first_ - first_ + at] += other.counts_[at];
  total_ += other.total_;
  largest_ = std::max(largest_, other.largest_);
}

void Histogram::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  total_ = 0;
  largest_ = 0;
}

std::uint64_t Histogram::percentile(unsigned percent) const {
  // Rounded up: of 10 values, the 90th percentile is the ninth and the 99th the tenth.
  const std::uint64_t wanted = total_ / 100 * percent + (total_ % 100 * percent + 99) / 100;
  if (wanted == total_) return largest_; // the one that is known exactly
  std::uint64_t seen = 0;
  for (std::size_t at = 0; at < counts_.size(); ++at) {
    seen += counts_[at];
    if (seen >= wanted && seen > 0) return std::min(wire::middle_of_bucket(first_ + at), largest_);
  }
  return 0;
}

} // namespace sonictrace
