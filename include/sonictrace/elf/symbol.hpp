#pragma once

#include <cstdint>
#include <string_view>

#include "sonictrace/base/address.hpp"

namespace sonictrace::elf {

enum class SymbolType : std::uint8_t { None, Object, Function, Ifunc, Tls, Other };
enum class SymbolScope : std::uint8_t { Local, Global, Weak };

/// One entry of .dynsym or .symtab. The texts lie in the Image that gave it and live as long.
struct Symbol {
  std::string_view name;         ///< mangled, without a version suffix
  std::string_view version;      ///< empty: none (or the base version)
  ElfAddress value;              ///< of a function: its first instruction
  std::uint64_t size = 0;        ///< bytes; 0 where the file does not say
  SymbolType type = SymbolType::None;
  SymbolScope scope = SymbolScope::Global;
  bool defined = false;          ///< st_shndx is not SHN_UNDEF
  bool default_version = true;   ///< NAME@@VERSION, not NAME@VERSION
};

} // namespace sonictrace::elf
