#pragma once

#include <span>
#include <vector>

#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

/// Bytes of an image that may hold code.
struct CodeArea {
  ElfAddress begin;
  std::span<const std::byte> code;
  bool is_plt = false;

  ElfAddress end() const { return begin + static_cast<std::int64_t>(code.size()); }
  bool contains(ElfAddress address) const {
    return address.value() - begin.value() < code.size(); // wraps for one before the begin
  }
};

/// The executable sections, as the segments map them: what lies in an executable segment besides
/// is data. Of a file without sections, the segments. By address, without overlaps.
std::vector<CodeArea> code_areas(const Image& image);

/// The one that holds `address`, or null. `areas` as code_areas gives them.
const CodeArea* find_area(std::span<const CodeArea> areas, ElfAddress address);

} // namespace sonictrace::elf
