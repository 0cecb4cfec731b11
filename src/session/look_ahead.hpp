#pragma once

#include <sys/types.h>

#include <memory>

#include "session/space_modules.hpp"

namespace sonictrace {

/// Finds out what a process consists of while it still runs, untouched, and plans what is to be put
/// in, so that it need not be stopped for that. Null where that can't be: who asks for it later can
/// say why.
std::unique_ptr<SpaceModules> look_ahead(ProbeContext& context, pid_t pid);

} // namespace sonictrace
