#include "elf/export_table.hpp"

#include <bit>

namespace sonictrace::elf {
namespace {

/// What the dynamic linker binds to (glibc, elf/dl-lookup.c, check_match).
bool is_export(const Symbol& symbol) {
  if (!symbol.defined || symbol.scope == SymbolScope::Local || symbol.name.empty()) return false;
  return symbol.type != SymbolType::Other;
}

} // namespace

ExportTable::ExportTable(const std::vector<Symbol>& symbols) : symbols_(&symbols) {
  if (symbols.empty()) return;
  heads_.assign(std::bit_ceil(symbols.size()), kEnd);
  next_.assign(symbols.size(), kEnd);
  filter_.assign(std::bit_ceil(symbols.size() / 4 + 1), 0);
  // Backwards, so that chains are in the order of the table, and prepending, so that a table full
  // of one name costs no more than another.
  for (std::size_t index = symbols.size(); index-- > 0;) {
    if (!is_export(symbols[index])) continue;
    const auto hash = hash_of(symbols[index].name);
    const auto bucket = hash & (heads_.size() - 1);
    filter_[hash & (filter_.size() - 1)] |= ExportFilter::bits_of(hash);
    next_[index] = heads_[bucket];
    heads_[bucket] = static_cast<std::uint32_t>(index);
  }
}

ExportFilter ExportTable::filter() const {
  static constexpr std::uint64_t kNothing = 0;
  return filter_.empty() ? ExportFilter(&kNothing, 0)
                         : ExportFilter(filter_.data(), filter_.size() - 1);
}

const Symbol* ExportTable::find(std::string_view name, std::string_view version,
                                std::size_t hash) const {
  if (heads_.empty()) return nullptr;
  if (!filter().may_hold(hash)) return nullptr;
  const auto bucket = hash & (heads_.size() - 1);
  const Symbol* unversioned = nullptr;
  for (std::uint32_t index = heads_[bucket]; index != kEnd; index = next_[index]) {
    const Symbol& symbol = (*symbols_)[index];
    if (symbol.name != name) continue;
    if (version.empty() ? symbol.default_version : symbol.version == version) return &symbol;
    // A reference that asks for a version also takes a definition of the base version.
    if (symbol.version.empty() && symbol.default_version && unversioned == nullptr)
      unversioned = &symbol;
  }
  return unversioned;
}

} // namespace sonictrace::elf
