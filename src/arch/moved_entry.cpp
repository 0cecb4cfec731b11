#include "sonictrace/arch/moved_entry.hpp"

#include "arch/entry_mover.hpp"

namespace sonictrace {

std::optional<std::uint8_t> MovedEntry::moved_of(std::uint64_t offset) const {
  if (offset <= skipped || offset >= std::uint64_t{skipped} + replaced) return std::nullopt;
  for (const Instruction& instruction : instructions)
    if (instruction.original == offset) return instruction.moved;
  return std::nullopt;
}

std::uint8_t MovedEntry::original_of(std::uint64_t offset) const {
  std::uint8_t original = skipped;
  for (const Instruction& instruction : instructions)
    if (instruction.moved <= offset) original = instruction.original;
  return original;
}

Result<MovedEntry> move_entry(std::span<const std::byte> function, TraceeAddress at,
                              TraceeAddress new_place, EntryJump jump) {
  return EntryMover(function, at, new_place, jump).move();
}

} // namespace sonictrace
