#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/elf/symbol.hpp"

namespace sonictrace::elf {

/// The defined functions of both symbol tables, by address.
class FunctionIndex {
public:
  FunctionIndex() = default;
  /// Takes functions that lie in an executable segment; borrows nothing but the symbols' texts.
  FunctionIndex(const std::vector<Symbol>& dynamic_symbols,
                const std::vector<Symbol>& static_symbols, const std::vector<Segment>& segments,
                const std::vector<Section>& sections);

  const std::vector<Symbol>& functions() const { return functions_; }
  const Symbol* at(ElfAddress address) const;

private:
  /// Where code may lie: an executable section, or a segment of a file without sections.
  struct Area {
    ElfAddress begin, end;
  };
  bool share_an_area(ElfAddress a, ElfAddress b) const;
  const Symbol* best_name(std::uint32_t index) const; ///< of those at the same address

  std::vector<Symbol> functions_;        ///< by address; of equal ones the best name first
  std::vector<std::uint32_t> enclosing_; ///< by function: one before it that may reach beyond it
  std::vector<Area> areas_;              ///< by address
};

} // namespace sonictrace::elf
