#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "elf/records.hpp"
#include "elf/versions.hpp"
#include "sonictrace/elf/symbol.hpp"

namespace sonictrace::elf {

/// All entries of a symbol table but the null entry: the symbol with index N of the file is at N-1.
/// `versions` is the content of .gnu.version, or empty.
std::vector<Symbol> read_symbols(std::span<const std::byte> table,
                                 std::span<const std::byte> strings,
                                 std::span<const std::byte> versions, const VersionNames& names,
                                 const Records& records);

} // namespace sonictrace::elf
