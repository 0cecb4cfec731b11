#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

struct ParsedConf {
  std::vector<Prototype> prototypes; ///< in the order of the text
  std::vector<std::string> errors;   ///< `FILE:LINE:COLUMN: what`; each cost its line
};

/// Reads the text of one .conf file: one item a line.
///
///     LENS NAME ( [+]LENS, ... );        typedef NAME = LENS;        comments: ; and #
///
/// LENS: void char short ushort int uint long ulong addr file octal string stringN string[argN]
///       path bytes[argN] format hex(T) oct(T) bool(T) hide(T), a typedef's name, and any of them
///       with `*`, which is a pointer whose value is shown.
ParsedConf parse_conf(std::string_view text, std::string_view file);

} // namespace sonictrace::proto
