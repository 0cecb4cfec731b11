#include "engine/inline/ring_reader.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "engine/inline/shared_memory.hpp"

namespace sonictrace {
namespace {

using wire::RingKind;
using wire::RingRecord;

/// The thread gets room again in portions of so much: each time that it waits for one it is put to
/// sleep and woken.
constexpr std::uint64_t kPortion = wire::kRingSize / 2;
/// What is read next comes from another core's cache.
constexpr std::uint64_t kAhead = 512;

RingKind kind_of(std::uint64_t commit) { return static_cast<RingKind>(commit >> 32 & 0xff); }
std::size_t size_of(std::uint64_t commit) {
  return static_cast<std::size_t>(commit >> 40) * wire::kRingAlignment;
}
bool is_committed(std::uint64_t commit, std::uint64_t position) {
  return static_cast<std::uint32_t>(commit) == wire::sequence_of(position);
}
bool is_plausible(std::uint64_t commit) {
  const RingKind kind = kind_of(commit);
  const std::size_t least = kind == RingKind::Pad ? wire::kRingAlignment : sizeof(RingRecord);
  return kind >= RingKind::Call && kind <= RingKind::PythonCode && size_of(commit) >= least &&
         size_of(commit) <= wire::kRingSpill;
}

} // namespace

RingReader::RingReader(std::shared_ptr<Arena> arena, std::uint32_t index,
                       const CallNumbers& numbers)
    : arena_(std::move(arena)), index_(index), source_{0, numbers, arena_.get(), &python_},
      header_(arena_->ring(index)), data_(arena_->ring_data(index)),
      incarnation_(load_shared(header_.incarnation)) {
  position_ = load_shared(header_.tail) & ~std::uint64_t{wire::kRingAlignment - 1};
  published_ = head_ = position_;
  // What is lost before anybody has looked counts too, but for what an earlier thread has lost.
  if (incarnation_ > 1) {
    last_lost_ = load_shared(header_.lost);
    last_short_ = load_shared(header_.short_calls);
    last_deep_ = load_shared(header_.deep_calls);
  }
  note_counters();
}

std::uint64_t RingReader::commit_at(std::uint64_t position) const {
  return load_shared(*reinterpret_cast<const std::uint64_t*>(place(position)));
}

RingReader::State RingReader::look(std::uint64_t now, std::uint64_t patience) {
  note_counters();
  see_head(now);
  if (state_ == State::Blocked) skip_hole(now, patience);
  return state_;
}

/// What the thread counts of the calls that it does not record.
void RingReader::note_counters() {
  const auto note = [](const std::uint64_t& counter, std::uint64_t& last, std::uint64_t& sum) {
    const std::uint64_t now = load_shared(counter);
    if (now > last) sum += std::min(now - last, kMostBelieved);
    last = now;
  };
  note(header_.lost, last_lost_, told_lost_);
  note(header_.short_calls, last_short_, left_out_.short_calls);
  note(header_.deep_calls, last_deep_, left_out_.deep_calls);
}

void RingReader::see_head(std::uint64_t now) {
  const std::uint64_t head = load_shared(header_.head);
  most_ = position_ + 2 * wire::kRingSize;
  const bool is_sound = is_sound_head(head);
  if (head != wakes_at_ || load_shared(header_.state) != wire::kRingInUse) wakes_ = false;
  if (state_ == State::Ready) { // of what comes behind that record
    if (is_sound && head - position_ >= size_of(next_)) head_ = head;
    see_time(now); // it may have been written later than the `now` that it was first seen at
    return;
  }
  // It may have gone back, but never behind a place whose record was read.
  if (!is_sound) [[unlikely]]
    return give_up(head & ~std::uint64_t{wire::kRingAlignment - 1});
  head_ = head;
  find_next(now);
}

/// Looks at the place at the position: what is there becomes state, time and next record.
void RingReader::find_next(std::uint64_t now) {
  while (position_ != head_) {
    const std::uint64_t commit = commit_at(position_);
    if (!is_committed(commit, position_)) return be_blocked(now);
    const std::size_t size = size_of(commit);
    if (!is_plausible(commit)) [[unlikely]]
      return give_up(head_);
    if (size > head_ - position_) [[unlikely]] {
      // The head has gone back by what the last record did not need, and on from there.
      const std::uint64_t head = load_shared(header_.head);
      if (!is_sound_head(head) || head - position_ < size) return give_up(head_);
      if (most_ - position_ < head - position_) {
        head_ = position_;
        break;
      }
      head_ = head;
    }
    state_ = State::Empty; // no longer blocked
    const RingKind kind = kind_of(commit);
    if (kind == RingKind::Pad) [[unlikely]] {
      position_ += size;
      continue;
    }
    if (kind == RingKind::Thread) [[unlikely]] {
      source_.thread = load_shared(record_at(position_).call) & INT_MAX;
      position_ += size;
      continue;
    }
    if (source_.thread == 0) [[unlikely]]
      source_.thread = load_shared(header_.tid) & INT_MAX;
    next_ = commit;
    see_time(now);
    state_ = State::Ready;
    return;
  }
  if (wakes_ && wakes_at_ == position_) return be_blocked(now);
  state_ = State::Empty;
}

/// No time is later than `now`, or nothing would ever come behind what a hostile thread writes.
void RingReader::see_time(std::uint64_t now) {
  time_ = std::min(load_shared(record_at(position_).time), now);
}

void RingReader::be_blocked(std::uint64_t now) {
  if (state_ != State::Blocked) {
    blocked_since_ = searched_ = now;
    seen_behind_ = false;
  }
  state_ = State::Blocked;
}

void RingReader::read(std::uint64_t until, std::uint64_t now, const RecordMaker& maker,
                      BatchWriter& out) {
  while (state_ == State::Ready && time_ < until && !out.is_full()) {
    const std::size_t size = size_of(next_);
    const RingKind kind = kind_of(next_);
    const auto& record = *reinterpret_cast<const RingRecord*>(place(position_));
    __builtin_prefetch(place(position_) + kAhead);
    __builtin_prefetch(place(position_) + kAhead + 64);
    if (maker.write(record, kind, size - sizeof record, source_, now, out)) [[likely]] {
      if (kind == RingKind::Call || kind == RingKind::Enter) ++calls_;
    } else {
      damaged_ = true;
      ++skipped_;
    }
    position_ += size;
    if (position_ - published_ >= kPortion) publish();
    find_next(now);
  }
}

void RingReader::publish() {
  if (published_ == position_) return;
  published_ = position_;
  store_shared(header_.tail, position_);
  // The thread says that it waits, and looks at the tail once more before it does.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (load_shared(header_.is_waiting) == 0) return;
  // Its record has been waiting, and so its time is an earlier one.
  wakes_ = true;
  wakes_at_ = load_shared(header_.head);
  store_shared(header_.is_waiting, std::uint32_t{0});
  ::syscall(SYS_futex, &header_.is_waiting, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// The thread that waits for room has not left a place open, but where it was in the middle of
/// that: a signal handler waits, which has interrupted it.
bool RingReader::has_waiter_before_hole() const {
  return load_shared(header_.is_waiting) != 0 && published_ == position_ &&
         head_ - position_ > wire::kRingSize - wire::kRingSpill;
}

void RingReader::skip_hole(std::uint64_t now, std::uint64_t patience) {
  if (position_ == head_) return;
  // Of a thread that is gone, or waits, nothing will come any more.
  if (load_shared(header_.state) != wire::kRingEnded && !has_waiter_before_hole()) {
    // Not each time: the whole ring may have to be searched.
    if (now - searched_ < patience) return;
    searched_ = now;
    const bool was_behind = std::exchange(seen_behind_, find_behind_hole() != head_);
    if (!was_behind || !seen_behind_) return;
  }
  find_next(now); // it may have been committed since the first look
  if (state_ != State::Blocked) return;
  ++skipped_;
  position_ = find_behind_hole();
  state_ = State::Empty;
  find_next(now);
}

bool RingReader::is_record_at(std::uint64_t position) const {
  const std::uint64_t commit = commit_at(position);
  return is_committed(commit, position) && is_plausible(commit) &&
         size_of(commit) <= head_ - position;
}

/// The next record behind the place at the position; the head where there is none.
std::uint64_t RingReader::find_behind_hole() const {
  const std::uint64_t taken = head_ - position_;
  for (std::uint64_t skip = wire::kRingAlignment; skip < taken; skip += wire::kRingAlignment)
    if (is_record_at(position_ + skip)) return position_ + skip;
  return head_;
}

void RingReader::give_up(std::uint64_t go_on_at) {
  damaged_ = true;
  ++skipped_;
  position_ = head_ = go_on_at;
  state_ = State::Empty;
}

} // namespace sonictrace
