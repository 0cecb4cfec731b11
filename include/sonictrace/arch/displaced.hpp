#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// The tracee's memory, a word at a time, as emulation needs it.
class WordMemory {
public:
  virtual ~WordMemory() = default;
  virtual Result<std::uint64_t> read_word(TraceeAddress from) = 0;
  virtual Result<void> write_word(TraceeAddress to, std::uint64_t value) = 0;
};

/// An instruction that a breakpoint overwrote, and how to get a thread past it without lifting the
/// breakpoint: by emulating it, or by running a copy of it in a slot elsewhere.
///
/// What a copy can't hide: `syscall` leaves the address behind it in rcx, which is the slot's, and
/// an x87 instruction that of itself in the FPU's last instruction pointer. No compiler's code
/// reads either. A thread with a user shadow stack (CET) must not have its calls emulated.
class DisplacedInstruction {
public:
  static constexpr std::size_t kLongest = 15; ///< bytes of an x86 instruction
  /// The copy and a jump back: `jmp *0(%rip)` and its 8-byte target.
  static constexpr std::size_t kSlotSize = 32;

  /// Decodes the instruction at `at` from `code` (the original bytes, at least 15 where mapped).
  /// Fails with executable_format_error for what is not an instruction, with not_supported for
  /// what must not run elsewhere (xbegin, a far call) or what processors disagree on (a near branch
  /// with an operand size prefix).
  static Result<DisplacedInstruction> decode(std::span<const std::byte> code, TraceeAddress at);

  TraceeAddress at() const { return at_; }
  std::size_t size() const { return size_; }
  TraceeAddress next() const { return at_ + static_cast<std::int64_t>(size_); }

  /// True where `emulate` does it all and no slot is needed: calls, jumps (conditional ones, loop
  /// and jrcxz too), ret, push and pop of a 64-bit register, nops, endbr64.
  bool is_emulated() const { return kind_ != Kind::Copy; }
  /// Leaves `registers` as after the instruction; may read and write the stack or a call's memory
  /// operand. On failure neither changed: the caller lets the original instruction fault instead.
  /// Fails where memory does, and with bad_address for a target that is not canonical.
  Result<void> emulate(Registers& registers, WordMemory& memory) const;

  struct Slot {
    std::array<std::byte, kSlotSize> bytes;
    std::size_t copy_size; ///< of the instruction; the jump back begins here
  };
  /// The slot's content for a slot at `slot`. Fails with result_out_of_range where a rip-relative
  /// operand is farther than 2 GB from there. Only for !is_emulated().
  Result<Slot> relocate(TraceeAddress slot) const;

  /// Where a thread stopped at `rip` would be, had it run the original: at() before the copy has
  /// run, next() after it. An address outside of the slot is given back as it is.
  TraceeAddress original_of(TraceeAddress slot, std::size_t copy_size, TraceeAddress rip) const;

  /// The one address that relocate must stay within 2 GB of, where there is one.
  std::optional<TraceeAddress> rip_relative_target() const;

private:
  enum class Kind : std::uint8_t {
    Copy,
    Nop,
    Jump,
    ConditionalJump,
    Loop,
    IndirectJump,
    Call,
    IndirectCall,
    Return,
    Push,
    Pop,
  };
  enum class Segment : std::uint8_t { Flat, Fs, Gs };
  /// How a rip-relative operand of a copied instruction forms its address.
  enum class Relative : std::uint8_t { None, Rip, Eip };
  static constexpr std::uint8_t kNoRegister = 0xff;

  /// Registers by their number in the instruction encoding: rax, rcx, rdx, rbx, rsp, ...
  struct MemoryOperand {
    std::uint8_t base = kNoRegister;
    std::uint8_t index = kNoRegister;
    std::uint8_t scale = 1;
    Segment segment = Segment::Flat;
    bool is_32_bit = false;         ///< address size prefix: the sum is cut to 32 bits
    std::uint64_t displacement = 0; ///< for a rip-relative operand, the whole address
  };

  class Reader; ///< fills one in from what the decoder found
  DisplacedInstruction() = default;
  TraceeAddress address_of_operand(const Registers& registers) const;
  Result<TraceeAddress> indirect_target(const Registers& registers, WordMemory& memory) const;
  bool loop_is_taken(Registers& registers) const;

  TraceeAddress at_;
  std::uint8_t size_ = 0;
  Kind kind_ = Kind::Copy;
  std::uint8_t opcode_ = 0;             ///< its last byte: tells conditions and loops apart
  std::uint8_t register_ = kNoRegister; ///< push, pop, indirect call or jump
  bool counts_in_ecx_ = false;          ///< loop or jecxz with an address size prefix
  std::uint16_t return_pop_ = 0;        ///< `ret imm16`
  Relative relative_ = Relative::None;
  std::uint8_t displacement_offset_ = 0; ///< of a rip-relative operand's disp32, in bytes_
  TraceeAddress target_;                 ///< of a direct branch, or a rip-relative operand
  MemoryOperand operand_;
  std::array<std::byte, kLongest> bytes_{};
};

} // namespace sonictrace
