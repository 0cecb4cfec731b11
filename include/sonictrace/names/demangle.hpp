#pragma once

#include <string>
#include <string_view>

namespace sonictrace {

enum class DemangleStyle {
  None,  ///< as it stands in the symbol table
  Short, ///< no parameters, no result type: `at::native::upsample_bilinear2d`
  Full,  ///< with parameters, as c++filt prints it
};

/// Itanium C++ ABI and Rust (legacy and v0) names; any other name comes back unchanged.
/// Short writes `std::string` for its expansion and `{anonymous}` for an anonymous namespace.
std::string demangle(std::string_view mangled, DemangleStyle style);

} // namespace sonictrace
