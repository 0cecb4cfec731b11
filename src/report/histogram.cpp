#include "sonictrace/report/histogram.hpp"

#include <algorithm>

namespace sonictrace::report {

void DurationHistogram::grow_to(std::size_t bucket) {
  constexpr std::size_t kStep = wire::kBucketsOfPower;
  const std::size_t low = bucket / kStep * kStep;
  if (counts_.empty()) first_ = low;
  const std::size_t first = std::min(first_, low);
  const std::size_t end = std::max(first_ + counts_.size(), low + kStep);
  std::vector<std::uint64_t> grown(end - first);
  std::copy(counts_.begin(), counts_.end(),
            grown.begin() + static_cast<std::ptrdiff_t>(first_ - first));
  counts_ = std::move(grown);
  first_ = first;
}

void DurationHistogram::add_bucket(std::size_t bucket, std::uint64_t count) {
  if (bucket - first_ >= counts_.size()) grow_to(bucket);
  counts_[bucket - first_] += count;
  total_ += count;
}

void DurationHistogram::add(const DurationHistogram& other) {
  other.for_each([this](std::size_t bucket, std::uint64_t count) { add_bucket(bucket, count); });
  largest_ = std::max(largest_, other.largest_);
  least_ = std::min(least_, other.least_);
}

std::uint64_t DurationHistogram::quantile(unsigned per_mille) const {
  if (total_ == 0) return 0;
  // Without overflow up to 2^54 values.
  const std::uint64_t wanted = std::max<std::uint64_t>(1, (total_ * per_mille + 999) / 1000);
  if (wanted >= total_) return largest_;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted)
      return std::clamp<std::uint64_t>(wire::middle_of_bucket(first_ + i), least_, largest_);
  }
  return largest_;
}

} // namespace sonictrace::report
