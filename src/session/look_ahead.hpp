#pragma once

#include <sys/types.h>

#include "session/space_modules.hpp"

namespace sonictrace {

/// Parses what a process consists of while it still runs, so that it need not be stopped for that.
/// What can't be read is left to whoever asks for it later, and can say why.
void look_ahead(ProbeContext& context, pid_t pid);

} // namespace sonictrace
