#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/inline/ring_reader.hpp"

namespace sonictrace {

/// Brings the records of several rings into one order, that of time.
class Merge {
public:
  /// Of one pass: the readers, all of which were looked at.
  void begin() { readers_.clear(); }
  void add(RingReader& reader) { readers_.push_back(&reader); }

  /// Reads what is earlier than `until` and `hold`, in portions that `out` has room for, and calls
  /// `flush` behind each that fills it. `hold` is lowered where a record is found missing, which
  /// may have any time from there on. Returns whether there was something.
  template <class Flush>
  bool read(std::uint64_t until, std::uint64_t& hold, std::uint64_t now, const RecordMaker& maker,
            BatchWriter& out, Flush flush) {
    gather(std::min(until, hold));
    if (heap_.empty()) return false;
    while (!heap_.empty()) {
      RingReader& first = *take_first();
      if (first.time() >= hold) continue;
      // One record of the others must come next, or none.
      const std::uint64_t next = heap_.empty() ? kNever : heap_.front().time + 1;
      first.read(std::min({next, until, hold}), now, maker, out);
      if (out.is_full()) flush();
      if (first.state() == RingReader::State::Blocked) hold = std::min(hold, first.time() + 1);
      if (first.state() == RingReader::State::Ready && first.time() < until) put_back(first);
    }
    return true;
  }
  /// The time of the next record that is ready; ~0 where none is.
  std::uint64_t next_time() const;

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

private:
  struct Next {
    std::uint64_t time;
    RingReader* reader;
  };

  void gather(std::uint64_t until);
  RingReader* take_first();
  void put_back(RingReader& reader);

  std::vector<RingReader*> readers_;
  std::vector<Next> heap_;
};

} // namespace sonictrace
