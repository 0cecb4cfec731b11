#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "elf/byte_scan.hpp"
#include "elf/code_reader.hpp"
#include "elf/unwind_index.hpp"

namespace sonictrace::elf {

/// The instructions of one function, found by following its control flow. What no flow reaches may
/// be data, so that bytes in it are no instructions, whatever they look like.
class FunctionWalk {
public:
  /// `code`: the bytes of `range`, or fewer where the file ends.
  FunctionWalk(const CodeReader& reader, const FunctionRange& range,
               std::span<const std::byte> code);

  /// Follows the flow from `root` on; nothing where it is not in the function.
  void follow(ElfAddress root);

  /// Where the instruction with the opcode of `use` begins, if it has been reached.
  std::optional<ElfAddress> start_of(const SlotUse& use) const;

  /// Follows also blocks that nothing seen leads to, up to `address`: they begin right behind
  /// others.
  void follow_hidden_blocks(ElfAddress address);

  /// A jump table or the like: there are targets that cannot be told.
  bool has_indirect_jump() const { return has_indirect_jump_; }

private:
  bool contains(ElfAddress address) const {
    return address.value() - begin_.value() < sizes_.size(); // wraps for one before the begin
  }
  std::size_t offset_of(ElfAddress address) const {
    return static_cast<std::size_t>(address - begin_);
  }
  void follow_path(ElfAddress at);
  /// The end of the last instruction reached before `address`, or the function's begin.
  ElfAddress reached_up_to(ElfAddress address);

  const CodeReader& reader_;
  std::span<const std::byte> code_;
  ElfAddress begin_;
  std::vector<std::uint8_t> sizes_; ///< by offset: of the instruction that begins there, or 0
  std::vector<ElfAddress> to_do_;
  std::uint64_t search_budget_; ///< bytes to look back at, in a function made to cost much
  bool has_indirect_jump_ = false;
};

} // namespace sonictrace::elf
