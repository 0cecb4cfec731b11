#include "sink/call_selection.hpp"

#include <algorithm>

namespace sonictrace {

CallSelection::Counts& CallSelection::new_counts_of(FunctionId function) {
  if (function >= kMaxFunctions) return unknown_;
  counts_.resize(std::max<std::size_t>(function + std::size_t{1}, counts_.size() * 2));
  return counts_[function];
}

bool CallSelection::leaves_out_frequent(FunctionId function, std::uint64_t duration_ns) {
  if (!thins(function) || duration_ns >= kThinShort) return false;
  Counts& counts = counts_of(function);
  if (counts.thinned_calls == 0) thinned_.push_back(function);
  ++counts.thinned_calls;
  counts.thinned_ns += duration_ns;
  ++left_out_.thinned_calls;
  return true;
}

std::vector<CallSelection::Thinned> CallSelection::take_thinned() {
  std::sort(thinned_.begin(), thinned_.end());
  std::vector<Thinned> taken;
  taken.reserve(thinned_.size());
  for (const FunctionId function : thinned_) {
    Counts& counts = counts_of(function);
    taken.push_back({function, counts.thinned_calls, counts.thinned_ns});
    counts.thinned_calls = 0;
    counts.thinned_ns = 0;
  }
  thinned_.clear();
  return taken;
}

} // namespace sonictrace
