#pragma once

#include <span>
#include <vector>

#include "elf/unwind_index.hpp"
#include "sonictrace/base/address.hpp"

namespace sonictrace::elf {

/// Where jumps of other functions lead into some functions: compilers move rarely used blocks of a
/// function away, into one that is entered in many places (`name.cold`). Judged by bytes, so that
/// few of them may be no jumps.
class IncomingJumps {
public:
  /// `into` is sorted by begin.
  explicit IncomingJumps(std::vector<FunctionRange> into);

  /// Adds the jumps with 32-bit displacements that are in `code`, which is mapped at `begin`.
  void scan(std::span<const std::byte> code, ElfAddress begin);

  /// The targets in `range`, sorted.
  std::vector<ElfAddress> targets_in(const FunctionRange& range);

private:
  void add(ElfAddress target);

  std::vector<FunctionRange> into_;
  std::vector<ElfAddress> targets_;
  bool is_sorted_ = false;
};

} // namespace sonictrace::elf
