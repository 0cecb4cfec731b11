#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sonictrace::report {

/// The longest few of many. `Item` has length_ns() and, to tell equal ones apart, operator< on what
/// else it is.
template <class Item>
class Longest {
public:
  explicit Longest(std::size_t limit) : limit_(limit) {}

  void add(Item item) {
    if (limit_ == 0) return;
    if (items_.size() == limit_) {
      if (!is_before(item, items_.front())) return;
      std::pop_heap(items_.begin(), items_.end(), is_before);
      items_.pop_back();
    }
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), is_before);
  }

  /// The longest one first.
  std::vector<Item> take() {
    std::sort_heap(items_.begin(), items_.end(), is_before);
    return std::move(items_);
  }

private:
  static bool is_before(const Item& a, const Item& b) {
    if (a.length_ns() != b.length_ns()) return a.length_ns() > b.length_ns();
    return a < b;
  }

  std::size_t limit_;
  std::vector<Item> items_; ///< a heap: the shortest is the first
};

} // namespace sonictrace::report
