#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// The code of one function, or of one part of it where the compiler has split it.
struct FunctionRange {
  ElfAddress begin;
  ElfAddress end;
  bool has_landing_pads = false; ///< entered by the unwinder too
};

/// Finds functions in files without symbols, through the table that unwinders search
/// (.eh_frame_hdr; Linux Standard Base, "Exception Frames").
class UnwindIndex {
public:
  /// Empty where the image has no such table, or one of an encoding that no linker writes.
  explicit UnwindIndex(const Image& image);

  bool is_empty() const { return count_ == 0; }
  std::optional<FunctionRange> function_at(ElfAddress address) const;
  /// Where the next function behind `address` begins.
  std::optional<ElfAddress> begin_behind(ElfAddress address) const;

  /// Where code begins that has its caller's frame still: the return address is on top of the
  /// stack, as a call has left it. In the table's order.
  std::vector<ElfAddress> entries_of_calls() const;

private:
  bool has_frame_of_caller(ElfAddress fde) const;
  std::size_t first_behind(ElfAddress address) const; ///< index of an entry, or count_
  std::int32_t entry(std::size_t index, std::size_t column) const;
  std::optional<FunctionRange> read_fde(ElfAddress fde, ElfAddress begin) const;

  const Image& image_;
  ElfAddress at_;                    ///< of the table's header; its entries are relative to it
  std::span<const std::byte> table_; ///< pairs of function and FDE
  std::size_t count_ = 0;
};

} // namespace sonictrace::elf
