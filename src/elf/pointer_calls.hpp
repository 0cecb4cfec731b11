#pragma once

#include <span>

#include "elf/code_reader.hpp"

namespace sonictrace::elf {

/// False where no call or jump in `code`, a function's, can be to a pointer that was loaded from a
/// slot: because there is none through a register or the stack, or because the register of each has
/// just been given another value, as in `mov 16(%rax), %rax; call *%rax`. Saves following the
/// loads; true where in doubt.
bool may_call_loaded_pointers(const CodeReader& reader, std::span<const std::byte> code);

} // namespace sonictrace::elf
