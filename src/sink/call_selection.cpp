#include "sink/call_selection.hpp"

#include <algorithm>

namespace sonictrace {

CallSelection::Counts& CallSelection::new_counts_of(FunctionId function) {
  if (function >= kMaxFunctions) return unknown_;
  counts_.resize(std::max<std::size_t>(function + std::size_t{1}, counts_.size() * 2));
  return counts_[function];
}

void CallSelection::start_thinning() {
  is_thinning_ = true;
  takes_all_ = false;
  for (std::size_t function = 0; function < counts_.size(); ++function)
    if (counts_[function].written >= kThinFirst)
      newly_thinned_.push_back(static_cast<FunctionId>(function));
}

bool CallSelection::leaves_out_frequent(FunctionId function, std::uint64_t duration_ns) {
  if (!thins(function) || duration_ns >= kThinShort) return false;
  count_thinned(function, 1, duration_ns);
  return true;
}

void CallSelection::count_thinned(FunctionId function, std::uint64_t calls, std::uint64_t time_ns) {
  if (calls == 0) return;
  Counts& counts = counts_of(function);
  if (!counts.has_thinned) thinned_.push_back(function);
  counts.has_thinned = true;
  counts.thinned_calls += calls;
  counts.thinned_ns += time_ns;
  left_out_.thinned_calls += calls;
}

std::vector<CallSelection::Thinned> CallSelection::take_thinned() {
  std::sort(thinned_.begin(), thinned_.end());
  std::vector<Thinned> taken;
  taken.reserve(thinned_.size());
  for (const FunctionId function : thinned_) {
    Counts& counts = counts_of(function);
    taken.push_back({function, counts.thinned_calls, counts.thinned_ns});
    counts.has_thinned = false;
    counts.thinned_calls = 0;
    counts.thinned_ns = 0;
  }
  thinned_.clear();
  return taken;
}

} // namespace sonictrace
