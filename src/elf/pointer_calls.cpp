#include "elf/pointer_calls.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "elf/register_numbers.hpp"

namespace sonictrace::elf {
namespace {

/// ff /2 (call) and ff /4 (jmp) of a register, or of memory at rbp, or with a SIB byte.
bool has_bytes_of_call(std::span<const std::byte> code) {
  const auto* at = reinterpret_cast<const unsigned char*>(code.data());
  const unsigned char* const end = at + code.size();
  for (; at != nullptr && end - at >= 2; ++at) {
    at = static_cast<const unsigned char*>(
        std::memchr(at, 0xff, static_cast<std::size_t>(end - at - 1)));
    if (at == nullptr) return false;
    const int mod = at[1] >> 6, operation = at[1] >> 3 & 7, rm = at[1] & 7;
    if (operation != 2 && operation != 4) continue;
    if (mod == 3 || rm == kRsp || (rm == kRbp && mod != 0)) return true;
  }
  return false;
}

class PointerCalls {
public:
  PointerCalls(const CodeReader& reader, std::span<const std::byte> code)
      : reader_(reader), code_(code), is_target_(code.size()) {}

  bool may_happen() {
    if (!find_targets()) return true;
    std::uint16_t others = 0; // registers that were given another value in this block
    for (std::size_t at = 0; at < code_.size(); at += decoded_.length) {
      if (is_target_[at]) others = 0;
      if (ZYAN_FAILED(ZydisDecoderDecodeFull(&reader_.decoder(), code_.data() + at,
                                             code_.size() - at, &decoded_, operands_.data())))
        return true;
      const bool direct = decoded_.raw.imm[0].is_relative != 0;
      switch (decoded_.meta.category) {
        case ZYDIS_CATEGORY_COND_BR: break;
        case ZYDIS_CATEGORY_CALL:
          if (!direct && may_be_pointer(operands_[0], others)) return true;
          others |= kLostInCalls;
          break;
        case ZYDIS_CATEGORY_UNCOND_BR:
          if (!direct && may_be_pointer(operands_[0], others)) return true;
          others = 0; // what comes next is reached from elsewhere
          break;
        case ZYDIS_CATEGORY_RET: others = 0; break;
        default: apply(others); break;
      }
    }
    return false;
  }

private:
  /// Where direct branches lead to. False where the code cannot be decoded from its begin to its
  /// end.
  bool find_targets() {
    for (std::size_t at = 0; at < code_.size();) {
      const auto instruction = reader_.read(code_.subspan(at), ElfAddress(at));
      if (!instruction) return false;
      at += instruction->size;
      if (instruction->target && instruction->target->value() < is_target_.size())
        is_target_[instruction->target->value()] = true;
    }
    return true;
  }

  bool is_on_stack(const ZydisDecodedOperand& operand) const {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand.mem.base == ZYDIS_REGISTER_RSP || operand.mem.base == ZYDIS_REGISTER_RBP);
  }

  /// Whether a 64-bit operand may hold what was loaded from a slot.
  bool may_be_pointer(const ZydisDecodedOperand& operand, std::uint16_t others) const {
    if (operand.size != 64) return false;
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return is_on_stack(operand);
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    const int number = number_of(operand.reg.value);
    return number >= 0 && (others & bit(number)) == 0;
  }

  void apply(std::uint16_t& others) const {
    bool brings_pointer = false;
    switch (decoded_.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        // `mov slot(%rip)` is such a load itself.
        brings_pointer = may_be_pointer(operands_[1], others) ||
                         (operands_[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                          operands_[1].mem.base == ZYDIS_REGISTER_RIP);
        break;
      case ZYDIS_MNEMONIC_POP:
      case ZYDIS_MNEMONIC_LEAVE:
      case ZYDIS_MNEMONIC_XCHG: brings_pointer = true; break;
      default: brings_pointer = decoded_.meta.category == ZYDIS_CATEGORY_CMOV; break;
    }
    for (std::size_t i = 0; i < decoded_.operand_count; ++i) {
      const ZydisDecodedOperand& operand = operands_[i];
      if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
          (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
        continue;
      const int number = number_of(operand.reg.value);
      if (number < 0) continue;
      if (brings_pointer) {
        others &= static_cast<std::uint16_t>(~bit(number));
      } else {
        others |= bit(number);
      }
    }
  }

  const CodeReader& reader_;
  std::span<const std::byte> code_;
  std::vector<bool> is_target_; ///< by offset
  ZydisDecodedInstruction decoded_{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
};

} // namespace

bool may_call_loaded_pointers(const CodeReader& reader, std::span<const std::byte> code) {
  return has_bytes_of_call(code) && PointerCalls(reader, code).may_happen();
}

} // namespace sonictrace::elf
