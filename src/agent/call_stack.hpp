#pragma once

// The stack that a call is made on, for a backtrace (-w): the tracer walks a copy of it later.

#include "agent/capture_call.hpp"

namespace sonictrace::agent {

/// Puts a wire::RingStack and the words above the call's return address to `to`, `room` bytes at
/// most, and returns how many bytes. The frame is one of agent_enter_with_stack_routine.
std::size_t copy_stack(AgentBlock& block, const EntryFrame& frame, std::byte* to, std::size_t room);

} // namespace sonictrace::agent
