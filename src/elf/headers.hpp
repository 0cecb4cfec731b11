#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace::elf {

/// A section header with its content, checked against the file.
struct SectionHeader {
  std::string_view name;
  std::uint32_t type = 0; ///< SHT_*
  std::uint64_t flags = 0;
  ElfAddress begin;
  std::span<const std::byte> content; ///< empty for SHT_NOBITS, and where out of file
  std::uint32_t link = 0;             ///< index into Headers::sections, not checked
};

/// A program header with its content, checked against the file.
struct ProgramHeader {
  std::uint32_t type = 0; ///< PT_*
  std::uint32_t flags = 0;
  ElfAddress begin;
  std::uint64_t memory_size = 0;      ///< bytes
  std::span<const std::byte> content; ///< empty where out of file; at most memory_size
};

/// The headers of an ELF file of either class, in file order.
struct Headers {
  GElf_Ehdr elf{};
  bool is_64 = false;
  bool is_little_endian = false;
  std::vector<ProgramHeader> segments;
  std::vector<SectionHeader> sections; ///< the null section included; empty where stripped
};

/// Fails with executable_format_error for what is not an ELF file.
Result<Headers> read_headers(std::span<const std::byte> file, const std::string& name);

/// The NUL-terminated text at `offset`; empty where it does not lie in `table` as a whole, or is
/// longer than any real name (kLongestName).
std::string_view text_at(std::span<const std::byte> table, std::uint64_t offset);

/// Bounds the work that a hostile file can ask for: many symbols that share one endless name.
constexpr std::size_t kLongestName = 64 * 1024;

/// The part of `whole` that begins at `offset`, at most `size` bytes; empty where out of range.
std::span<const std::byte> clip(std::span<const std::byte> whole, std::uint64_t offset,
                                std::uint64_t size);

} // namespace sonictrace::elf
