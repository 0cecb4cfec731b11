#pragma once

#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// Where functions begin that no symbol names, by the unwinder's table: sorted. Left out is what
/// only looks like one: PLTs, and parts of functions that are jumped to with a frame on the stack
/// (a
/// `.cold` part), where no return address is on top of it.
std::vector<ElfAddress> nameless_functions(const Image& image);

} // namespace sonictrace::elf
