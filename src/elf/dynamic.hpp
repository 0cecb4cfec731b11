#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/headers.hpp"
#include "elf/records.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

struct RelocationTable {
  std::span<const std::byte> entries;
  bool with_addend = false;
};

/// What PT_DYNAMIC says, each table clipped to the file. All empty in a static program.
struct DynamicInfo {
  std::optional<ElfAddress> at;
  std::span<const std::byte> strings;
  std::span<const std::byte> symbols; ///< whole entries, the null entry included
  std::span<const std::byte> symbol_versions;
  std::span<const std::byte> versions_needed;
  std::span<const std::byte> versions_defined;
  std::vector<RelocationTable> relocations;      ///< DT_JMPREL first
  std::span<const std::byte> packed_relocations; ///< DT_RELR
  std::optional<ElfAddress> plt_got;             ///< DT_PLTGOT
  std::string_view soname;
  std::vector<std::string_view> needed;
};

/// The bytes of the PT_LOAD segment that holds `from`, from there to the end of its file part.
std::span<const std::byte> segment_bytes(std::span<const Segment> segments, ElfAddress from);

DynamicInfo read_dynamic(const Headers& headers, std::span<const Segment> segments,
                         const Records& records);

} // namespace sonictrace::elf
