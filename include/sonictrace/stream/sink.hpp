#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/stream/definition.hpp"

namespace sonictrace {

/// Whole wire records, one behind the other, in the order of time.
using RecordBatch = std::span<const std::byte>;

/// Calls that take so long, or longer, are recorded whatever a sink leaves out: see take_thinned.
constexpr std::uint64_t kThinnedBelowNs = 100'000;

/// Calls that the options leave out, and that have made no record.
struct LeftOutCalls {
  std::uint64_t short_calls = 0; ///< --min-time
  std::uint64_t deep_calls = 0;  ///< --max-depth

  std::uint64_t sum() const { return short_calls + deep_calls; }
  LeftOutCalls& operator+=(const LeftOutCalls& more) {
    short_calls += more.short_calls;
    deep_calls += more.deep_calls;
    return *this;
  }
};

/// What the session knows at its end.
struct SessionSummary {
  std::uint64_t calls = 0;   ///< seen
  std::uint64_t lost = 0;    ///< that the engine knows it did not record
  std::uint64_t modules = 0; ///< seen
  std::uint64_t cost_ns = 0; ///< of our own, per call; 0: not measured
  std::string engine;        ///< "breakpoint"
  std::string
      reason; ///< why it ended before the program did, or why nothing was seen; may be empty
  std::uint64_t time_ns = 0;  ///< CLOCK_REALTIME
  LeftOutCalls left_out = {}; ///< of `calls`
};

/// A taker of what was recorded. Knows no process: every sink can be tested with records made by
/// hand. Used by one thread.
class Sink {
public:
  virtual ~Sink() = default;

  /// Before the first record that refers to it; otherwise in the order of time.
  virtual void define(const Definition& definition) = 0;
  virtual void write(RecordBatch batch) = 0;
  /// At least twice a second while tracing goes on; `now_ns` is CLOCK_REALTIME.
  virtual void tick(std::uint64_t now_ns) = 0;
  /// Writes what is pending and the closing line. Reports the first failure to write.
  virtual Result<void> finish(const SessionSummary& summary) = 0;

  /// Functions, each told once, whose calls of less than kThinnedBelowNs are left out from now on:
  /// an engine may count them (RecordKind::Counts) instead of recording them. To be asked every now
  /// and then. Calls that it records all the same are counted like the others.
  virtual std::vector<FunctionId> take_thinned() { return {}; }

  /// Bytes of log so far, buffered ones included.
  virtual std::uint64_t bytes_written() const = 0;
  /// False once a write has failed (disk full, closed pipe): tracing can end.
  virtual bool is_healthy() const = 0;
};

} // namespace sonictrace
