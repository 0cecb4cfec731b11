#include "arch/instruction_reader.hpp"

namespace sonictrace {
namespace {

bool is_instruction_pointer(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP;
}

} // namespace

Result<DisplacedInstruction::Reader>
DisplacedInstruction::Reader::decode(std::span<const std::byte> code, TraceeAddress at) {
  Reader reader(at);
  ZydisDecoder decoder;
  if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &reader.decoded_,
                                         reader.operands_.data())))
    return Error(std::errc::executable_format_error, "instruction under a breakpoint");
  return reader;
}

bool DisplacedInstruction::Reader::is_near_branch() const {
  return decoded_.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR ||
         decoded_.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT;
}

bool DisplacedInstruction::Reader::has_64_bit_register() const {
  return operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         ZydisRegisterGetClass(operands_[0].reg.value) == ZYDIS_REGCLASS_GPR64;
}

DisplacedInstruction::MemoryOperand DisplacedInstruction::Reader::memory_operand() const {
  const auto number = [](ZydisRegister reg) {
    return reg == ZYDIS_REGISTER_NONE ? kNoRegister
                                      : static_cast<std::uint8_t>(ZydisRegisterGetId(reg));
  };
  const auto& mem = operands_[0].mem;
  MemoryOperand operand;
  operand.is_32_bit = decoded_.address_width == 32;
  operand.displacement = static_cast<std::uint64_t>(mem.disp.value);
  if (is_instruction_pointer(mem.base)) {
    operand.displacement += next().value();
  } else {
    operand.base = number(mem.base);
  }
  operand.index = number(mem.index);
  operand.scale = mem.scale;
  if (mem.segment == ZYDIS_REGISTER_FS) operand.segment = Segment::Fs;
  if (mem.segment == ZYDIS_REGISTER_GS) operand.segment = Segment::Gs;
  return operand;
}

void DisplacedInstruction::Reader::fill_branch(DisplacedInstruction& out, Kind direct,
                                               Kind indirect) const {
  const ZydisDecodedOperand& operand = operands_[0];
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    out.kind_ = direct;
    out.target_ = next() + operand.imm.value.s;
    return;
  }
  out.kind_ = indirect;
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    out.register_ = static_cast<std::uint8_t>(ZydisRegisterGetId(operand.reg.value));
  } else {
    out.operand_ = memory_operand();
  }
}

void DisplacedInstruction::Reader::fill_relative_operand(DisplacedInstruction& out) const {
  for (std::size_t i = 0; i < decoded_.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands_[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || !is_instruction_pointer(operand.mem.base))
      continue;
    out.relative_ = operand.mem.base == ZYDIS_REGISTER_RIP ? Relative::Rip : Relative::Eip;
    out.displacement_offset_ = decoded_.raw.disp.offset;
    out.target_ = next() + decoded_.raw.disp.value;
  }
}

Result<void> DisplacedInstruction::Reader::fill(DisplacedInstruction& out) const {
  out.opcode_ = decoded_.opcode;
  const bool is_far = decoded_.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  // Intel ignores the prefix in front of a near branch, AMD cuts rip to 16 bits; with REX.W (as
  // in the call of the TLS sequences, 66 66 48 e8) it has no effect on either.
  if (is_near_branch() && (decoded_.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0 &&
      decoded_.raw.rex.W == 0)
    return Error(std::errc::not_supported, "near branch with an operand size prefix");
  switch (decoded_.mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64: out.kind_ = Kind::Nop; return {};
    case ZYDIS_MNEMONIC_CALL:
      // It would push the address behind the copy.
      if (is_far) return Error(std::errc::not_supported, "far call");
      fill_branch(out, Kind::Call, Kind::IndirectCall);
      return {};
    case ZYDIS_MNEMONIC_JMP:
      if (is_far) break; // pushes nothing, and never comes to the jump back
      fill_branch(out, Kind::Jump, Kind::IndirectJump);
      return {};
    case ZYDIS_MNEMONIC_RET:
      if (is_far) break;
      out.kind_ = Kind::Return;
      if (decoded_.opcode == 0xc2)
        out.return_pop_ = static_cast<std::uint16_t>(decoded_.raw.imm[0].value.u);
      return {};
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
      fill_branch(out, Kind::Loop, Kind::Loop);
      out.counts_in_ecx_ = decoded_.address_width == 32;
      return {};
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
      if (!has_64_bit_register()) break;
      out.kind_ = decoded_.mnemonic == ZYDIS_MNEMONIC_PUSH ? Kind::Push : Kind::Pop;
      out.register_ = static_cast<std::uint8_t>(ZydisRegisterGetId(operands_[0].reg.value));
      return {};
    case ZYDIS_MNEMONIC_XBEGIN: return Error(std::errc::not_supported, "begin of a transaction");
    default:
      // The decoder also knows VEX-encoded ones (jkzd), of a coprocessor that was no x86-64.
      if (decoded_.meta.category == ZYDIS_CATEGORY_COND_BR && is_near_branch() &&
          decoded_.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
        fill_branch(out, Kind::ConditionalJump, Kind::ConditionalJump);
        return {};
      }
      // Nothing else is relative to its own address; better refused than run at the wrong one.
      if (is_near_branch()) return Error(std::errc::not_supported, "unknown kind of branch");
      break;
  }
  fill_relative_operand(out);
  return {};
}

} // namespace sonictrace
