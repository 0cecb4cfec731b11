#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace sonictrace::elf {

/// Reads the entries of the tables that the dynamic linker uses, of little-endian files of either
/// class. Tables found through PT_DYNAMIC have no section, which libelf's own readers ask for.
class Records {
public:
  explicit Records(bool is_64) : is_64_(is_64) {}

  bool is_64() const { return is_64_; }
  std::size_t word_size() const { return is_64_ ? 8 : 4; }
  std::size_t symbol_size() const { return is_64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym); }
  std::size_t dynamic_size() const { return is_64_ ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn); }
  std::size_t relocation_size(bool with_addend) const {
    if (with_addend) return is_64_ ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
    return is_64_ ? sizeof(Elf64_Rel) : sizeof(Elf32_Rel);
  }

  /// A plain value of the file at `offset`; nothing where it does not lie in `table` as a whole.
  template <class T>
  static std::optional<T> value(std::span<const std::byte> table, std::size_t offset) {
    if (offset > table.size() || table.size() - offset < sizeof(T)) return std::nullopt;
    T result; // the file's entries need not be aligned
    std::memcpy(&result, table.data() + offset, sizeof result);
    return result;
  }

  std::optional<GElf_Sym> symbol(std::span<const std::byte> table, std::size_t index) const {
    if (is_64_) return value<Elf64_Sym>(table, index * sizeof(Elf64_Sym));
    const auto raw = value<Elf32_Sym>(table, index * sizeof(Elf32_Sym));
    if (!raw) return std::nullopt;
    return GElf_Sym{raw->st_name,  raw->st_info,  raw->st_other,
                    raw->st_shndx, raw->st_value, raw->st_size};
  }

  std::optional<GElf_Dyn> dynamic(std::span<const std::byte> table, std::size_t index) const {
    if (is_64_) return value<Elf64_Dyn>(table, index * sizeof(Elf64_Dyn));
    const auto raw = value<Elf32_Dyn>(table, index * sizeof(Elf32_Dyn));
    if (!raw) return std::nullopt;
    GElf_Dyn result{};
    result.d_tag = raw->d_tag;
    result.d_un.d_val = raw->d_un.d_val;
    return result;
  }

  /// Type and symbol of either class come back in ELF64's r_info; the addend of a table without
  /// addends is 0.
  std::optional<GElf_Rela> relocation(std::span<const std::byte> table, std::size_t index,
                                      bool with_addend) const {
    const std::size_t offset = index * relocation_size(with_addend);
    if (is_64_) {
      if (with_addend) return value<Elf64_Rela>(table, offset);
      const auto raw = value<Elf64_Rel>(table, offset);
      if (!raw) return std::nullopt;
      return GElf_Rela{raw->r_offset, raw->r_info, 0};
    }
    GElf_Rela result{};
    const auto raw = value<Elf32_Rel>(table, offset);
    if (!raw) return std::nullopt;
    result.r_offset = raw->r_offset;
    result.r_info =
        ELF64_R_INFO(static_cast<Elf64_Xword>(ELF32_R_SYM(raw->r_info)), ELF32_R_TYPE(raw->r_info));
    if (!with_addend) return result;
    const auto addend = value<Elf32_Sword>(table, offset + sizeof(Elf32_Rel));
    if (!addend) return std::nullopt;
    result.r_addend = *addend;
    return result;
  }

private:
  bool is_64_;
};

} // namespace sonictrace::elf
