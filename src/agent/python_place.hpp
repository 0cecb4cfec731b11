#pragma once

#include "agent/safe_memory.hpp"

namespace sonictrace::agent {

/// With --python: where in a Python function the thread is. What the reader needs to know of the
/// function is in the ring when this returns true.
bool find_python_place(AgentBlock& block, RingPython& place);

} // namespace sonictrace::agent
