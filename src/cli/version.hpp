#pragma once

#include <string>

namespace sonictrace {

/// The text of --version: our own, then each library that we were built with.
std::string version_text();

} // namespace sonictrace
