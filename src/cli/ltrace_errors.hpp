#pragma once

#include <string>

#include "sonictrace/base/result.hpp"
#include "sonictrace/session/session.hpp"

namespace sonictrace {

// What ltrace 0.7.3 says where something is refused, for scripts that look at it. Lines with their
// newlines; the exit status is 1 but for an attach, which leaves it at 0.

std::string as_ltrace(const StartFailure& failure, const SessionOptions& options);
std::string as_ltrace(const RefusedAttach& refused);

/// `FILE:LINE:COLUMN: error: ...` without the column.
std::string without_column(const std::string& error);

} // namespace sonictrace
