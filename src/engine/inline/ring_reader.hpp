#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/inline/arena.hpp"
#include "engine/inline/record_maker.hpp"
#include "engine/python_frames.hpp"

namespace sonictrace {

/// Reads one ring of an arena, for as long as it belongs to one thread.
///
/// The writer may be hostile. Whatever is in the memory, nothing outside of the ring is looked at,
/// and each call comes to an end: what is written after a look is left for the next one.
class RingReader {
public:
  /// Begins where the last reader of this ring has ended.
  RingReader(std::shared_ptr<Arena> arena, std::uint32_t index, const CallNumbers& numbers);
  RingReader(const RingReader&) = delete;

  enum class State : std::uint8_t {
    Empty,
    Ready,
    Blocked, ///< a record is about to come: its place was taken, or it has waited for room
  };
  /// What is there by now. `now`: ticks. `patience`: ticks that a record may be late by, while
  /// others behind it are there.
  State look(std::uint64_t now, std::uint64_t patience);
  State state() const { return state_; }
  /// Of a ring that is Ready: the time of the next record. Of another one: that of the last.
  std::uint64_t time() const { return time_; }
  /// Of a ring that is Blocked: when that was first seen.
  std::uint64_t blocked_since() const { return blocked_since_; }

  /// Reads what `look` has seen and is earlier than `until`, as long as `out` is not full.
  void read(std::uint64_t until, std::uint64_t now, const RecordMaker& maker, BatchWriter& out);
  /// Tells the thread how far it was read, and wakes it where it waits for that.
  void publish();

  std::uint32_t index() const { return index_; }
  std::uint32_t incarnation() const { return incarnation_; }
  std::uint32_t thread() const { return source_.thread; }
  const wire::RingHeader& header() const { return header_; }

  std::uint64_t position() const { return position_; }
  std::uint64_t calls() const { return calls_; }
  /// Calls that are not there, by what the thread says and by what was seen.
  std::uint64_t lost() const { return skipped_ + told_lost_; }
  const LeftOutCalls& left_out() const { return left_out_; }
  /// The ring holds what no agent of ours writes.
  bool is_damaged() const { return damaged_; }

private:
  const std::byte* place(std::uint64_t position) const {
    return data_ + position % wire::kRingSize;
  }
  const wire::RingRecord& record_at(std::uint64_t position) const {
    return *reinterpret_cast<const wire::RingRecord*>(place(position));
  }
  std::uint64_t commit_at(std::uint64_t position) const;
  void find_next(std::uint64_t now);
  void see_head(std::uint64_t now);
  void see_time(std::uint64_t now);
  void skip_hole(std::uint64_t now, std::uint64_t patience);
  bool has_waiter_before_hole() const;
  bool is_record_at(std::uint64_t position) const;
  std::uint64_t find_behind_hole() const;
  bool is_sound_head(std::uint64_t head) const {
    return head - position_ <= wire::kRingSize && head % wire::kRingAlignment == 0;
  }
  void be_blocked(std::uint64_t now);
  void give_up(std::uint64_t go_on_at);
  void note_counters();

  std::shared_ptr<Arena> arena_;
  std::uint32_t index_;
  PythonCodes python_;
  RecordSource source_;
  wire::RingHeader& header_;
  const std::byte* data_;
  std::uint32_t incarnation_;

  std::uint64_t position_;  ///< of the next record
  std::uint64_t published_; ///< as far as the thread knows
  std::uint64_t head_;      ///< as it was seen last; never before position_
  State state_ = State::Empty;
  std::uint64_t time_ = 0;
  std::uint64_t next_ = 0; ///< the commit word of the next record, if that is ready
  std::uint64_t blocked_since_ = 0;
  std::uint64_t searched_ = 0; ///< when it was last looked for records behind the hole
  bool seen_behind_ = false;   ///< there were some
  bool wakes_ = false;         ///< the thread has waited for room, with a record for `wakes_at_`
  std::uint64_t wakes_at_ = 0;
  std::uint64_t most_ = 0; ///< no position behind this one is read before the next look

  std::uint64_t calls_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t told_lost_ = 0;
  LeftOutCalls left_out_;
  /// The thread's counters.
  std::uint64_t last_lost_ = 0, last_short_ = 0, last_deep_ = 0;
  bool damaged_ = false;
};

} // namespace sonictrace
