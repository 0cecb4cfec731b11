#pragma once

#include "agent/machine.hpp"

namespace sonictrace::agent {

/// The block of the thread with this %fs:0, which is made where it has none. Null: nothing is
/// recorded in this process, or there is no room for another thread.
extern "C" AGENT_HIDDEN AgentBlock* agent_find_thread(std::uint64_t key);

/// The same where it has one, else null.
AgentBlock* known_thread(std::uint64_t key);

} // namespace sonictrace::agent
