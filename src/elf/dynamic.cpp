#include "elf/dynamic.hpp"

#include <algorithm>
#include <limits>

namespace sonictrace::elf {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The entries of interest as they stand in the file.
struct RawDynamic {
  std::uint64_t strings = 0, strings_size = 0;
  std::uint64_t symbols = 0, symbol_versions = 0;
  std::uint64_t versions_needed = 0, versions_defined = 0;
  std::uint64_t hash = 0, gnu_hash = 0;
  std::uint64_t jmprel = 0, jmprel_size = 0;
  std::uint64_t rela = 0, rela_size = 0;
  std::uint64_t rel = 0, rel_size = 0;
  std::uint64_t relr = 0, relr_size = 0;
  std::uint64_t plt_got = 0, plt_relocation_kind = 0;
  std::uint64_t soname = 0;
  std::vector<std::uint64_t> needed;
};

RawDynamic read_entries(std::span<const std::byte> table, const Records& records) {
  RawDynamic raw;
  for (std::size_t index = 0;; ++index) {
    const auto entry = records.dynamic(table, index);
    if (!entry || entry->d_tag == DT_NULL) return raw;
    const std::uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_STRTAB: raw.strings = value; break;
      case DT_STRSZ: raw.strings_size = value; break;
      case DT_SYMTAB: raw.symbols = value; break;
      case DT_VERSYM: raw.symbol_versions = value; break;
      case DT_VERNEED: raw.versions_needed = value; break;
      case DT_VERDEF: raw.versions_defined = value; break;
      case DT_HASH: raw.hash = value; break;
      case DT_GNU_HASH: raw.gnu_hash = value; break;
      case DT_JMPREL: raw.jmprel = value; break;
      case DT_PLTRELSZ: raw.jmprel_size = value; break;
      case DT_PLTREL: raw.plt_relocation_kind = value; break;
      case DT_RELA: raw.rela = value; break;
      case DT_RELASZ: raw.rela_size = value; break;
      case DT_REL: raw.rel = value; break;
      case DT_RELSZ: raw.rel_size = value; break;
      case DT_RELR: raw.relr = value; break;
      case DT_RELRSZ: raw.relr_size = value; break;
      case DT_PLTGOT: raw.plt_got = value; break;
      case DT_SONAME: raw.soname = value; break;
      case DT_NEEDED: raw.needed.push_back(value); break;
      default: break;
    }
  }
}

/// Entries of the symbol table as DT_HASH counts them (System V ABI, "Hash Table").
std::uint64_t count_by_hash(std::span<const std::byte> table) {
  return Records::value<std::uint32_t>(table, 4).value_or(0);
}

/// DT_GNU_HASH does not say how many symbols there are; the last chain's end does. Symbols that
/// nobody can look up (undefined ones) come first and are in no chain.
std::uint64_t count_by_gnu_hash(std::span<const std::byte> table, const Records& records) {
  const auto bucket_count = Records::value<std::uint32_t>(table, 0);
  const auto first_hashed = Records::value<std::uint32_t>(table, 4);
  const auto bloom_words = Records::value<std::uint32_t>(table, 8);
  if (!bucket_count || !first_hashed || !bloom_words) return 0;

  const auto buckets =
      clip(table, 16 + std::uint64_t{*bloom_words} * records.word_size(), kNoLimit);
  const auto chains = clip(buckets, std::uint64_t{*bucket_count} * 4, kNoLimit);
  std::uint32_t last = 0;
  for (std::size_t bucket = 0; bucket < *bucket_count; ++bucket) {
    const auto head = Records::value<std::uint32_t>(buckets, bucket * 4);
    if (!head) break;
    last = std::max(last, *head);
  }
  if (last < *first_hashed) return *first_hashed;
  for (std::size_t index = last;; ++index) {
    const auto hash = Records::value<std::uint32_t>(chains, (index - *first_hashed) * 4);
    if (!hash) return last;
    if ((*hash & 1) != 0) return index + 1;
  }
}

/// With no symbol to look up, linkers write an empty DT_GNU_HASH that says nothing of the undefined
/// ones; those that relocations use are at least as many.
std::uint64_t count_by_relocations(std::span<const RelocationTable> tables,
                                   const Records& records) {
  std::uint64_t count = 0;
  for (const RelocationTable& table : tables)
    for (std::size_t index = 0;; ++index) {
      const auto relocation = records.relocation(table.entries, index, table.with_addend);
      if (!relocation) break;
      count = std::max<std::uint64_t>(count, ELF64_R_SYM(relocation->r_info) + 1);
    }
  return count;
}

std::span<const std::byte> find_dynamic_table(const Headers& headers,
                                              std::span<const Segment> segments,
                                              std::optional<ElfAddress>& at) {
  for (const ProgramHeader& segment : headers.segments) {
    if (segment.type != PT_DYNAMIC) continue;
    at = segment.begin;
    return clip(segment_bytes(segments, segment.begin), 0, segment.memory_size);
  }
  return {};
}

} // namespace

std::span<const std::byte> segment_bytes(std::span<const Segment> segments, ElfAddress from) {
  for (const Segment& segment : segments) {
    if (from < segment.begin) continue;
    const auto found = clip(segment.content, from.value() - segment.begin.value(), kNoLimit);
    if (!found.empty()) return found;
  }
  return {};
}

DynamicInfo read_dynamic(const Headers& headers, std::span<const Segment> segments,
                         const Records& records) {
  DynamicInfo info;
  const auto entries = find_dynamic_table(headers, segments, info.at);
  const RawDynamic raw = read_entries(entries, records);
  const auto table = [&](std::uint64_t at, std::uint64_t size) {
    if (at == 0) return std::span<const std::byte>{};
    return clip(segment_bytes(segments, ElfAddress(at)), 0, size);
  };

  info.strings = table(raw.strings, raw.strings_size);
  info.symbol_versions = table(raw.symbol_versions, kNoLimit);
  info.versions_needed = table(raw.versions_needed, kNoLimit);
  info.versions_defined = table(raw.versions_defined, kNoLimit);
  if (raw.plt_got != 0) info.plt_got = ElfAddress(raw.plt_got);
  info.soname = text_at(info.strings, raw.soname);
  for (const std::uint64_t offset : raw.needed) {
    const std::string_view name = text_at(info.strings, offset);
    if (!name.empty()) info.needed.push_back(name);
  }

  const bool plt_with_addend = raw.plt_relocation_kind != DT_REL;
  info.relocations = {{table(raw.jmprel, raw.jmprel_size), plt_with_addend},
                      {table(raw.rela, raw.rela_size), true},
                      {table(raw.rel, raw.rel_size), false}};

  info.packed_relocations = table(raw.relr, raw.relr_size);

  std::uint64_t count = 0;
  for (const SectionHeader& section : headers.sections)
    if (section.type == SHT_DYNSYM && section.begin.value() == raw.symbols)
      count = section.content.size() / records.symbol_size();
  if (count == 0 && raw.hash != 0) count = count_by_hash(table(raw.hash, kNoLimit));
  if (count == 0) {
    if (raw.gnu_hash != 0) count = count_by_gnu_hash(table(raw.gnu_hash, kNoLimit), records);
    count = std::max(count, count_by_relocations(info.relocations, records));
  }
  const auto symbols = table(raw.symbols, kNoLimit);
  count = std::min<std::uint64_t>(count, symbols.size() / records.symbol_size());
  info.symbols = symbols.first(count * records.symbol_size());
  return info;
}

} // namespace sonictrace::elf
