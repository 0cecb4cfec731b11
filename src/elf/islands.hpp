#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "elf/code_reader.hpp"
#include "elf/function_bounds.hpp"
#include "sonictrace/elf/entries.hpp"

namespace sonictrace::elf {

/// Finds the padding between functions that could hold a jump.
///
///     function begin: ...      known by the unwinder's table, or a symbol that has a size
///     last:           ret      or another instruction that does not go on
///     function end:   nop...   nothing but padding, up to where the next one is known to begin
///
/// That no jump leads there is for others to show.
class Islands {
public:
  static constexpr std::size_t kSize = size_of(EntryJump::Long);
  /// The bytes from an address on, up to where something else is known to begin.
  using CodeFrom = std::function<std::span<const std::byte>(ElfAddress)>;

  Islands(const Image& image, CodeFrom code_from);

  /// Those in reach of a `jmp rel8` at `jump`, the nearest first. Without overlaps.
  std::vector<EntryIsland> near(ElfAddress jump);

private:
  std::span<const std::byte> padding_behind(const FunctionRange& function);
  bool ends_for_good(const FunctionRange& function);
  bool is_padding(std::span<const std::byte> bytes) const;

  const Image& image_;
  CodeFrom code_from_;
  FunctionBounds bounds_;
  CodeReader reader_;
  /// Bytes of functions: hostile files have some that overlap without end.
  std::uint64_t budget_ = std::uint64_t{1} << 26;
};

} // namespace sonictrace::elf
