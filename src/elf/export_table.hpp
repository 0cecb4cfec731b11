#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sonictrace/elf/export_filter.hpp"
#include "sonictrace/elf/symbol.hpp"

namespace sonictrace::elf {

/// Finds the definitions of a dynamic symbol table by name, as the dynamic linker does. One hash
/// table of our own serves DT_HASH, DT_GNU_HASH and images with neither, and needs no trust in
/// what the file's tables say.
class ExportTable {
public:
  ExportTable() = default;
  /// Borrows `symbols`.
  explicit ExportTable(const std::vector<Symbol>& symbols);

  /// `hash` is hash_of(name): a search over many images computes it once.
  const Symbol* find(std::string_view name, std::string_view version, std::size_t hash) const;
  ExportFilter filter() const;
  static std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>()(name); }

private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  const std::vector<Symbol>* symbols_ = nullptr;
  std::vector<std::uint32_t> heads_;  ///< by hash; a power of two of them
  std::vector<std::uint64_t> filter_; ///< a power of two of them
  std::vector<std::uint32_t> next_;   ///< by symbol: the next one of the same hash, in table order
};

} // namespace sonictrace::elf
