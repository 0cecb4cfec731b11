#pragma once

#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// The files that `linker` would map for `program`, in its order, without running it: what
/// `LINKER --list PROGRAM` prints. glibc and musl.
Result<std::vector<std::string>> list_libraries(const std::string& linker,
                                                const std::string& program);

/// The paths in such a list: `libc.so.6 => /lib/libc.so.6 (0x7f..)`, `/lib64/ld.so (0x7f..)`.
std::vector<std::string> parse_library_list(const std::string& text);

} // namespace sonictrace
