#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sonictrace/log/call.hpp"

namespace sonictrace::report {

/// The calls of one thread that have ended and are not known to be inside another one, each with a
/// payload: what its picture is made of. A call that ends takes those that were inside of it, as
/// many as Call::children says. Bounded: of many, the oldest are taken together, by the same rule
/// as the log's reader follows, so that a call's children are always whole entries.
///
/// `merge(into, from)` adds the payload of a later call to that of an earlier one.
template <class Payload>
class PendingCalls {
public:
  /// Takes out the last `calls` calls, from the last one on; `take(payload)` is told of each.
  template <class Take>
  void take_last(std::uint32_t calls, Take take) {
    while (calls > 0 && !entries_.empty() && entries_.back().calls <= calls) {
      calls -= entries_.back().calls;
      take(std::move(entries_.back().payload));
      entries_.pop_back();
    }
  }

  template <class Take>
  void take_all(Take take) {
    for (auto& entry : entries_)
      take(std::move(entry.payload));
    entries_.clear();
  }

  /// A call is begun whose end is on another line: what ends from now on may be inside of it.
  void begin(std::uint16_t depth) {
    floors_.resize(depth);
    floors_.push_back(entries_.size());
  }
  /// A call has ended, or is known not to end, that had so many open calls around it.
  void end(std::uint16_t depth) {
    if (floors_.size() > depth) floors_.resize(depth);
  }

  template <class Merge>
  void push(Payload payload, Merge merge) {
    entries_.push_back({1, std::move(payload)});
    const std::size_t floor = floors_.empty() ? 0 : std::min(floors_.back(), entries_.size());
    if (entries_.size() - floor >= kMost) merge_old(floor, merge);
  }

  std::size_t size() const { return entries_.size(); }

  template <class Visit>
  void for_each(Visit visit) {
    for (auto& entry : entries_)
      visit(entry.payload);
  }

private:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::uint64_t kPart = 128;

  struct Entry {
    std::uint32_t calls;
    Payload payload;
  };

  /// See log::EndedCalls::merge_old: a group is at most 1/128 of the calls that came after it.
  template <class Merge>
  void merge_old(std::size_t floor, Merge merge) {
    std::uint64_t newer = 0;
    std::uint64_t part = kPart;
    do {
      std::size_t to = entries_.size();
      newer = 0;
      for (std::size_t from = entries_.size(); from-- > floor;) {
        Entry one = std::move(entries_[from]);
        if (to < entries_.size() && (entries_[to].calls + one.calls) * part <= newer) {
          merge(one.payload, std::move(entries_[to].payload));
          entries_[to] = {entries_[to].calls + one.calls, std::move(one.payload)};
          continue;
        }
        if (to < entries_.size()) newer += entries_[to].calls;
        entries_[--to] = std::move(one);
      }
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(floor),
                     entries_.begin() + static_cast<std::ptrdiff_t>(to));
      part /= 2;
    } while (entries_.size() - floor > kMost / 4 * 3 && part > 0);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> floors_; ///< of the open calls, from the outermost one on
};

} // namespace sonictrace::report
