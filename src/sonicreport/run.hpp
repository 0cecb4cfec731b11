#pragma once

#include <span>

namespace sonictrace::sonicreport {

/// The whole program but for main(): an exit status.
int run(std::span<const char* const> arguments);

} // namespace sonictrace::sonicreport
