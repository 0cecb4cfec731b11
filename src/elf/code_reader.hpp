#pragma once

#include <Zydis/Zydis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sonictrace/arch/machine.hpp"
#include "sonictrace/base/address.hpp"

namespace sonictrace::elf {

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  Next,         ///< on to the next instruction
  Branch,       ///< to the target, or on
  Jump,         ///< to the target
  Call,         ///< to the target, and later on
  IndirectJump, ///< to where a register or memory says
  IndirectCall, ///< the same, and later on
  Stop,         ///< nowhere that can be told: ret, ud2, hlt, int3
};

/// What the search for calls needs to know of an instruction.
struct Instruction {
  std::uint8_t size = 0; ///< bytes, prefixes included
  Flow flow = Flow::Next;
  std::optional<ElfAddress> target; ///< of a direct branch, jump or call
  std::optional<ElfAddress> slot;   ///< of an indirect one: the constant address of its pointer
};

/// Decodes instructions of x86-64 or i386.
class CodeReader {
public:
  /// `got`: what %ebx holds in the PLT of an i386 shared object (DT_PLTGOT).
  CodeReader(Machine machine, std::optional<ElfAddress> got);

  /// Nothing where `code` does not begin with a whole, valid instruction.
  std::optional<Instruction> read(std::span<const std::byte> code, ElfAddress at) const;

  /// For those who need operands.
  const ZydisDecoder& decoder() const { return decoder_; }

private:
  std::optional<ElfAddress> slot_of(const ZydisDecodedInstruction& decoded, ElfAddress at) const;

  ZydisDecoder decoder_{};
  std::optional<ElfAddress> got_;
};

} // namespace sonictrace::elf
