#include "elf/headers.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace sonictrace::elf {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

Error not_elf(const std::string& name, const char* why) {
  return Error(std::errc::executable_format_error, name + ": " + why);
}

std::vector<ProgramHeader> read_program_headers(Elf* elf, std::span<const std::byte> file) {
  std::vector<ProgramHeader> headers;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return headers;
  // The table lies in the file, so that the count cannot ask for more memory than that.
  count = std::min(count, file.size() / sizeof(Elf32_Phdr));
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr raw;
    if (gelf_getphdr(elf, static_cast<int>(index), &raw) == nullptr) break;
    headers.push_back({raw.p_type, raw.p_flags, ElfAddress(raw.p_vaddr), raw.p_memsz,
                       clip(file, raw.p_offset, std::min(raw.p_filesz, raw.p_memsz))});
  }
  return headers;
}

std::vector<SectionHeader> read_section_headers(Elf* elf, std::span<const std::byte> file) {
  std::vector<SectionHeader> headers;
  std::vector<std::uint32_t> names;
  std::size_t count = 0;
  if (elf_getshdrnum(elf, &count) != 0) return headers;
  count = std::min(count, file.size() / sizeof(Elf32_Shdr));
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Shdr raw;
    Elf_Scn* const section = elf_getscn(elf, index);
    if (section == nullptr || gelf_getshdr(section, &raw) == nullptr) break;
    const bool in_file = raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL;
    names.push_back(raw.sh_name);
    headers.push_back(
        {{},
         raw.sh_type,
         raw.sh_flags,
         ElfAddress(raw.sh_addr),
         in_file ? clip(file, raw.sh_offset, raw.sh_size) : std::span<const std::byte>{},
         raw.sh_link});
  }

  std::size_t name_table = 0;
  if (elf_getshdrstrndx(elf, &name_table) == 0 && name_table < headers.size()) {
    const auto texts = headers[name_table].content;
    for (std::size_t index = 0; index < headers.size(); ++index)
      headers[index].name = text_at(texts, names[index]);
  }
  return headers;
}

} // namespace

std::span<const std::byte> clip(std::span<const std::byte> whole, std::uint64_t offset,
                                std::uint64_t size) {
  if (offset >= whole.size()) return {};
  return whole.subspan(offset, std::min<std::uint64_t>(size, whole.size() - offset));
}

std::string_view text_at(std::span<const std::byte> table, std::uint64_t offset) {
  const auto rest = clip(table, offset, kLongestName);
  if (rest.empty()) return {};
  const void* const end = std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) return {};
  const auto* const begin = reinterpret_cast<const char*>(rest.data());
  return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

Result<Headers> read_headers(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return not_elf(name, "not an ELF file");
  if (elf_version(EV_CURRENT) == EV_NONE) return not_elf(name, "libelf is too old");

  // elf_memory(3) reads only, though its parameter is not const.
  auto* const begin = reinterpret_cast<char*>(const_cast<std::byte*>(file.data()));
  const ElfHandle elf(elf_memory(begin, file.size()));
  Headers headers;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getehdr(elf.get(), &headers.elf) == nullptr)
    return not_elf(name, "malformed ELF header");

  headers.is_64 = headers.elf.e_ident[EI_CLASS] == ELFCLASS64;
  headers.is_little_endian = headers.elf.e_ident[EI_DATA] == ELFDATA2LSB;
  headers.segments = read_program_headers(elf.get(), file);
  headers.sections = read_section_headers(elf.get(), file);
  return headers;
}

} // namespace sonictrace::elf
