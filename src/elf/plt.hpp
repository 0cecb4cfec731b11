#pragma once

#include <span>
#include <vector>

#include "elf/byte_scan.hpp"
#include "elf/code_reader.hpp"
#include "elf/slots.hpp"
#include "sonictrace/elf/calls.hpp"

namespace sonictrace::elf {

/// A section that holds nothing but PLT entries: .plt, .plt.sec, .plt.got, .plt.bnd, .iplt.
bool is_plt_section(const Section& section);

/// The sites in the code of a PLT section, mapped at `begin`. It is all code, so that it can be
/// decoded from its beginning, whatever the shape and size of its entries.
std::vector<CallSite> find_plt_sites(std::span<const std::byte> code, ElfAddress begin,
                                     const CodeReader& reader, const SlotMap& slots);

/// For files without section headers: takes the jumps that look like PLT entries, alone or by
/// standing in a row, out of `uses` (all those in `code`, by address), and gives their sites.
std::vector<CallSite> take_plt_like_sites(std::vector<SlotUse>& uses,
                                          std::span<const std::byte> code, ElfAddress begin,
                                          const CodeReader& reader);

} // namespace sonictrace::elf
