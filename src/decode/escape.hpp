#pragma once

#include <string>
#include <string_view>

namespace sonictrace {

/// How a NUL is written.
enum class Nul {
  Octal, ///< `\000`: whatever follows, it can be read back
  Short, ///< `\0`
};

/// `text` with the escapes of append_quoted; `quote` is escaped too, unless it is 0.
void append_escaped(std::string& out, std::string_view text, char quote, Nul nul);

} // namespace sonictrace
