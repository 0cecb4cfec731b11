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
class DisplacedInstruction {
public:
  static constexpr std::size_t kLongest = 15; ///< bytes of an x86 instruction
  /// The copy and a jump back: `jmp *0(%rip)` and its 8-byte target.
  static constexpr std::size_t kSlotSize = 32;

  /// Decodes the instruction at `at` from `code` (the original bytes, at least 15 where mapped).
  /// Fails for what is not an instruction, or must not run elsewhere (xbegin).
  static Result<DisplacedInstruction> decode(std::span<const std::byte> code, TraceeAddress at);

  TraceeAddress at() const { return at_; }
  std::size_t size() const { return size_; }
  TraceeAddress next() const { return at_ + static_cast<std::int64_t>(size_); }

  /// True where `emulate` does it all and no slot is needed: calls, jumps (conditional ones, loop
  /// and jrcxz too), ret, push and pop of a 64-bit register, nops, endbr64.
  bool is_emulated() const { return kind_ != Kind::Copy; }
  /// Leaves `registers` as after the instruction; may read and write the stack or a call's memory
  /// operand. On failure neither changed: the caller lets the original instruction fault instead.
  Result<void> emulate(Registers& registers, WordMemory& memory) const;

  struct Slot {
    std::array<std::byte, kSlotSize> bytes;
    std::size_t copy_size; ///< of the instruction; the jump back begins here
  };
  /// The slot's content for a slot at `slot`. Fails with result_out_of_range where a rip-relative
  /// operand is farther than 2 GB from there. Only for !is_emulated().
  Result<Slot> relocate(TraceeAddress slot) const;

  /// The one address that relocate must stay within 2 GB of, where there is one.
  std::optional<TraceeAddress> rip_relative_target() const;

private:
  enum class Kind : std::uint8_t {
    Copy, Nop, Jump, ConditionalJump, Loop, IndirectJump, Call, IndirectCall, Return, Push, Pop,
  };
  DisplacedInstruction() = default;

  TraceeAddress at_;
  std::uint8_t size_ = 0;
  Kind kind_ = Kind::Copy;
  // More members as needed: the bytes, the operand.
  std::array<std::byte, kLongest> bytes_{};
};

} // namespace sonictrace
