#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sonictrace::log {

/// When a call was entered, to tell which of two that have ended was inside the other: a time, or
/// in a log without times the number of the line that it began on.
using EntryKey = std::uint64_t;

/// In a log of whole lines without times, -n tells by blanks in front of a name what is inside
/// what: gives each call a key as if it had been entered before those inside of it. One thread.
class IndentKeys {
public:
  /// Keys are so far apart for each line of the log.
  static constexpr unsigned kShift = 16;

  /// A call has ended on this line, and begun before all further indented ones that are not inside
  /// another one.
  EntryKey key_of(std::uint32_t indent, EntryKey line_key) {
    EntryKey key = line_key;
    while (!levels_.empty() && levels_.back().indent > indent) {
      key = levels_.back().first - 1;
      levels_.pop_back();
    }
    if (levels_.empty() || levels_.back().indent < indent) levels_.push_back({indent, key});
    return key;
  }
  /// What stands further in is inside of something else.
  void cut(std::uint32_t indent) {
    while (!levels_.empty() && levels_.back().indent >= indent)
      levels_.pop_back();
  }
  void clear() { levels_.clear(); }

private:
  struct Level {
    std::uint32_t indent;
    EntryKey first; ///< of the first call there
  };
  std::vector<Level> levels_; ///< further and further in
};

/// Calls of one thread that have ended, and are not known to be inside another one: what a call
/// that ends later may contain. Each is pushed when it has ended, so the one that was entered
/// before is the outer one. Bounded: of many, the oldest are taken together.
class EndedCalls {
public:
  struct Inside {
    std::uint64_t total_ns = 0;
    std::uint32_t calls = 0;
  };

  explicit EndedCalls(std::size_t most = 4096) : most_(most) {}

  std::size_t size() const { return calls_.size(); }
  void clear() { calls_.clear(); }

  /// Takes out those behind the first `floor` that were entered after `key`, or, where the clock is
  /// too coarse to tell, at it and took time.
  Inside take_inside(EntryKey key, std::size_t floor) {
    Inside inside;
    while (calls_.size() > floor && calls_.back().is_inside(key))
      take_last(inside);
    return inside;
  }
  /// Takes out all behind the first `floor`.
  Inside take_all(std::size_t floor) {
    Inside inside;
    while (calls_.size() > floor)
      take_last(inside);
    return inside;
  }
  /// `floor`: what stands before it stays in its place.
  void push(EntryKey key, std::uint64_t total_ns, std::size_t floor) {
    calls_.push_back({key, total_ns, 1});
    if (calls_.size() - floor >= most_) merge_old(floor);
  }

private:
  struct Ended {
    EntryKey key;
    std::uint64_t total_ns;
    std::uint32_t calls;

    bool is_inside(EntryKey outer) const { return key > outer || (key == outer && total_ns > 0); }
  };

  void take_last(Inside& inside) {
    inside.total_ns += calls_.back().total_ns;
    inside.calls += calls_.back().calls;
    calls_.pop_back();
  }
  void merge_old(std::size_t floor);

  std::size_t most_;
  std::vector<Ended> calls_;
};

/// The calls of one function in one thread, to add up the time that passed in it: a call inside
/// another one of the same function must not count twice. Costs little as long as the function is
/// seen not to call itself; only the last few calls are looked at until then.
class SameFunction {
public:
  /// A call has ended: how much of its time calls of the same function inside of it took.
  std::uint64_t take_inside(EntryKey key, std::uint64_t total_ns) {
    if (!is_recursive_) {
      const Last& last = last_[(next_ + kLast - 1) % kLast];
      if (!last.is_inside(key)) {
        last_[next_] = {key, total_ns};
        next_ = (next_ + 1) % kLast;
        return 0;
      }
      begin_recursion();
    }
    const auto inside = recursive_->take_inside(key, 0);
    recursive_->push(key, total_ns, 0);
    return inside.total_ns < total_ns ? inside.total_ns : total_ns;
  }

private:
  static constexpr std::size_t kLast = 4;
  struct Last {
    EntryKey key = 0;
    std::uint64_t total_ns = 0;
    bool is_inside(EntryKey outer) const { return key > outer || (key == outer && total_ns > 0); }
  };

  void begin_recursion();

  std::array<Last, kLast> last_; ///< a ring
  std::uint32_t next_ = 0;
  bool is_recursive_ = false;
  std::unique_ptr<EndedCalls> recursive_;
};

} // namespace sonictrace::log
