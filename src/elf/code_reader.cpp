#include "elf/code_reader.hpp"

#include "sonictrace/base/check.hpp"

namespace sonictrace::elf {
namespace {

Flow flow_of(const ZydisDecodedInstruction& decoded) {
  const bool direct = decoded.raw.imm[0].is_relative != 0;
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return Flow::Branch;
    case ZYDIS_CATEGORY_UNCOND_BR: return direct ? Flow::Jump : Flow::IndirectJump;
    case ZYDIS_CATEGORY_CALL: return direct ? Flow::Call : Flow::IndirectCall;
    case ZYDIS_CATEGORY_RET: return Flow::Stop;
    default: break;
  }
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3: return Flow::Stop;
    default: return Flow::Next;
  }
}

} // namespace

CodeReader::CodeReader(Machine machine, std::optional<ElfAddress> got) : got_(got) {
  const bool is_64 = machine == Machine::X86_64;
  const auto status =
      ZydisDecoderInit(&decoder_, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                       is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  SONICTRACE_CHECK(ZYAN_SUCCESS(status), "the decoder knows both modes");
}

std::optional<Instruction> CodeReader::read(std::span<const std::byte> code, ElfAddress at) const {
  ZydisDecodedInstruction decoded;
  if (ZYAN_FAILED(
          ZydisDecoderDecodeInstruction(&decoder_, nullptr, code.data(), code.size(), &decoded)))
    return std::nullopt;

  Instruction result;
  result.size = decoded.length;
  result.flow = flow_of(decoded);
  if (result.flow == Flow::IndirectCall || result.flow == Flow::IndirectJump) {
    result.slot = slot_of(decoded, at);
  } else if (decoded.raw.imm[0].is_relative != 0) {
    result.target = at + decoded.length + decoded.raw.imm[0].value.s;
  }
  return result;
}

std::optional<ElfAddress> CodeReader::slot_of(const ZydisDecodedInstruction& decoded,
                                              ElfAddress at) const {
  const auto& modrm = decoded.raw.modrm;
  // Near calls and jumps are /2 and /4, the far ones /3 and /5 (Intel SDM, CALL, JMP).
  if (modrm.reg != 2 && modrm.reg != 4) return std::nullopt;
  for (std::size_t i = 0; i < decoded.raw.prefix_count; ++i) {
    const std::uint8_t prefix = decoded.raw.prefixes[i].value;
    if (prefix == 0x64 || prefix == 0x65) return std::nullopt; // relative to %fs, %gs
    // A 16-bit pointer on AMD's processors, unless REX.W overrides it as in the TLS call sequences
    // (`data16 rex.W call *__tls_get_addr@GOTPCREL(%rip)`).
    if (prefix == 0x66 && decoded.raw.rex.W == 0) return std::nullopt;
  }

  const std::int64_t displacement = decoded.raw.disp.value;
  if (decoded.machine_mode == ZYDIS_MACHINE_MODE_LONG_64) {
    if (modrm.mod != 0 || modrm.rm != 5) return std::nullopt; // disp32(%rip)
    const ElfAddress slot = at + decoded.length + displacement;
    return decoded.address_width == 32 ? ElfAddress(slot.value() & 0xffff'ffff) : slot;
  }
  if (decoded.address_width != 32) return std::nullopt;
  if (modrm.mod == 0 && modrm.rm == 5) return ElfAddress(static_cast<std::uint32_t>(displacement));
  if (modrm.mod == 2 && modrm.rm == 3 && got_) // disp32(%ebx)
    return ElfAddress(static_cast<std::uint32_t>((*got_ + displacement).value()));
  return std::nullopt;
}

} // namespace sonictrace::elf
