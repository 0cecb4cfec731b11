#pragma once

#include "sonictrace/session/session_options.hpp"

namespace sonictrace {

/// --explain: prints what would be traced, a line a module. Returns the exit status.
int explain(const SessionOptions& options);

} // namespace sonictrace
