#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonictrace::elf {

/// What `.gnu_debugdata` holds, compressed as xz does: a stripped ELF file with the symbols of the
/// local functions (gdb's manual, "MiniDebugInfo"). Empty where it can't be unpacked, or where it
/// would be larger than any of its kind.
std::vector<std::byte> unpack_mini_debug(std::span<const std::byte> packed);

} // namespace sonictrace::elf
