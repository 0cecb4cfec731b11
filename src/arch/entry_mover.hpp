#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sonictrace/arch/moved_entry.hpp"

namespace sonictrace {

/// Writes a MovedEntry, an instruction after the other.
class EntryMover {
public:
  EntryMover(std::span<const std::byte> function, TraceeAddress at, TraceeAddress new_place,
             EntryJump jump);

  Result<MovedEntry> move();

private:
  /// Whether control goes on to the next instruction.
  enum class After : std::uint8_t { GoesOn, Ends };

  Result<void> read();
  Result<After> move_one();
  Result<void> move_rip_relative(const ZydisDecodedOperand& operand);
  Result<After> move_call();
  Result<After> move_jump();
  Result<After> move_conditional();
  Result<void> check_branch() const;
  Result<void> check_padding();
  Result<void> check_references() const;

  const ZydisDecodedOperand* rip_relative_operand() const;
  TraceeAddress branch_target() const;
  TraceeAddress here() const { return at_ + static_cast<std::int64_t>(offset_); }
  TraceeAddress next() const { return here() + decoded_.length; }
  TraceeAddress place() const { return new_place_ + static_cast<std::int64_t>(code_.size()); }
  /// Bytes from the entry on that the jump needs.
  std::size_t needed() const { return moved_.skipped + size_of(jump_); }
  std::span<const std::byte> instruction() const {
    return function_.subspan(offset_, decoded_.length);
  }

  void append(std::span<const std::byte> bytes);
  void append(std::uint64_t value, std::size_t size);
  void append_jump(TraceeAddress target);
  bool in_reach(TraceeAddress target, std::size_t instruction_size) const;

  /// Bytes of the function that something refers to, which must not be replaced.
  struct Reference {
    TraceeAddress to;
    bool as_address = false; ///< of the function, by lea: its very begin is good
  };

  std::span<const std::byte> function_;
  TraceeAddress at_;
  TraceeAddress new_place_;
  EntryJump jump_;
  ZydisDecoder decoder_{};
  MovedEntry moved_;
  std::vector<std::byte> code_;
  std::size_t offset_ = 0; ///< of the instruction at hand, from the entry
  ZydisDecodedInstruction decoded_{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
  std::vector<Reference> references_;
};

} // namespace sonictrace
