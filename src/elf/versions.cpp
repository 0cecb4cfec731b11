#include "elf/versions.hpp"

#include <elf.h>

#include "elf/headers.hpp"
#include "elf/records.hpp"

namespace sonictrace::elf {
namespace {

// 15 bits of .gnu.version; the sixteenth says "hidden".
constexpr std::uint16_t kIndexMask = 0x7fff;
// Both tables are linked lists of offsets, which a hostile file can make run over each other. No
// file can use more entries than there are indices.
constexpr unsigned kMostEntries = kIndexMask;

} // namespace

VersionNames::VersionNames(std::span<const std::byte> needed, std::span<const std::byte> defined,
                           std::span<const std::byte> strings) {
  read_needed(needed, strings);
  read_defined(defined, strings);
}

void VersionNames::set(std::uint16_t index, std::string_view name) {
  index &= kIndexMask;
  if (index <= VER_NDX_GLOBAL) return; // local, and the base version
  if (index >= names_.size()) names_.resize(index + std::size_t{1});
  names_[index] = name;
}

// Elf32_Verneed and Elf64_Verneed are the same, as are Vernaux, Verdef and Verdaux.
void VersionNames::read_needed(std::span<const std::byte> table,
                               std::span<const std::byte> strings) {
  unsigned budget = kMostEntries;
  for (std::size_t at = 0; budget > 0; --budget) {
    const auto file = Records::value<Elf64_Verneed>(table, at);
    if (!file) return;
    std::size_t aux_at = at + file->vn_aux;
    for (unsigned left = file->vn_cnt; left > 0 && budget > 0; --left, --budget) {
      const auto aux = Records::value<Elf64_Vernaux>(table, aux_at);
      if (!aux) break;
      set(aux->vna_other, text_at(strings, aux->vna_name));
      if (aux->vna_next == 0) break;
      aux_at += aux->vna_next;
    }
    if (file->vn_next == 0 || budget == 0) return;
    at += file->vn_next;
  }
}

void VersionNames::read_defined(std::span<const std::byte> table,
                                std::span<const std::byte> strings) {
  unsigned budget = kMostEntries;
  for (std::size_t at = 0; budget > 0; --budget) {
    const auto definition = Records::value<Elf64_Verdef>(table, at);
    if (!definition) return;
    // The first name is the version's own, the others are those it inherits from.
    const auto aux = Records::value<Elf64_Verdaux>(table, at + definition->vd_aux);
    if (aux && (definition->vd_flags & VER_FLG_BASE) == 0)
      set(definition->vd_ndx, text_at(strings, aux->vda_name));
    if (definition->vd_next == 0) return;
    at += definition->vd_next;
  }
}

} // namespace sonictrace::elf
