#pragma once

#include <string>
#include <string_view>

namespace sonictrace {

/// How text of the traced program is made fit for a log line.
enum class Quoting {
  Readable, ///< can be read back: the quote itself is escaped too
  Ltrace,   ///< as ltrace: the quote is not escaped, and a NUL is `\0`
};

/// `"text"`: backslash escaped, \a \b \t \n \v \f \r as such, every other byte outside of printable
/// ASCII as \ooo.
void append_quoted(std::string& out, std::string_view text, Quoting quoting);

/// `'c'`, a NUL as `'\0'`, for the rest as append_quoted.
void append_quoted_char(std::string& out, char c, Quoting quoting);

/// A name (of a function, a module) or a message as it stands, but for bytes outside of printable
/// ASCII: those as \ooo, so that no name can break a line or steer a terminal.
void append_sanitized(std::string& out, std::string_view text);

} // namespace sonictrace
