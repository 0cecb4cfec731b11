#pragma once

#include <cstdint>
#include <span>

#include "elf/code_reader.hpp"
#include "elf/unwind_index.hpp"

namespace sonictrace::elf {

/// What becomes of a pointer within a few instructions.
enum class Fate : std::uint8_t {
  Open,   ///< cannot be told yet
  Read,   ///< something is read or written through it: it points to data
  Lost,   ///< nothing has it any more, and nothing has called it
  Called, ///< or jumped to
};

/// Of the pointer that the load at `load` (`mov slot(%rip), %register`) puts into a register. Looks
/// at few instructions, where `is_loaded_to_be_called` follows the function's whole flow.
Fate fate_of_load(const CodeReader& reader, const FunctionRange& range,
                  std::span<const std::byte> code, ElfAddress load);

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
