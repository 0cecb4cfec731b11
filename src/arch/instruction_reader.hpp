#pragma once

#include <Zydis/Zydis.h>

#include <array>

#include "sonictrace/arch/displaced.hpp"

namespace sonictrace {

/// Takes one instruction apart with Zydis and sorts it into a DisplacedInstruction's kinds.
class DisplacedInstruction::Reader {
public:
  static Result<Reader> decode(std::span<const std::byte> code, TraceeAddress at);

  std::uint8_t size() const { return decoded_.length; }
  /// All but the bytes and where they are. Fails with not_supported, see there.
  Result<void> fill(DisplacedInstruction& out) const;

private:
  explicit Reader(TraceeAddress at) : at_(at) {}
  TraceeAddress next() const { return at_ + static_cast<std::int64_t>(decoded_.length); }
  bool is_near_branch() const;
  bool has_64_bit_register() const;
  void fill_branch(DisplacedInstruction& out, Kind direct, Kind indirect) const;
  void fill_relative_operand(DisplacedInstruction& out) const;
  MemoryOperand memory_operand() const;

  TraceeAddress at_;
  ZydisDecodedInstruction decoded_{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
};

} // namespace sonictrace
