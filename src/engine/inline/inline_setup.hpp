#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/inline/agent_image.hpp"
#include "engine/inline/rehearsal.hpp"
#include "engine/inline/tick_clock.hpp"
#include "sonictrace/engine/make_engine.hpp"

namespace sonictrace {

/// What is recorded of where a call was made.
struct RecordedPlaces {
  std::size_t frames = 0; ///< of its backtrace, at most
  bool python = false;    ///< the Python function
};

/// What is the same for all processes that the agent is put into; made when the first one needs it.
class InlineSetup {
public:
  /// `clock` outlives this.
  InlineSetup(const RecordingOptions& recording, const RecordedPlaces& places,
              const TickClock& clock)
      : recording_(recording), places_(places), clock_(clock) {}

  struct Made {
    AgentImage image;
    wire::AgentControl control; ///< but for the addresses
    bool counting;              ///< the arena has room for counts
    InlineCosts costs;
  };
  Result<const Made*> get();

  /// Of a call, in ns; 0 where none was recorded inside.
  std::uint64_t cost_of_call_ns() const;

private:
  RecordingOptions recording_;
  RecordedPlaces places_;
  const TickClock& clock_;
  std::optional<Made> made_;
};

} // namespace sonictrace
