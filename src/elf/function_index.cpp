#include "elf/function_index.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sonictrace::elf {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Entry {
  Symbol symbol;
  bool dynamic;
};

/// Names reserved for the implementation (`__libc_malloc`), but not mangled ones.
bool is_reserved(std::string_view name) {
  return name.starts_with('_') && !name.starts_with("_Z") && !name.starts_with("_R");
}

/// Of several names at one address the smallest is shown: an exported one, before a local one, one
/// for people before a reserved one, then a strong one, then the one that says its size.
auto rank(const Entry& entry) {
  const Symbol& symbol = entry.symbol;
  const bool exported = entry.dynamic && symbol.scope != SymbolScope::Local;
  return std::tuple(symbol.value, !exported, symbol.scope == SymbolScope::Local,
                    is_reserved(symbol.name), symbol.scope != SymbolScope::Global, symbol.size == 0,
                    symbol.name);
}

bool is_function(const Symbol& symbol) {
  return symbol.defined && !symbol.name.empty() &&
         (symbol.type == SymbolType::Function || symbol.type == SymbolType::Ifunc);
}

/// One past the last byte; saturating, as st_size may be anything.
std::uint64_t end_of(const Symbol& symbol) {
  const std::uint64_t begin = symbol.value.value();
  const std::uint64_t end = begin + symbol.size;
  return end < begin ? std::numeric_limits<std::uint64_t>::max() : end;
}

std::vector<Entry> collect(const std::vector<Symbol>& dynamic_symbols,
                           const std::vector<Symbol>& static_symbols) {
  std::vector<Entry> entries;
  for (const Symbol& symbol : dynamic_symbols)
    if (is_function(symbol)) entries.push_back({symbol, true});
  for (const Symbol& symbol : static_symbols)
    if (is_function(symbol)) entries.push_back({symbol, false});
  return entries;
}

/// A name that both tables have at one address stays once: the dynamic one, which has a version.
void remove_doubles(std::vector<Entry>& entries) {
  const auto key = [](const Entry& entry) {
    return std::tie(entry.symbol.value, entry.symbol.name);
  };
  const auto order = [key](const Entry& entry) {
    return std::tuple_cat(key(entry), std::tuple(!entry.dynamic, !entry.symbol.default_version));
  };
  std::sort(entries.begin(), entries.end(),
            [order](const Entry& a, const Entry& b) { return order(a) < order(b); });
  const auto same = [key](const Entry& a, const Entry& b) { return key(a) == key(b); };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
}

} // namespace

FunctionIndex::FunctionIndex(const std::vector<Symbol>& dynamic_symbols,
                             const std::vector<Symbol>& static_symbols,
                             const std::vector<Segment>& segments,
                             const std::vector<Section>& sections) {
  const auto add_area = [this](ElfAddress begin, std::uint64_t size) {
    const ElfAddress end(begin.value() + size);
    if (begin < end) areas_.push_back({begin, end});
  };
  for (const Section& section : sections)
    if (section.executable) add_area(section.begin, section.content.size());
  if (areas_.empty())
    for (const Segment& segment : segments)
      if (segment.executable) add_area(segment.begin, segment.content.size());
  std::sort(areas_.begin(), areas_.end(),
            [](const Area& a, const Area& b) { return a.begin < b.begin; });

  std::vector<Entry> entries = collect(dynamic_symbols, static_symbols);
  std::erase_if(entries, [this](const Entry& entry) {
    return !share_an_area(entry.symbol.value, entry.symbol.value);
  });
  remove_doubles(entries);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
  functions_.reserve(entries.size());
  for (const Entry& entry : entries)
    functions_.push_back(entry.symbol);

  // Of the functions before each one, the nearest that reaches beyond its address. What a later
  // one has taken off the stack ends before it, and cannot hold an address behind it either.
  enclosing_.reserve(functions_.size());
  std::vector<std::uint32_t> open;
  for (const Symbol& function : functions_) {
    while (!open.empty() && end_of(functions_[open.back()]) <= function.value.value())
      open.pop_back();
    enclosing_.push_back(open.empty() ? kNone : open.back());
    open.push_back(static_cast<std::uint32_t>(enclosing_.size() - 1));
  }
}

bool FunctionIndex::share_an_area(ElfAddress a, ElfAddress b) const {
  const auto after =
      std::upper_bound(areas_.begin(), areas_.end(), a,
                       [](ElfAddress x, const Area& area) { return x < area.begin; });
  if (after == areas_.begin()) return false;
  const Area& area = *(after - 1);
  return a < area.end && area.begin <= b && b < area.end;
}

const Symbol* FunctionIndex::at(ElfAddress address) const {
  const auto after =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](ElfAddress x, const Symbol& function) { return x < function.value; });
  if (after == functions_.begin()) return nullptr;

  const auto nearest = static_cast<std::uint32_t>(after - functions_.begin() - 1);
  // Functions nest a few levels deep; a hostile file's without end.
  int levels = 100;
  for (std::uint32_t index = nearest; index != kNone && levels > 0;
       index = enclosing_[index], --levels)
    if (address.value() < end_of(functions_[index])) return best_name(index);
  if (!share_an_area(address, functions_[nearest].value)) return nullptr;
  return best_name(nearest);
}

const Symbol* FunctionIndex::best_name(std::uint32_t index) const {
  while (index > 0 && functions_[index - 1].value == functions_[index].value)
    --index;
  return &functions_[index];
}

} // namespace sonictrace::elf
