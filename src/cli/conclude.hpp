#pragma once

#include "sonictrace/base/result.hpp"
#include "sonictrace/session/session.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// Writes the end of the log. The session is over and gone: signals have their defaults again, so
/// that they end a wait for a reader who does not read. Where nobody is to wait for long, that
/// is ended in a moment, and the log is cut.
Result<void> finish_log(Sink& sink, const SessionEnd& end);

/// Ends this process as the traced command ended: with its exit status, or by the same signal, so
/// that a shell or CI sees no difference. With 1 where our own work `failed` (the log could not be
/// written), with 0 where there was no command.
[[noreturn]] void conclude(const SessionEnd& end, bool failed);

} // namespace sonictrace
