#include "elf/notes.hpp"

#include "elf/records.hpp"

namespace sonictrace::elf {
namespace {

constexpr std::uint64_t round_up_to_word(std::uint64_t size) {
  return (size + 3) & ~std::uint64_t{3};
}

/// Elf32_Nhdr and Elf64_Nhdr are the same. A build id's name and content are multiples of four
/// bytes long, so that the alignment of 8 that some notes have does not matter to it.
std::string_view build_id_in(std::span<const std::byte> notes) {
  for (std::uint64_t at = 0;;) {
    const auto note = Records::value<Elf64_Nhdr>(notes, at);
    if (!note) return {};
    const auto rest = clip(notes, at + sizeof *note, ~std::uint64_t{0});
    const auto name = text_at(rest, 0);
    const std::uint64_t content_at = round_up_to_word(note->n_namesz);
    const auto content = clip(rest, content_at, note->n_descsz);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
        name == ELF_NOTE_GNU)
      return {reinterpret_cast<const char*>(content.data()), content.size()};
    at += sizeof *note + content_at + round_up_to_word(note->n_descsz);
  }
}

} // namespace

std::string_view find_build_id(const Headers& headers) {
  for (const ProgramHeader& segment : headers.segments)
    if (segment.type == PT_NOTE)
      if (const auto id = build_id_in(segment.content); !id.empty()) return id;
  for (const SectionHeader& section : headers.sections)
    if (section.type == SHT_NOTE)
      if (const auto id = build_id_in(section.content); !id.empty()) return id;
  return {};
}

} // namespace sonictrace::elf
