#include "sonictrace/arch/displaced.hpp"

#include <algorithm>
#include <limits>

#include "arch/instruction_reader.hpp"
#include "sonictrace/base/check.hpp"

namespace sonictrace {
namespace {

using Word = unsigned long long; // what user_regs_struct is made of

/// The general registers in the order of their numbers in instructions (SDM 2, table 3-1).
constexpr Word user_regs_struct::*kNumbered[] = {
    &user_regs_struct::rax, &user_regs_struct::rcx, &user_regs_struct::rdx, &user_regs_struct::rbx,
    &user_regs_struct::rsp, &user_regs_struct::rbp, &user_regs_struct::rsi, &user_regs_struct::rdi,
    &user_regs_struct::r8,  &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
    &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14, &user_regs_struct::r15};

constexpr std::int64_t kWord = 8;

/// The conditions of Jcc by the low four bits of its opcode; the lowest inverts (SDM 2, B.1.4.7).
bool condition_holds(unsigned condition, std::uint64_t flags) {
  const bool carry = flags & 0x1;
  const bool parity = flags & 0x4;
  const bool zero = flags & 0x40;
  const bool sign = flags & 0x80;
  const bool overflow = flags & 0x800;
  bool holds = false;
  switch (condition >> 1) {
    case 0: holds = overflow; break;
    case 1: holds = carry; break;
    case 2: holds = zero; break;
    case 3: holds = carry || zero; break;
    case 4: holds = sign; break;
    case 5: holds = parity; break;
    case 6: holds = sign != overflow; break;
    default: holds = zero || sign != overflow; break;
  }
  return holds != (condition & 1);
}

/// Loading rip with anything else is a general protection fault of the branch itself. Under
/// five-level paging more addresses are good, which the original instruction then finds out.
bool is_canonical(TraceeAddress address) {
  const auto top = static_cast<std::int64_t>(address.value()) >> 47;
  return top == 0 || top == -1;
}

void put_little_endian(std::byte* to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    to[i] = static_cast<std::byte>(value >> (8 * i));
}

} // namespace

Result<DisplacedInstruction> DisplacedInstruction::decode(std::span<const std::byte> code,
                                                          TraceeAddress at) {
  auto reader = Reader::decode(code, at);
  if (!reader) return std::move(reader).error();
  DisplacedInstruction instruction;
  instruction.at_ = at;
  instruction.size_ = reader->size();
  std::copy_n(code.begin(), instruction.size_, instruction.bytes_.begin());
  if (auto read = reader->fill(instruction); !read) return std::move(read).error();
  return instruction;
}

TraceeAddress DisplacedInstruction::address_of_operand(const Registers& registers) const {
  const user_regs_struct& raw = registers.raw();
  std::uint64_t sum = operand_.displacement;
  if (operand_.base != kNoRegister) sum += raw.*kNumbered[operand_.base];
  if (operand_.index != kNoRegister) sum += raw.*kNumbered[operand_.index] * operand_.scale;
  if (operand_.is_32_bit) sum &= 0xffffffff; // before the segment's base (SDM 1, 3.3.7)
  if (operand_.segment == Segment::Fs) sum += raw.fs_base;
  if (operand_.segment == Segment::Gs) sum += raw.gs_base;
  return TraceeAddress(sum);
}

Result<TraceeAddress> DisplacedInstruction::indirect_target(const Registers& registers,
                                                            WordMemory& memory) const {
  if (register_ != kNoRegister) return TraceeAddress(registers.raw().*kNumbered[register_]);
  const auto word = memory.read_word(address_of_operand(registers));
  if (!word) return word.error();
  return TraceeAddress(*word);
}

bool DisplacedInstruction::loop_is_taken(Registers& registers) const {
  Word& rcx = registers.raw().rcx;
  const Word mask = counts_in_ecx_ ? 0xffffffff : ~Word{0};
  if (opcode_ == 0xe3) return (rcx & mask) == 0; // jrcxz, jecxz
  rcx = (rcx - 1) & mask;                        // a write to ecx clears the upper half
  const bool zero = registers.raw().eflags & 0x40;
  const bool wanted = opcode_ == 0xe2 || (opcode_ == 0xe1) == zero; // loop; loope; loopne
  return rcx != 0 && wanted;
}

Result<void> DisplacedInstruction::emulate(Registers& registers, WordMemory& memory) const {
  SONICTRACE_CHECK(is_emulated(), "this instruction is to be copied");
  Registers after = registers; // taken over only when all of it worked
  after.set_pc(next());
  switch (kind_) {
    case Kind::Copy:
    case Kind::Nop: break;
    case Kind::Jump: after.set_pc(target_); break;
    case Kind::ConditionalJump:
      if (condition_holds(opcode_ & 0xf, registers.raw().eflags)) after.set_pc(target_);
      break;
    case Kind::Loop:
      if (loop_is_taken(after)) after.set_pc(target_);
      break;
    case Kind::IndirectJump: {
      const auto target = indirect_target(registers, memory);
      if (!target) return target.error();
      after.set_pc(*target);
      break;
    }
    case Kind::Call: after.set_pc(target_); break;
    case Kind::IndirectCall: {
      const auto target = indirect_target(registers, memory); // rsp as before the push
      if (!target) return target.error();
      after.set_pc(*target);
      break;
    }
    case Kind::Return: {
      const auto target = memory.read_word(registers.sp());
      if (!target) return target.error();
      after.set_pc(TraceeAddress(*target));
      after.set_sp(registers.sp() + kWord + return_pop_);
      break;
    }
    case Kind::Push: break;
    case Kind::Pop: {
      const auto value = memory.read_word(registers.sp());
      if (!value) return value.error();
      after.set_sp(registers.sp() + kWord);
      after.raw().*kNumbered[register_] = *value; // last: `pop %rsp` keeps the value
      break;
    }
  }
  if (!is_canonical(after.pc())) return Error(std::errc::bad_address, "branch out of range");
  if (kind_ == Kind::Call || kind_ == Kind::IndirectCall || kind_ == Kind::Push) {
    const std::uint64_t pushed =
        kind_ == Kind::Push ? registers.raw().*kNumbered[register_] : next().value();
    after.set_sp(registers.sp() + -kWord);
    if (auto written = memory.write_word(after.sp(), pushed); !written) return written;
  }
  registers = after;
  return {};
}

Result<DisplacedInstruction::Slot> DisplacedInstruction::relocate(TraceeAddress slot) const {
  SONICTRACE_CHECK(!is_emulated(), "this instruction is to be emulated");
  Slot made{};
  made.bytes.fill(std::byte{0xcc}); // int3
  made.copy_size = size_;
  std::copy_n(bytes_.begin(), size_, made.bytes.begin());
  if (relative_ != Relative::None) {
    const std::int64_t distance = target_ - (slot + static_cast<std::int64_t>(size_));
    // An eip-relative address is cut to 32 bits, so every one can be reached.
    if (relative_ == Relative::Rip && (distance < std::numeric_limits<std::int32_t>::min() ||
                                       distance > std::numeric_limits<std::int32_t>::max()))
      return Error(std::errc::result_out_of_range, "rip-relative operand of a displaced copy");
    put_little_endian(&made.bytes[displacement_offset_], static_cast<std::uint64_t>(distance), 4);
  }
  // ff 25 00 00 00 00  jmp *0(%rip), its target behind it
  constexpr std::size_t kJump = 6;
  static_assert(kLongest + kJump + 8 <= kSlotSize);
  std::byte* const jump = &made.bytes[size_];
  put_little_endian(jump, 0x25ff, kJump);
  put_little_endian(jump + kJump, next().value(), 8);
  return made;
}

TraceeAddress DisplacedInstruction::original_of(TraceeAddress slot, std::size_t copy_size,
                                                TraceeAddress rip) const {
  const std::int64_t offset = rip - slot;
  if (offset < 0 || offset >= static_cast<std::int64_t>(kSlotSize)) return rip;
  return offset < static_cast<std::int64_t>(copy_size) ? at() : next();
}

std::optional<TraceeAddress> DisplacedInstruction::rip_relative_target() const {
  if (relative_ != Relative::Rip) return std::nullopt;
  return target_;
}

} // namespace sonictrace
