#pragma once

#include <string>
#include <string_view>

#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

/// One line in the grammar of sonictrace.conf(5). What that has no words for, which a user can't
/// write there: `T&` for a reference, `string?` for text or an address, `std::string`, `list(T)`,
/// `optional(T)`, `...` for what is not shown.
std::string print(const Prototype& prototype);
/// With another name in its place: a demangled one.
std::string print(const Prototype& prototype, std::string_view name);

} // namespace sonictrace::proto
