#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elf/slots.hpp"
#include "sonictrace/base/address.hpp"

namespace sonictrace::elf {

enum class UseKind : std::uint8_t {
  Call, ///< ff 15: call *slot(%rip)
  Jump, ///< ff 25: jmp *slot(%rip)
  Load, ///< 48 or 4c, 8b: mov slot(%rip), %register
};

/// Bytes that would use a slot if they are an instruction, which is still to be shown.
struct SlotUse {
  ElfAddress opcode_at;     ///< of the opcode byte, behind all prefixes; the end is 6 bytes on
  std::uint32_t import = 0; ///< index
  UseKind kind = UseKind::Jump;

  ElfAddress end() const { return opcode_at + 6; }
};

/// All of them in x86-64 `code`, which is mapped at `begin`, by address.
std::vector<SlotUse> find_slot_uses(std::span<const std::byte> code, ElfAddress begin,
                                    const SlotMap& slots);

} // namespace sonictrace::elf
