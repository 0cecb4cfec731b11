#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "elf/code_areas.hpp"
#include "elf/code_reader.hpp"
#include "elf/function_bounds.hpp"
#include "elf/guarded_bytes.hpp"

namespace sonictrace::elf {

/// Finds what leads to guarded bytes: by bytes, so that nothing is missed, each find then confirmed
/// as an instruction's.
class EntryReferences {
public:
  EntryReferences(const Image& image, std::span<const CodeArea> areas, GuardedBytes& guarded);

  /// Jumps and calls with 32-bit displacements in all code.
  void scan_long_jumps();
  /// Jumps with 8-bit displacements in the code around.
  void scan_short_jumps();
  /// Addresses that relocations put into data.
  void scan_relocations();
  /// What the functions themselves refer to: labels, and jump tables.
  void scan_own_code();

private:
  /// What begins at an address within an instruction.
  enum class Field : std::uint8_t {
    None,
    ShortBranch, ///< the 8-bit displacement of a jump
    LongBranch,  ///< the 32-bit displacement of a jump or call
    RipRelative, ///< the displacement of an operand
    Other,       ///< another displacement, or an immediate
    Unknown,     ///< data between instructions, or code of unknown functions: may be any
  };

  void scan_long_jumps(std::span<const std::byte> code, ElfAddress begin);
  void scan_short_jumps(const GuardedBytes::Range& range);
  Field field_at(ElfAddress address);
  bool may_be(ElfAddress address, std::initializer_list<Field> wanted);
  void scan_own_code(const GuardedBytes::Range& range);
  bool has_offset_into(ElfAddress table, const GuardedBytes::Range& range);
  bool has_address_into(ElfAddress table, const GuardedBytes::Range& range);
  bool afford(std::size_t bytes);
  bool is_code(ElfAddress address) const;
  bool is_data(ElfAddress address) const;

  const Image& image_;
  std::span<const CodeArea> areas_;
  GuardedBytes& guarded_;
  FunctionBounds bounds_;
  CodeReader reader_;
  // What a file of this size may cost: hostile ones have functions that overlap without end.
  std::uint64_t table_budget_; ///< entries of jump tables
  std::uint64_t code_budget_;  ///< bytes of functions
};

} // namespace sonictrace::elf
