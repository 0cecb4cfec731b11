#pragma once

#include <string_view>

#include "elf/headers.hpp"

namespace sonictrace::elf {

/// The raw bytes of NT_GNU_BUILD_ID, from the note segments or else the note sections.
std::string_view find_build_id(const Headers& headers);

} // namespace sonictrace::elf
