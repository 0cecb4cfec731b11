#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "engine/inline/arena.hpp"
#include "engine/inline/open_call_reader.hpp"
#include "engine/inline/record_maker.hpp"
#include "engine/inline/recorded_stacks.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// What the tracer's thread has for the collector's.
struct QueuedBatch {
  std::vector<std::byte> bytes;
};
struct QueuedOpenCalls {
  std::uint32_t thread;
  CallNumbers numbers;
  std::vector<FoundOpenCall> calls;
};
struct ArenaAdded {
  std::shared_ptr<Arena> arena;
};
struct ArenaRemoved {
  std::shared_ptr<Arena> arena;
};

/// Of a process whose calls come with their stacks: see RecordedStacks.
struct CodeAdded {
  std::shared_ptr<Arena> arena;
  ProcessCode code;
  std::size_t frames; ///< most of a backtrace
};
struct CodeLearned {
  std::shared_ptr<Arena> arena;
  std::vector<TraceeAddress> gadgets;
  std::vector<MappedCode> mapped;
};
struct CodeGone {
  std::shared_ptr<Arena> arena;
  AddressRange range;
};

struct QueueItem {
  std::uint64_t ticks; ///< when it was put in
  std::variant<Definition, QueuedBatch, QueuedOpenCalls, ArenaAdded, ArenaRemoved, CodeAdded,
               CodeLearned, CodeGone>
      what;
};

/// From the tracer's thread to the collector's.
class CollectorQueue {
public:
  void push(QueueItem item);
  /// Appends all that is in it to `to`.
  void take(std::deque<QueueItem>& to);
  /// What was taken out was passed on: so many bytes of batches.
  void passed_on(std::size_t bytes);

  /// Waits until there is room for more, or for a while: for the sender of batches.
  void wait_for_room(std::chrono::milliseconds at_most);
  /// Waits until the sender wants something done, or for a while: for the receiver.
  void wait(std::chrono::nanoseconds at_most);
  /// The sender is about to put in what happened at `ticks`, and no earlier: until it says so, what
  /// is later is to wait.
  void hold(std::uint64_t ticks) { held_.store(ticks, std::memory_order_seq_cst); }
  void release() { held_.store(kNotHeld, std::memory_order_seq_cst); }
  std::uint64_t held() const { return held_.load(std::memory_order_seq_cst); }

  /// Ends the receiver's wait now, and each one from here on.
  void stop();
  bool is_stopped() const;

private:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  /// So much is worth waking the receiver for; for less it comes by itself.
  static constexpr std::size_t kManyBytes = std::size_t{1} << 20;

  static constexpr std::uint64_t kNotHeld = ~std::uint64_t{0};

  std::atomic<std::uint64_t> held_ = kNotHeld;
  mutable std::mutex mutex_;
  std::condition_variable wanted_; ///< there is something to do
  std::condition_variable room_;
  std::deque<QueueItem> items_;
  std::size_t bytes_ = 0; ///< of batches that were not passed on yet
  bool stopped_ = false;
};

} // namespace sonictrace
