#include "debuginfo/debug_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace sonictrace::debuginfo {
namespace {

/// Bytes a second, on a slow machine.
constexpr std::uint64_t kInflateSpeed = 200'000'000;
/// RFC 1951: 258 bytes in two bits, about.
constexpr std::uint64_t kMostInflated = 1100;

bool is_debug_section(const elf::Section& section) {
  return section.name.starts_with(".debug_") || section.name.starts_with(".zdebug_");
}

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes)
    value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

} // namespace

std::optional<std::uint64_t> plain_size(const elf::Section& section) {
  std::uint64_t size = section.content.size();
  constexpr std::size_t kOldHead = 12; // "ZLIB" and eight bytes
  if (section.compressed) {
    Elf64_Chdr header;
    if (section.content.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, section.content.data(), sizeof header);
    size = header.ch_size;
  } else if (section.name.starts_with(".z")) {
    if (section.content.size() < kOldHead) return std::nullopt;
    size = big_endian(section.content.subspan(4, 8));
  } else {
    return size;
  }
  if (size / kMostInflated > section.content.size()) return std::nullopt;
  return size;
}

bool has_debug_info(const elf::Image& image) {
  return std::any_of(image.sections().begin(), image.sections().end(),
                     [](const elf::Section& section) {
                       return (section.name == ".debug_info" || section.name == ".zdebug_info") &&
                              !section.content.empty();
                     });
}

std::unique_ptr<DebugFile> DebugFile::open(UniqueFd file, std::shared_ptr<const elf::Image> image,
                                           const Budget& budget) {
  if (image->machine() != Machine::X86_64) return nullptr;
  // libdw inflates all sections at once.
  std::uint64_t inflated = 0;
  for (const elf::Section& section : image->sections()) {
    if (!is_debug_section(section)) continue;
    const auto size = plain_size(section);
    if (!size || *size > std::uint64_t{1} << 40) return nullptr;
    if (*size != section.content.size()) inflated += *size;
  }
  const auto seconds = static_cast<double>(inflated) / static_cast<double>(kInflateSpeed);
  const auto time =
      std::chrono::duration_cast<Budget::Clock::duration>(std::chrono::duration<double>(seconds));
  if (!budget.has(time)) return nullptr;

  ::elf_version(EV_CURRENT);
  auto opened = std::make_unique<DebugFile>();
  // Not elf_memory: libelf writes sizes into its copy of the section headers.
  opened->elf_.reset(::elf_begin(file.get(), ELF_C_READ_MMAP, nullptr));
  if (!opened->elf_ || ::elf_kind(opened->elf_.get()) != ELF_K_ELF) return nullptr;
  opened->dwarf_.reset(::dwarf_begin_elf(opened->elf_.get(), DWARF_C_READ, nullptr));
  if (!opened->dwarf_) return nullptr;
  opened->file_ = std::move(file);
  opened->image_ = std::move(image);
  return opened;
}

std::optional<DebugFile::Link> DebugFile::shared_link() const {
  for (const elf::Section& section : image_->sections()) {
    if (section.name != ".gnu_debugaltlink") continue;
    const std::string_view content(reinterpret_cast<const char*>(section.content.data()),
                                   section.content.size());
    const std::size_t end = content.find('\0');
    if (end == std::string_view::npos || end + 1 >= content.size()) return std::nullopt;
    return Link{std::string(content.substr(0, end)), std::string(content.substr(end + 1))};
  }
  return std::nullopt;
}

void DebugFile::set_shared(std::unique_ptr<DebugFile> shared) {
  shared_ = std::move(shared);
  if (shared_) ::dwarf_setalt(dwarf_.get(), shared_->dwarf());
}

} // namespace sonictrace::debuginfo
