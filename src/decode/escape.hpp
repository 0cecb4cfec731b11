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

/// The same, a NUL as Octal, to a place that has four bytes for each of the text and 8 more;
/// returns where it ended.
char* put_escaped(char* at, std::string_view text, char quote);

} // namespace sonictrace
