#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// What stands in place of a function's first instructions.
enum class EntryJump : std::uint8_t {
  Long,  ///< `jmp rel32`
  Short, ///< `jmp rel8`, for want of room, to a long one in the padding between functions near it
};
constexpr std::size_t size_of(EntryJump jump) { return jump == EntryJump::Long ? 5 : 2; }

/// The first instructions of a function, made to run elsewhere, so that a jump can stand in their
/// place:
///
///     entry   f3 0f 1e fa     endbr64                stays (`skipped`)
///     +4      e9 xx xx xx xx  jmp to the inline engine     `replaced` bytes
///     +9      cc cc           int3
///
/// What a copy can't hide: an instruction that faults does so at its new address, and the FPU's
/// last instruction pointer is of the copy. `original_of` tells a tracer that sees it.
struct MovedEntry {
  static constexpr std::size_t kJump = size_of(EntryJump::Long);
  static constexpr std::size_t kMostCode = 96; ///< bytes of `code` at most

  /// An instruction in the function, and what does its work in `code`. Offsets in bytes.
  struct Instruction {
    std::uint8_t original = 0; ///< from the entry
    std::uint8_t moved = 0;    ///< from the begin of `code`
  };

  std::uint8_t skipped =
      0; ///< bytes of an endbr64 that stay in place (4 or 0); the jump is behind it
  std::uint8_t replaced = 0; ///< bytes of the jump and the int3 behind it
  /// What to run instead: the instructions, made right for their new place, and the way back.
  std::vector<std::byte> code;
  std::vector<Instruction> instructions; ///< in their order
  /// The code ends with a call that pushes its original return address by hand. Where a shadow
  /// stack is in use (CET), the function's return would fault: don't take it.
  bool calls_by_jump = false;

  /// Where a thread that is stopped `offset` bytes behind the entry goes on in `code`, so that the
  /// jump can be written under it. Nothing where it need not move (it has not begun, or is through)
  /// or cannot (it is inside of an instruction).
  std::optional<std::uint8_t> moved_of(std::uint64_t offset) const;
  /// The other way: the offset from the entry of the instruction that a thread `offset` bytes
  /// behind the begin of `code` is at, or has in part done.
  std::uint8_t original_of(std::uint64_t offset) const;
};

/// Moves the first instructions of the function at `at` to `new_place`: as many as `jump` takes the
/// room of.
///
/// `function` are its bytes from the entry on, and the padding behind it, up to where anything else
/// begins. That no jump leads into what is replaced is for others to show.
///
/// Fails with not_supported and a reason in words where the copy would not do the same: an
/// instruction that reads its own address (a call in the middle, syscall), one that does not go on
/// (int3, ud2, a privileged one), a jump into the bytes that are replaced, an instruction that
/// nobody can decode, and a function that has too few bytes. Fails with result_out_of_range where
/// `new_place` is farther than 2 GB from what a rip-relative operand refers to.
Result<MovedEntry> move_entry(std::span<const std::byte> function, TraceeAddress at,
                              TraceeAddress new_place, EntryJump jump = EntryJump::Long);

} // namespace sonictrace
