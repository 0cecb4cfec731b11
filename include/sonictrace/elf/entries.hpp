#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonictrace/arch/moved_entry.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// The first bytes of a function, of which a patch takes some (see arch/moved_entry.hpp).
struct EntryBytes {
  ElfAddress entry;
  std::uint8_t skipped = 0;  ///< bytes that stay
  std::uint8_t replaced = 0; ///< bytes behind them that get a jump, as one instruction
};

/// Padding that nothing runs, as large as a `jmp rel32`, in reach of a function's `jmp rel8`.
struct EntryIsland {
  ElfAddress at;
  std::span<const std::byte> bytes; ///< that the file has there
};

/// How a function's entry can be patched.
struct EntryWay {
  std::optional<EntryJump> jump;
  std::vector<EntryIsland> islands; ///< of a short jump: any of them will do, the nearest first
  std::string why_not;              ///< where there is no jump
};

/// Tells where the first instructions of an x86-64 image's functions can be replaced by a jump.
///
/// Seen are: jumps and calls of 32-bit displacement in all code, short jumps in all code that is
/// near enough, begins of other functions, addresses that relocations fill in (computed gotos), and
/// jump tables that the function itself refers to. Not seen is a jump table that only another part
/// of the same function refers to (a switch in its `.cold` part that leads to the hot part's first
/// five bytes): compilers put the entry's block first and give those bytes no second way in.
class EntrySurvey {
public:
  explicit EntrySurvey(std::shared_ptr<const Image> image);
  ~EntrySurvey();

  /// The bytes from `entry` on, up to where something else is known to begin: what move_entry
  /// takes. Empty where there is no code.
  std::span<const std::byte> code(ElfAddress entry) const;

  /// For each of `entries` why its bytes must not be replaced, in words; nothing where they can be.
  /// Reads all code of the image once.
  std::vector<std::optional<std::string>>
  why_not_replaceable(std::span<const EntryBytes> entries) const;

  /// How each of `entries` can be patched: by a long jump where that does, or else by a short one,
  /// as in glibc's memmove, whose fourth byte mempcpy jumps to. Islands may be in the padding
  /// behind a short function, which its own long jump needs, and two entries may have the same: it
  /// is for the caller to give each to one only.
  std::vector<EntryWay> ways(std::span<const ElfAddress> entries) const;

  EntrySurvey(const EntrySurvey&) = delete;
  EntrySurvey& operator=(const EntrySurvey&) = delete;

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

} // namespace sonictrace::elf
