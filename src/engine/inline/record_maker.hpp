#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/inline/batch_writer.hpp"
#include "engine/inline/known_functions.hpp"
#include "engine/inline/tick_clock.hpp"
#include "sonictrace/wire/ring.hpp"

namespace sonictrace {

class Arena;
class PythonCodes;
class PythonFrames;
class RecordedStacks;

/// Whose records they are: the upper halves of their call ids.
struct CallNumbers {
  std::uint32_t own = 0;       ///< of the ring, in one thread's time
  std::uint32_t inherited = 0; ///< of the process: of calls that were open when it was born

  std::uint64_t own_call(std::uint32_t call) const {
    return std::uint64_t{own} << 32 | (call & ~kInherited);
  }
  std::uint64_t inherited_call(std::uint32_t call) const {
    return std::uint64_t{inherited} << 32 | call | kInherited;
  }

private:
  static constexpr std::uint32_t kInherited = std::uint32_t{1} << 31;
};

/// Whose records they are.
struct RecordSource {
  std::uint32_t thread = 0;
  CallNumbers numbers;
  const Arena* arena = nullptr;  ///< of the process
  PythonCodes* python = nullptr; ///< what its records have told so far; null: nothing is kept
};

/// Makes the stream's records from the agent's.
class RecordMaker {
public:
  RecordMaker(const KnownFunctions& functions, const TickClock& clock)
      : functions_(functions), clock_(clock) {}

  /// Makes backtraces of the stacks in the records; outlives this.
  void use(RecordedStacks& stacks) { stacks_ = &stacks; }
  /// The same of the Python functions in the records.
  void use(PythonFrames& python) { python_ = &python; }

  /// The record, and `payload` bytes behind its header, may be memory that changes meanwhile.
  /// `now`: ticks; nothing has been later. False: it is malformed, and nothing was made of it.
  bool write(const wire::RingRecord& record, wire::RingKind kind, std::size_t payload,
             const RecordSource& source, std::uint64_t now, BatchWriter& out) const;

private:
  const KnownFunctions& functions_;
  const TickClock& clock_;
  RecordedStacks* stacks_ = nullptr;
  PythonFrames* python_ = nullptr;
};

} // namespace sonictrace
