#pragma once

#include <cstdint>
#include <vector>

#include "report/pending_calls.hpp"
#include "sonictrace/report/timeline.hpp"

namespace sonictrace::report {

/// The slices of one thread while they come, in the order of their ends: each knows how many of
/// those right before it are inside of it. So any of them can be left out later on.
class SliceList {
public:
  void begin(std::uint16_t depth) { pending_.begin(depth); }
  void end(std::uint16_t depth) { pending_.end(depth); }

  /// A call has ended that has so many completed ones right inside; `slice` is null where it is in
  /// no picture itself.
  void add(std::uint32_t children, const Slice* slice) {
    std::uint32_t inside = 0;
    pending_.take_last(children, [&inside](std::uint32_t extent) { inside += extent; });
    if (slice != nullptr) {
      slices_.push_back(*slice);
      slices_.back().inside = inside;
      ++inside;
    }
    pending_.push(inside, [](std::uint32_t& into, std::uint32_t from) { into += from; });
  }

  /// What comes from now on is around none of those that are here.
  void flush() {
    pending_.take_all([](std::uint32_t) {});
    settled_ = slices_.size();
  }

  const std::vector<Slice>& slices() const { return slices_; }

  /// Leaves out those that `keep` refuses; it is asked once of each, in order.
  template <class Keep>
  void filter(Keep keep) {
    std::vector<std::uint32_t> kept_before(slices_.size() + 1);
    std::size_t to = 0;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      kept_before[i] = static_cast<std::uint32_t>(to);
      const Slice slice = slices_[i];
      if (!keep(slice)) continue;
      slices_[to] = slice;
      slices_[to].inside = kept_before[i] - kept_before[i - slice.inside];
      ++to;
    }
    kept_before.back() = static_cast<std::uint32_t>(to);
    slices_.resize(to);
    std::size_t at = settled_;
    settled_ = kept_before[settled_];
    pending_.for_each([&](std::uint32_t& extent) {
      const auto next = at + extent;
      extent = kept_before[next] - kept_before[at];
      at = next;
    });
  }

  /// In the order of the beginnings, with their depths, none reaching out of the one around it or
  /// into the next.
  std::vector<Slice> take_nested();

private:
  std::vector<Slice> slices_;
  PendingCalls<std::uint32_t> pending_; ///< how many slices each of them is
  std::size_t settled_ = 0;             ///< slices in front of those of pending_
};

} // namespace sonictrace::report
