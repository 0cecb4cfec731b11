#include "arch/entry_mover.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sonictrace/base/check.hpp"

namespace sonictrace {
namespace {

constexpr std::array kEndbr64 = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                 std::byte{0xfa}};

Error refused(std::string why) { return Error(std::errc::not_supported, std::move(why)); }

bool is_nop(const ZydisDecodedInstruction& decoded) {
  return decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
}

/// What must not run anywhere else, or does not go on to the next instruction in any case.
const char* why_bound(const ZydisDecodedInstruction& decoded) {
  if ((decoded.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0) return "a privileged instruction";
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT: return "an interrupt";
    // Leaves the address behind it in rcx, and a signal handler sees it.
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: return "a system call";
    default: break;
  }
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2: return "an undefined instruction";
    // Where an indirect jump may lead to.
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64: return "an endbr64 behind its begin";
    default: return nullptr;
  }
}

} // namespace

EntryMover::EntryMover(std::span<const std::byte> function, TraceeAddress at,
                       TraceeAddress new_place, EntryJump jump)
    : function_(function), at_(at), new_place_(new_place), jump_(jump) {
  const auto status = ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  SONICTRACE_CHECK(ZYAN_SUCCESS(status), "the decoder knows 64-bit code");
}

Result<MovedEntry> EntryMover::move() {
  if (function_.size() >= kEndbr64.size() &&
      std::equal(kEndbr64.begin(), kEndbr64.end(), function_.begin()))
    moved_.skipped = kEndbr64.size();
  offset_ = moved_.skipped;
  auto after = After::GoesOn;
  while (offset_ < needed() && after == After::GoesOn) {
    if (auto decoded = read(); !decoded) return std::move(decoded).error();
    moved_.instructions.push_back(
        {static_cast<std::uint8_t>(offset_), static_cast<std::uint8_t>(code_.size())});
    auto moved = move_one();
    if (!moved) return std::move(moved).error();
    after = *moved;
    offset_ += decoded_.length;
  }
  if (after == After::GoesOn) {
    moved_.instructions.push_back(
        {static_cast<std::uint8_t>(offset_), static_cast<std::uint8_t>(code_.size())});
    append_jump(at_ + static_cast<std::int64_t>(offset_));
  } else if (auto unused = check_padding(); !unused) {
    return std::move(unused).error();
  }
  moved_.replaced = static_cast<std::uint8_t>(std::max(offset_, needed()) - moved_.skipped);
  if (auto outside = check_references(); !outside) return std::move(outside).error();
  SONICTRACE_CHECK(code_.size() <= MovedEntry::kMostCode, "a moved entry has a bound");
  moved_.code = std::move(code_);
  return std::move(moved_);
}

Result<void> EntryMover::read() {
  const auto rest = function_.subspan(std::min(offset_, function_.size()));
  if (rest.empty()) return refused("the function is too short for a jump");
  if (ZYAN_FAILED(
          ZydisDecoderDecodeFull(&decoder_, rest.data(), rest.size(), &decoded_, operands_.data())))
    return refused("an instruction that cannot be decoded");
  return {};
}

Result<EntryMover::After> EntryMover::move_one() {
  if (const char* const why = why_bound(decoded_)) return refused(why);
  switch (decoded_.meta.category) {
    case ZYDIS_CATEGORY_CALL: return move_call();
    case ZYDIS_CATEGORY_COND_BR: return move_conditional();
    case ZYDIS_CATEGORY_UNCOND_BR: return move_jump();
    case ZYDIS_CATEGORY_RET:
      if (decoded_.meta.branch_type != ZYDIS_BRANCH_TYPE_NEAR) return refused("a far return");
      append(instruction());
      return After::Ends;
    default: break;
  }
  // Nothing else is relative to its own address: better refused than run at the wrong one.
  if (decoded_.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
    return refused("an unknown kind of branch");
  if (const auto* const operand = rip_relative_operand()) {
    if (auto moved = move_rip_relative(*operand); !moved) return std::move(moved).error();
  } else {
    append(instruction());
  }
  return After::GoesOn;
}

const ZydisDecodedOperand* EntryMover::rip_relative_operand() const {
  for (std::size_t i = 0; i < decoded_.operand_count; ++i)
    if (operands_[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
        (operands_[i].mem.base == ZYDIS_REGISTER_RIP ||
         operands_[i].mem.base == ZYDIS_REGISTER_EIP))
      return &operands_[i];
  return nullptr;
}

/// Appends the instruction with the operand's displacement counted from its new place.
Result<void> EntryMover::move_rip_relative(const ZydisDecodedOperand& operand) {
  // With an address size prefix the sum is cut to 32 bits; no compiler writes it.
  if (operand.mem.base == ZYDIS_REGISTER_EIP) return refused("an operand relative to eip");
  SONICTRACE_CHECK(decoded_.raw.disp.size == 32,
                   "a rip-relative operand has a 32-bit displacement");
  const TraceeAddress target = next() + operand.mem.disp.value;
  if (!in_reach(target, decoded_.length))
    return Error(std::errc::result_out_of_range, "a rip-relative operand of a moved instruction");
  references_.push_back({target, decoded_.mnemonic == ZYDIS_MNEMONIC_LEA});
  const std::int64_t distance = target - (place() + decoded_.length);
  const auto bytes = instruction();
  const std::size_t field = decoded_.raw.disp.offset;
  append(bytes.first(field));
  append(static_cast<std::uint64_t>(distance), 4);
  append(bytes.subspan(field + 4)); // an immediate
  return {};
}

/// A near branch as every processor understands it. Intel ignores an operand size prefix in front
/// of one, AMD cuts rip to 16 bits; with REX.W it has no effect on either.
Result<void> EntryMover::check_branch() const {
  const auto type = decoded_.meta.branch_type;
  if (type == ZYDIS_BRANCH_TYPE_FAR) return refused("a far branch");
  if (type != ZYDIS_BRANCH_TYPE_NEAR && type != ZYDIS_BRANCH_TYPE_SHORT)
    return refused("an unknown kind of branch");
  if (decoded_.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
    return refused("an unknown kind of branch");
  if ((decoded_.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0 && decoded_.raw.rex.W == 0)
    return refused("a near branch with an operand size prefix");
  return {};
}

TraceeAddress EntryMover::branch_target() const { return next() + decoded_.raw.imm[0].value.s; }

/// A call pushes the address behind it, which unwinders and the callee may look at, so that the
/// copy's must not be seen. The last one's original return address is where the jump back leads to:
///
///     ff 35 xx xx xx xx  push *return_address(%rip)
///     e9 xx xx xx xx     jmp callee             (or: the indirect call as a jump)
///     return_address: .quad original
Result<EntryMover::After> EntryMover::move_call() {
  if (auto good = check_branch(); !good) return std::move(good).error();
  if (offset_ + decoded_.length < needed())
    return refused("a call that returns into the replaced bytes");
  constexpr std::size_t kPush = 6;
  const bool direct = decoded_.raw.imm[0].is_relative != 0;
  if (!direct && decoded_.raw.modrm.reg != 2) return refused("a far branch");
  const auto* const slot = direct ? nullptr : rip_relative_operand();
  const bool from_register = operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  // Another operand may depend on rsp, which the push has changed, or fault behind the push.
  if (!direct && slot == nullptr &&
      (!from_register || operands_[0].reg.value == ZYDIS_REGISTER_RSP))
    return refused("a call through memory");

  append(0x35ff, 2);
  const std::size_t displacement_at = code_.size();
  append(0, kPush - 2);
  if (direct) {
    references_.push_back({branch_target(), false});
    append_jump(branch_target());
  } else {
    const std::size_t begin = code_.size();
    if (slot != nullptr) {
      if (auto moved = move_rip_relative(*slot); !moved) return std::move(moved).error();
    } else {
      append(instruction());
    }
    code_[begin + decoded_.raw.modrm.offset] ^= std::byte{0x30}; // ModRM: /2, call, to /4, jmp
  }
  const std::size_t distance = code_.size() - (displacement_at + 4);
  code_[displacement_at] = static_cast<std::byte>(distance);
  append(next().value(), 8);
  moved_.calls_by_jump = true;
  return After::Ends;
}

Result<EntryMover::After> EntryMover::move_jump() {
  if (auto good = check_branch(); !good) return std::move(good).error();
  if (decoded_.mnemonic != ZYDIS_MNEMONIC_JMP) return refused("an unknown kind of branch");
  if (decoded_.raw.imm[0].is_relative != 0) {
    references_.push_back({branch_target(), false});
    append_jump(branch_target());
  } else if (const auto* const slot = rip_relative_operand()) {
    if (auto moved = move_rip_relative(*slot); !moved) return std::move(moved).error();
  } else {
    append(instruction());
  }
  return After::Ends;
}

Result<EntryMover::After> EntryMover::move_conditional() {
  if (auto good = check_branch(); !good) return std::move(good).error();
  if (decoded_.raw.imm[0].is_relative == 0) return refused("an unknown kind of branch");
  const bool is_short = decoded_.raw.imm[0].size == 8;
  // loop, loope, loopne, jrcxz (e0 to e3) have no long form; xbegin is c7 f8.
  const bool is_loop = is_short && (decoded_.opcode & 0xfc) == 0xe0;
  const bool is_jcc = (decoded_.opcode & 0xf0) == (is_short ? 0x70 : 0x80);
  if (!is_loop && !is_jcc) return refused("an unknown kind of branch");
  const TraceeAddress target = branch_target();
  references_.push_back({target, false});
  constexpr std::size_t kLongForm = 6;
  if (is_jcc && in_reach(target, kLongForm)) {
    const std::int64_t distance = target - (place() + kLongForm);
    append(0x0f, 1);
    append(0x80 | (decoded_.opcode & 0xfu), 1);
    append(static_cast<std::uint64_t>(distance), 4);
    return After::GoesOn;
  }
  //     7x 02     jcc taken
  //     eb xx     jmp not_taken
  //     taken:    jmp target
  //     not_taken:
  if (is_loop && decoded_.address_width == 32) append(0x67, 1); // counts in ecx
  append(is_loop ? decoded_.opcode : 0x70u | (decoded_.opcode & 0xfu), 1);
  append(2, 1);
  append(0xeb, 1);
  append(0, 1);
  const std::size_t taken = code_.size();
  append_jump(target);
  code_[taken - 1] = static_cast<std::byte>(code_.size() - taken);
  return After::GoesOn;
}

/// Behind an instruction that does not go on, there may be bytes that nothing runs.
Result<void> EntryMover::check_padding() {
  std::size_t at = offset_;
  while (at < needed()) {
    const auto rest = function_.subspan(std::min(at, function_.size()));
    ZydisDecodedInstruction decoded;
    if (rest.empty() ||
        ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder_, nullptr, rest.data(), rest.size(),
                                                  &decoded)) ||
        (!is_nop(decoded) && decoded.mnemonic != ZYDIS_MNEMONIC_INT3))
      return refused("the function is too short for a jump");
    at += decoded.length;
  }
  return {};
}

Result<void> EntryMover::check_references() const {
  const TraceeAddress begin = at_ + moved_.skipped;
  const TraceeAddress end = begin + moved_.replaced;
  for (const Reference& reference : references_) {
    if (reference.to < begin || end <= reference.to) continue;
    if (reference.to == begin && reference.as_address) continue;
    return refused("an instruction that refers to the replaced bytes");
  }
  return {};
}

void EntryMover::append(std::span<const std::byte> bytes) {
  code_.insert(code_.end(), bytes.begin(), bytes.end());
}

void EntryMover::append(std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    code_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

bool EntryMover::in_reach(TraceeAddress target, std::size_t instruction_size) const {
  const std::int64_t distance = target - (place() + static_cast<std::int64_t>(instruction_size));
  return std::numeric_limits<std::int32_t>::min() <= distance &&
         distance <= std::numeric_limits<std::int32_t>::max();
}

void EntryMover::append_jump(TraceeAddress target) {
  if (in_reach(target, MovedEntry::kJump)) {
    const std::int64_t distance = target - (place() + MovedEntry::kJump);
    append(0xe9, 1);
    append(static_cast<std::uint64_t>(distance), 4);
    return;
  }
  // ff 25 00 00 00 00  jmp *0(%rip), its target behind it
  append(0x25ff, 6);
  append(target.value(), 8);
}

} // namespace sonictrace
