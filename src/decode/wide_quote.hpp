#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonictrace {

/// `L"a\u00e9\u4e2d\n"`: as append_quoted, but every character outside of ASCII as \uXXXX, or
/// \UXXXXXXXX where it needs that. `text`: characters of four bytes each.
void append_wide_quoted(std::string& out, std::string_view text);

/// `L'\u00e9'`
void append_wide_quoted_char(std::string& out, std::uint32_t character);

} // namespace sonictrace
