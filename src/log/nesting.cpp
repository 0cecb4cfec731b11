#include "log/nesting.hpp"

#include <algorithm>

namespace sonictrace::log {
namespace {

/// Calls that are taken together are at most this part of those that have ended since.
constexpr std::uint64_t kPart = 128;

} // namespace

/// A call that was entered between two of those that are taken together, and ends later, takes none
/// of them: its self time is then too long, by less than 1/128 of the calls inside of it.
void EndedCalls::merge_old(std::size_t floor) {
  std::uint64_t newer = 0;
  std::uint64_t part = kPart;
  do {
    std::size_t to = calls_.size(); // from the newest to the oldest, within the vector
    newer = 0;
    for (std::size_t from = calls_.size(); from-- > floor;) {
      const Ended& one = calls_[from];
      if (to < calls_.size() && (calls_[to].calls + one.calls) * part <= newer) {
        calls_[to] = {one.key, calls_[to].total_ns + one.total_ns, calls_[to].calls + one.calls};
        continue;
      }
      if (to < calls_.size()) newer += calls_[to].calls;
      calls_[--to] = one;
    }
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(floor),
                 calls_.begin() + static_cast<std::ptrdiff_t>(to));
    part /= 2;
  } while (calls_.size() - floor > most_ / 4 * 3 && part > 0);
}

void SameFunction::begin_recursion() {
  is_recursive_ = true;
  recursive_ = std::make_unique<EndedCalls>(1024);
  for (std::size_t i = 0; i < kLast; ++i) {
    const Last& one = last_[(next_ + i) % kLast];
    if (one.key != 0 || one.total_ns != 0) recursive_->push(one.key, one.total_ns, 0);
  }
}

} // namespace sonictrace::log
