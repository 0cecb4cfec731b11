#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace::proto {

/// Size and alignment of a type in memory, in bytes.
struct Layout {
  std::uint32_t size = 0;
  std::uint32_t align = 1;
};

/// `word`: bytes of a long and of a pointer, 8 or 4. Of an array without a constant length: one
/// element's alignment, and no size.
Layout layout_of(const Type& type, std::uint8_t word);
/// Where each field of a struct begins.
std::vector<std::uint32_t> field_offsets(const Type& type, std::uint8_t word);

/// Of an optional: where its value is, and where its flag.
std::uint32_t payload_offset(const Type& type, std::uint8_t word);
std::uint32_t flag_offset(const Type& type, std::uint8_t word);

/// Where the eightbytes of a value lie in the words of the call: one place each.
struct Placement {
  /// Offsets into the words; of a value in memory the first; of an empty struct none.
  std::vector<std::uint32_t> eightbytes;
  bool contiguous = true; ///< all of it lies behind the first place
};

/// Hands out the places of arguments, in order (psABI for x86-64, 3.2.3; for i386, 2.2.3).
class ArgumentPlaces {
public:
  explicit ArgumentPlaces(CallingConvention convention) : convention_(convention) {}

  /// The result is returned in memory, whose address is a hidden first argument.
  void skip_hidden_result() { next_integer(); }
  Placement next(const Type& type);
  /// Where the first argument behind these would be, as CaptureOp::length_at has it.
  std::uint32_t variadic() const;

private:
  std::uint32_t next_integer();
  std::uint32_t next_stack(std::uint32_t size, std::uint32_t align);

  CallingConvention convention_;
  std::uint32_t integers_ = 0; ///< registers used
  std::uint32_t vectors_ = 0;
  std::uint32_t stack_ = 0; ///< bytes used
};

/// Where a result lies in the words of a return; nothing where it is in memory that rax points to.
std::optional<Placement> place_of_result(const Type& type, CallingConvention convention);

constexpr std::uint8_t word_of(CallingConvention convention) {
  return convention == CallingConvention::SystemV32 ? 4 : 8;
}

} // namespace sonictrace::proto
