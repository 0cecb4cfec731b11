#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/inline/arena.hpp"
#include "engine/inline/batch_writer.hpp"
#include "engine/inline/known_functions.hpp"
#include "engine/inline/tick_clock.hpp"

namespace sonictrace {

/// Reads what the agent has counted in one ring, in one thread's time.
class CountReader {
public:
  CountReader(const Arena& arena, std::uint32_t ring) : arena_(&arena), ring_(ring) {}

  /// Makes records of what has come since it was read last. Returns the number of their calls.
  std::uint64_t read(std::uint32_t thread, const KnownFunctions& functions, const TickClock& clock,
                     std::uint64_t time_ns, BatchWriter& out);

private:
  /// What was told of a function so far.
  struct Told {
    std::uint64_t calls = 0;
    std::uint64_t sum_ticks = 0;
    std::vector<std::uint32_t> buckets; ///< empty: it has no histogram yet
  };

  std::uint64_t read_function(std::uint32_t function, std::uint32_t thread, const TickClock& clock,
                              std::uint64_t time_ns, BatchWriter& out);

  const Arena* arena_;
  std::uint32_t ring_;
  std::unordered_map<std::uint32_t, Told> told_;
};

} // namespace sonictrace
