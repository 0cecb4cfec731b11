#include "elf/symbol_table.hpp"

#include <elf.h>

#include "elf/headers.hpp"

namespace sonictrace::elf {
namespace {

SymbolType type_of(unsigned char info) {
  switch (ELF64_ST_TYPE(info)) {
    case STT_NOTYPE: return SymbolType::None;
    case STT_OBJECT:
    case STT_COMMON: return SymbolType::Object;
    case STT_FUNC: return SymbolType::Function;
    case STT_GNU_IFUNC: return SymbolType::Ifunc;
    case STT_TLS: return SymbolType::Tls;
    default: return SymbolType::Other;
  }
}

SymbolScope scope_of(unsigned char info) {
  switch (ELF64_ST_BIND(info)) {
    case STB_LOCAL: return SymbolScope::Local;
    case STB_WEAK: return SymbolScope::Weak;
    default: return SymbolScope::Global; // STB_GNU_UNIQUE too
  }
}

} // namespace

std::vector<Symbol> read_symbols(std::span<const std::byte> table,
                                 std::span<const std::byte> strings,
                                 std::span<const std::byte> versions, const VersionNames& names,
                                 const Records& records) {
  constexpr std::uint16_t kHidden = 0x8000;
  std::vector<Symbol> symbols;
  const std::size_t count = table.size() / records.symbol_size();
  if (count <= 1) return symbols;
  symbols.reserve(count - 1);
  for (std::size_t index = 1; index < count; ++index) {
    const auto raw = records.symbol(table, index);
    if (!raw) break;
    Symbol symbol;
    symbol.name = text_at(strings, raw->st_name);
    symbol.value = ElfAddress(raw->st_value);
    symbol.size = raw->st_size;
    symbol.type = type_of(raw->st_info);
    symbol.scope = scope_of(raw->st_info);
    symbol.defined = raw->st_shndx != SHN_UNDEF;
    if (const auto version = Records::value<std::uint16_t>(versions, index * 2)) {
      symbol.version = names.name(*version & static_cast<std::uint16_t>(~kHidden));
      symbol.default_version = !symbol.defined || (*version & kHidden) == 0;
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

} // namespace sonictrace::elf
