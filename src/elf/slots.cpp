#include "elf/slots.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "elf/dynamic.hpp"

namespace sonictrace::elf {
namespace {

// i386's numbers agree with x86-64's but for IRELATIVE (the psABIs, "Relocation Types").
static_assert(R_X86_64_JUMP_SLOT == R_386_JMP_SLOT && R_X86_64_GLOB_DAT == R_386_GLOB_DAT);

std::optional<SlotBinding> binding_of(std::uint64_t type, Machine machine) {
  if (type == R_X86_64_JUMP_SLOT) return SlotBinding::JumpSlot;
  if (type == R_X86_64_GLOB_DAT) return SlotBinding::GlobDat;
  if (type == (machine == Machine::I386 ? R_386_IRELATIVE : R_X86_64_IRELATIVE))
    return SlotBinding::Irelative;
  return std::nullopt;
}

/// IFUNC symbols by the address of their resolver, to name IRELATIVE slots.
class ResolverNames {
public:
  explicit ResolverNames(const Image& image) : image_(image) {}

  const Symbol* find(ElfAddress resolver) {
    if (!indexed_) index();
    const auto found = by_address_.find(resolver.value());
    return found == by_address_.end() ? nullptr : found->second;
  }

private:
  void index() {
    indexed_ = true;
    for (const Symbol& function : image_.functions()) // best names first
      if (function.type == SymbolType::Ifunc)
        by_address_.emplace(function.value.value(), &function);
  }

  const Image& image_;
  bool indexed_ = false; ///< most images have no IFUNC and need not index their functions
  std::unordered_map<std::uint64_t, const Symbol*> by_address_;
};

/// The relocations of a static program, which nothing but its own start code reads: between two
/// symbols, or in a section of a known name.
std::vector<RelocationTable> static_relocations(const Image& image) {
  const bool with_addend = image.machine() == Machine::X86_64;
  constexpr std::array kSections = {".rela.plt", ".rela.iplt", ".rela.dyn",
                                    ".rel.plt",  ".rel.iplt",  ".rel.dyn"};
  std::vector<RelocationTable> tables;
  for (const Section& section : image.sections())
    if (std::find(kSections.begin(), kSections.end(), section.name) != kSections.end())
      tables.push_back({section.content, with_addend});
  if (!tables.empty()) return tables;

  std::optional<ElfAddress> begin, end;
  for (const Symbol& symbol : image.static_symbols()) {
    if (symbol.name == "__rela_iplt_start" || symbol.name == "__rel_iplt_start")
      begin = symbol.value;
    if (symbol.name == "__rela_iplt_end" || symbol.name == "__rel_iplt_end") end = symbol.value;
  }
  if (begin && end && *begin < *end)
    tables.push_back(
        {image.bytes_at(*begin, static_cast<std::size_t>(*end - *begin)), with_addend});
  return tables;
}

class Collector {
public:
  explicit Collector(const Image& image)
      : image_(image), records_(image.machine() == Machine::X86_64), resolvers_(image) {}

  void add(const RelocationTable& table) {
    for (std::size_t index = 0;; ++index) {
      const auto relocation = records_.relocation(table.entries, index, table.with_addend);
      if (!relocation) return;
      const auto binding = binding_of(ELF64_R_TYPE(relocation->r_info), image_.machine());
      if (binding) add(*relocation, *binding, table.with_addend);
    }
  }

  std::vector<ImportSlot> take() {
    const auto by_slot = [](const ImportSlot& a, const ImportSlot& b) { return a.slot < b.slot; };
    const auto same = [](const ImportSlot& a, const ImportSlot& b) { return a.slot == b.slot; };
    std::stable_sort(slots_.begin(), slots_.end(), by_slot);
    slots_.erase(std::unique(slots_.begin(), slots_.end(), same), slots_.end());
    return std::move(slots_);
  }

private:
  void add(const GElf_Rela& relocation, SlotBinding binding, bool with_addend) {
    ImportSlot slot;
    slot.slot = ElfAddress(relocation.r_offset);
    slot.binding = binding;
    if (binding == SlotBinding::Irelative) {
      slot.type = SymbolType::Ifunc;
      slot.defined_at = resolver_of(relocation, with_addend);
      if (const Symbol* const ifunc = resolvers_.find(slot.defined_at)) {
        slot.name = ifunc->name;
        slot.version = ifunc->version;
      }
    } else {
      const auto& symbols = image_.dynamic_symbols();
      const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
      if (index == 0 || index > symbols.size()) return;
      const Symbol& symbol = symbols[index - 1];
      if (symbol.name.empty() || symbol.type == SymbolType::Object ||
          symbol.type == SymbolType::Tls || symbol.type == SymbolType::Other)
        return;
      slot.name = symbol.name;
      slot.version = symbol.version;
      slot.type = symbol.type;
      if (symbol.defined) slot.defined_at = symbol.value;
    }
    slots_.push_back(slot);
  }

  /// i386's tables have the addend in the slot itself.
  ElfAddress resolver_of(const GElf_Rela& relocation, bool with_addend) const {
    if (with_addend) return ElfAddress(static_cast<std::uint64_t>(relocation.r_addend));
    const auto content = image_.bytes_at(ElfAddress(relocation.r_offset), records_.word_size());
    return ElfAddress(Records::value<std::uint32_t>(content, 0).value_or(0));
  }

  const Image& image_;
  Records records_;
  ResolverNames resolvers_;
  std::vector<ImportSlot> slots_;
};

} // namespace

std::vector<ImportSlot> collect_slots(const Image& image) {
  Collector collector(image);
  for (const RelocationTable& table : image.dynamic_info().relocations)
    collector.add(table);
  if (!image.dynamic())
    for (const RelocationTable& table : static_relocations(image))
      collector.add(table);
  return collector.take();
}

SlotMap::SlotMap(const std::vector<ImportSlot>& imports) : imports_(&imports), first_(1) {
  if (imports.empty()) return;
  first_ = imports.front().slot;
  last_ = imports.back().slot;
}

std::optional<std::uint32_t> SlotMap::find(ElfAddress address) const {
  if (!may_hold(address)) return std::nullopt;
  const auto found =
      std::lower_bound(imports_->begin(), imports_->end(), address,
                       [](const ImportSlot& import, ElfAddress x) { return import.slot < x; });
  if (found == imports_->end() || found->slot != address) return std::nullopt;
  return static_cast<std::uint32_t>(found - imports_->begin());
}

} // namespace sonictrace::elf
