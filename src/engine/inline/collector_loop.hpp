#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/inline/arena_readers.hpp"
#include "engine/inline/collector_queue.hpp"
#include "engine/inline/merge.hpp"
#include "engine/inline/recorded_stacks.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// What the collector's thread does, without the thread: reads rings and what the tracer says, and
/// passes both on to a sink in the order of time.
class CollectorLoop {
public:
  CollectorLoop(Sink& inner, CollectorQueue& queue, RingNumbers& numbers, TickClock clock);
  CollectorLoop(const CollectorLoop&) = delete;

  TickClock& clock() { return clock_; }

  /// One round: passes on what nothing that is still to come can be earlier than. Returns whether
  /// there was something.
  bool pass();
  /// Bytes of records that the last round has made.
  std::size_t passed_on() const { return passed_on_; }
  /// The last round, when all threads are stopped, or gone: all that is there.
  void pass_everything();
  /// Reads what was counted, of all processes.
  void read_counts();
  /// Tells all processes of the functions whose short calls need not be recorded.
  void thin();
  /// Calls `take` with each arena.
  template <class Taker>
  void for_each_arena(Taker take) {
    for (auto& readers : arenas_)
      take(*readers.arena());
  }
  /// Nothing is to be expected from a process.
  bool is_alone() const { return arenas_.empty(); }

  std::uint64_t calls() const;
  std::uint64_t lost() const;
  LeftOutCalls left_out() const;
  /// One line for each process whose rings were found damaged.
  std::vector<std::string> take_complaints();

private:
  void take_queue();
  bool pass_on(std::uint64_t now);
  void look(std::uint64_t now);
  void hold_back(std::uint64_t now);
  bool pass_on_queue(std::uint64_t now);
  void pass_on(const QueueItem& item, std::uint64_t now);
  void pass_on_batch(RecordBatch batch, std::uint64_t until, std::uint64_t now);
  void pass_on_open_calls(const QueuedOpenCalls& open, std::uint64_t now);
  void define(const Definition& definition);
  void add_code(CodeAdded& added);
  void remove(const Arena& arena, std::uint64_t now);
  bool merge(std::uint64_t until, std::uint64_t now);
  void drain(ArenaReaders& readers, std::uint64_t now);
  void drain(RingReader& reader, std::uint64_t now);
  void flush();

  Sink& inner_;
  CollectorQueue& queue_;
  RingNumbers& numbers_;
  TickClock clock_;
  KnownFunctions functions_;
  RecordMaker maker_{functions_, clock_};
  PythonFrames python_;
  std::unique_ptr<RecordedStacks> stacks_; ///< null: no backtraces are wanted
  BatchWriter out_;
  std::size_t passed_on_ = 0;
  Merge merge_;
  std::uint64_t hold_ =
      0; ///< ticks: from then on something may still come; in a round it only falls
  std::deque<QueueItem> pending_;
  std::vector<ArenaReaders> arenas_;
  std::vector<FunctionId> thinned_;
  std::vector<std::string> complaints_;
  std::uint64_t calls_ = 0; ///< of processes that are gone, and open ones that were told
  std::uint64_t lost_ = 0;
  LeftOutCalls left_out_;
};

} // namespace sonictrace
