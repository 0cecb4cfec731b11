#pragma once

#include <optional>
#include <span>

#include "elf/unwind_index.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// Tells in which function an address is, from the unwinder's table or else from symbols.
class FunctionBounds {
public:
  explicit FunctionBounds(const Image& image) : image_(image), unwind_(image) {}

  /// Nothing for code of unknown functions. Quick for addresses in ascending order.
  std::optional<FunctionRange> find(ElfAddress address);

  /// The code of a function that has no bounds is anybody's guess in a file where no function has
  /// any, and not code in one where all others do.
  bool knows_functions() const { return !unwind_.is_empty(); }

private:
  std::optional<FunctionRange> by_symbol(ElfAddress address) const;

  const Image& image_;
  UnwindIndex unwind_;
  std::optional<FunctionRange> last_;
};

} // namespace sonictrace::elf
