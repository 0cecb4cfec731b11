#pragma once

#include "sonictrace/session/session.hpp"

namespace sonictrace {

/// Ends this process as the traced command ended: with its exit status, or by the same signal, so
/// that a shell or CI sees no difference. With 1 where our own work `failed` (the log could not be
/// written), with 0 where there was no command.
[[noreturn]] void conclude(const SessionEnd& end, bool failed);

} // namespace sonictrace
