#pragma once

#include <cstdint>
#include <span>

#include "elf/code_reader.hpp"
#include "elf/unwind_index.hpp"

namespace sonictrace::elf {

/// Whether the pointer that the load at `load` (`mov slot(%rip), %register`) puts into a register
/// is then called or jumped to in the same function: from that register, or from another register
/// or a place on the stack that it was moved to. A pointer that is only passed on, compared or
/// stored elsewhere is not. `code` are the bytes of
/// `range`. Takes the instructions that it had to look at from `budget`; with none left, the answer
/// is no.
bool is_loaded_to_be_called(const CodeReader& reader, const FunctionRange& range,
                            std::span<const std::byte> code, ElfAddress load,
                            std::uint64_t& budget);

} // namespace sonictrace::elf
