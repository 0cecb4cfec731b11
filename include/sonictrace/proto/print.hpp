#pragma once

#include <string>

#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

/// One line in the grammar of sonictrace.conf(5). What that has no words for, which a user can't
/// write there: `T&` for a reference, `string?` for text or an address, `std::string`, `list(T)`,
/// `optional(T)`, `...` for what is not shown.
std::string print(const Prototype& prototype);

} // namespace sonictrace::proto
