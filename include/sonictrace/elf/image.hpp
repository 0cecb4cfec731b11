#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/arch/machine.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/elf/export_filter.hpp"
#include "sonictrace/elf/symbol.hpp"

namespace sonictrace::elf {

struct DynamicInfo;

/// A PT_LOAD segment: file bytes as they are mapped.
struct Segment {
  ElfAddress begin;
  std::uint64_t memory_size = 0;      ///< bytes
  std::span<const std::byte> content; ///< the part that comes from the file; empty if out of file
  bool executable = false;
  bool writable = false;
  std::uint64_t offset = 0; ///< of `content` in the file
};

struct Section {
  std::string_view name;
  ElfAddress begin;
  std::span<const std::byte> content; ///< empty for SHT_NOBITS
  bool executable = false;
  bool compressed = false; ///< SHF_COMPRESSED
};

class ExportTable;

/// An ELF file, mapped read-only and parsed. Every index, offset and size in the file is checked
/// before use: a malformed file fails to open, or shows less, but never crashes or hangs.
/// Immutable once open; lazy indexes inside are safe to use from several threads.
class Image {
public:
  /// Fails with executable_format_error (and a readable text) for what is not an ELF file.
  static Result<std::shared_ptr<const Image>> open(const std::string& path);
  /// `name` is for messages; the image keeps no reference to the descriptor.
  static Result<std::shared_ptr<const Image>> open(const UniqueFd& file, std::string name);
  /// Of bytes that the caller keeps alive and unchanged (tests, fuzzing, the vdso).
  static Result<std::shared_ptr<const Image>> parse(std::span<const std::byte> file,
                                                    std::string name);
  ~Image();

  const std::string& name() const; ///< as given to open
  Machine machine() const;
  bool is_shared_object() const; ///< ET_DYN: a shared object or a PIE
  bool has_interpreter() const;  ///< PT_INTERP: a dynamically linked program
  std::string_view interpreter() const;
  ElfAddress entry() const;
  std::string_view soname() const;                     ///< DT_SONAME, empty where there is none
  std::string_view build_id() const;                   ///< raw bytes of NT_GNU_BUILD_ID, or empty
  const std::vector<std::string_view>& needed() const; ///< DT_NEEDED, in file order
  std::optional<ElfAddress> dynamic() const;           ///< of PT_DYNAMIC

  const std::vector<Segment>& segments() const;
  const std::vector<Section>& sections() const; ///< empty where section headers were stripped
  /// File bytes mapped from `from` on, at most `size`; shorter at the end of a segment's file part.
  std::span<const std::byte> bytes_at(ElfAddress from, std::size_t size) const;

  /// Where PT_GNU_EH_FRAME is (.eh_frame_hdr), the sorted table of functions for unwinders.
  std::optional<ElfAddress> unwind_table() const;

  /// .dynsym, found by DT_SYMTAB. Without the null entry: the file's index N is at N-1 here.
  const std::vector<Symbol>& dynamic_symbols() const;
  /// .symtab; without one what .gnu_debugdata has, the local functions. Empty in a stripped file.
  const std::vector<Symbol>& static_symbols() const;

  /// The definition that the dynamic linker would bind `name` to, of this image alone: with
  /// `version` that version (or an unversioned one), without it the default version. Constant time
  /// after the first call.
  const Symbol* find_export(std::string_view name, std::string_view version) const;
  /// The same for a search over many images: `hash` is hash_of_name(name), computed once.
  const Symbol* find_export(std::string_view name, std::string_view version,
                            std::size_t hash) const;
  /// Of the names that find_export finds; as long as the image.
  ExportFilter export_filter() const;
  static std::size_t hash_of_name(std::string_view name);

  /// The function that holds `address`: of those with st_size, the innermost one that covers it,
  /// else the nearest below it within its section. Both symbol tables; at equal addresses a global
  /// name from .dynsym wins. Logarithmic after the first call.
  const Symbol* function_at(ElfAddress address) const;

  /// Every distinct (address, name) of a defined function, of both tables, sorted by address.
  /// IFUNCs are included with their type.
  const std::vector<Symbol>& functions() const;

  /// The dynamic linker's tables, for this layer's own use.
  const DynamicInfo& dynamic_info() const;

  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

private:
  const ExportTable& export_table() const;

  struct Parts;
  explicit Image(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace sonictrace::elf
