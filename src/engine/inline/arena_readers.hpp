#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/inline/count_reader.hpp"
#include "engine/inline/ring_numbers.hpp"
#include "engine/inline/ring_reader.hpp"

namespace sonictrace {

/// The readers of one arena's rings: made when a thread takes a ring, gone when all of an ended
/// thread's was read.
class ArenaReaders {
public:
  ArenaReaders(std::shared_ptr<Arena> arena, RingNumbers& numbers)
      : arena_(std::move(arena)), numbers_(&numbers) {}

  const std::shared_ptr<Arena>& arena() const { return arena_; }

  /// Finds new threads, and looks at every ring.
  void look(std::uint64_t now, std::uint64_t patience);
  /// Calls `take` with each reader.
  template <class Taker>
  void for_each(Taker take) {
    for (const std::uint32_t ring : active_)
      take(slots_[ring].open->reader);
  }

  /// Makes records of what has been counted since the last time.
  void read_counts(const KnownFunctions& functions, const TickClock& clock, std::uint64_t time_ns,
                   BatchWriter& out);
  /// Gives the rings back whose threads are gone, if all of them was read.
  void free_ended(const KnownFunctions& functions, const TickClock& clock, std::uint64_t now,
                  BatchWriter& out);
  /// The process is gone: no ring is waited for any more.
  void end_all();

  /// Sums over all threads, of those that are gone too.
  std::uint64_t calls() const;
  std::uint64_t lost() const;
  LeftOutCalls left_out() const;
  /// How many rings hold what no agent of ours writes, and were not told of yet.
  std::size_t take_damaged();

private:
  /// A ring that belongs to a thread.
  struct OpenRing {
    OpenRing(const std::shared_ptr<Arena>& arena, std::uint32_t ring, const CallNumbers& numbers)
        : reader(arena, ring, numbers) {}
    RingReader reader;
    std::optional<CountReader> counts;
  };
  struct Slot {
    std::uint32_t last_incarnation = 0;
    bool told_damage = false;
    std::uint64_t released_at = 0; ///< position
    std::unique_ptr<OpenRing> open;
  };

  std::size_t rings_used() const;
  void look_at(std::uint32_t ring);
  void add_sums(const RingReader& reader);
  void free_ring(std::uint32_t ring);

  std::shared_ptr<Arena> arena_;
  RingNumbers* numbers_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> active_; ///< rings that have a reader
  std::uint64_t calls_ = 0;           ///< of threads that are gone, and counted ones
  std::uint64_t lost_ = 0;
  LeftOutCalls left_out_;
};

} // namespace sonictrace
