#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "engine/inline/arena.hpp"
#include "engine/inline/record_maker.hpp"

namespace sonictrace {

/// Hands out the numbers that make call ids unique in a session. Used by the tracer's thread and by
/// the collector's.
class RingNumbers {
public:
  /// Of a ring, in the time of the thread that has it as its `incarnation`.
  CallNumbers of(const Arena& arena, std::uint32_t ring, std::uint32_t incarnation) {
    const std::scoped_lock lock(mutex_);
    Number& own = numbers_[{&arena, ring}];
    if (own.number == 0 || own.incarnation != incarnation) own = {incarnation, ++last_};
    return {own.number, of_arena(arena)};
  }
  /// For a process whose arena is still to be made.
  std::uint32_t reserve() {
    const std::scoped_lock lock(mutex_);
    return ++last_;
  }
  /// That is its arena.
  void assign(const Arena& arena, std::uint32_t number) {
    const std::scoped_lock lock(mutex_);
    numbers_[{&arena, kWholeArena}].number = number;
  }
  void forget(const Arena& arena) {
    const std::scoped_lock lock(mutex_);
    numbers_.erase(numbers_.lower_bound({&arena, 0}), numbers_.upper_bound({&arena, kWholeArena}));
  }

private:
  static constexpr std::uint32_t kWholeArena = ~std::uint32_t{0};
  struct Number {
    std::uint32_t incarnation = 0;
    std::uint32_t number = 0;
  };

  std::uint32_t of_arena(const Arena& arena) {
    Number& number = numbers_[{&arena, kWholeArena}];
    if (number.number == 0) number.number = ++last_;
    return number.number;
  }

  std::mutex mutex_;
  std::map<std::pair<const Arena*, std::uint32_t>, Number> numbers_;
  std::uint32_t last_ = 0; ///< 0 is left to those who count calls from 1
};

} // namespace sonictrace
