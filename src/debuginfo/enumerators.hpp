#pragma once

#include "debuginfo/die.hpp"
#include "sonictrace/proto/type.hpp"

namespace sonictrace::debuginfo {

/// Empty where there are too many of them.
proto::NameTable read_enumerators(Dwarf_Die enumeration);

/// Are they bits, to be combined? One bit each, at least three of them, and whatever else there is
/// is made of these; 0, 1, 2, 3 are nothing but numbers.
bool are_flags(const proto::NameTable& names);

} // namespace sonictrace::debuginfo
