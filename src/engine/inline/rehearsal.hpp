#pragma once

#include <cstdint>

#include "engine/inline/agent_image.hpp"
#include "engine/inline/tick_clock.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// What recording a call costs the traced program.
struct InlineCosts {
  std::uint64_t call_ticks = 0;   ///< in all
  std::uint64_t inside_ticks = 0; ///< of that, between the call's two clock readings
};

/// Lets the agent record calls of an empty function in this process, and sees what that takes: a
/// millisecond or so. The least of several rounds.
Result<InlineCosts> rehearse(const AgentImage& image, const TickClock& clock,
                             wire::RecordForm form);

} // namespace sonictrace
