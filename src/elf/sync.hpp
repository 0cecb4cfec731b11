#pragma once

#include <optional>
#include <span>

#include "elf/byte_scan.hpp"
#include "elf/code_reader.hpp"

namespace sonictrace::elf {

/// Where the instruction with the opcode of `use` begins, judged without knowing where its function
/// does: x86 code that is decoded from a wrong place falls into step after a few instructions, so
/// that nearly all decodings that begin somewhat before have to meet there. `code` is mapped at
/// `begin` and holds the use. Nothing where they do not agree.
std::optional<ElfAddress> synchronized_start(const CodeReader& reader,
                                             std::span<const std::byte> code, ElfAddress begin,
                                             const SlotUse& use);

} // namespace sonictrace::elf
