#include "sonictrace/elf/image.hpp"

#include <algorithm>

#include "elf/image_parts.hpp"
#include "elf/mini_debug.hpp"
#include "elf/notes.hpp"
#include "elf/symbol_table.hpp"

namespace sonictrace::elf {
namespace {

Machine machine_of(const Headers& headers) {
  if (!headers.is_little_endian) return Machine::Other;
  if (headers.elf.e_machine == EM_X86_64 && headers.is_64) return Machine::X86_64; // not x32
  if (headers.elf.e_machine == EM_386 && !headers.is_64) return Machine::I386;
  return Machine::Other;
}

std::vector<Segment> loaded_segments(const Headers& headers, std::span<const std::byte> file) {
  // Linkers write a dozen at most. A hostile file's could each map all of it, again and again.
  constexpr std::size_t kMost = 64;
  std::vector<Segment> segments;
  for (const ProgramHeader& header : headers.segments)
    if (header.type == PT_LOAD && segments.size() < kMost)
      segments.push_back({header.begin, header.memory_size, header.content,
                          (header.flags & PF_X) != 0, (header.flags & PF_W) != 0,
                          header.content.empty()
                              ? 0
                              : static_cast<std::uint64_t>(header.content.data() - file.data())});
  return segments;
}

std::vector<Section> public_sections(const Headers& headers) {
  constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  std::vector<Section> sections;
  for (const SectionHeader& header : headers.sections)
    if (header.type != SHT_NULL)
      sections.push_back({header.name, header.begin, header.content,
                          (header.flags & kCode) == kCode, (header.flags & SHF_COMPRESSED) != 0});
  return sections;
}

} // namespace

Image::Parts::Parts(MappedFile mapping, std::span<const std::byte> bytes, std::string file_name,
                    Headers file_headers)
    : mapped(std::move(mapping)), file(bytes), name(std::move(file_name)),
      headers(std::move(file_headers)), records(headers.is_64), machine(machine_of(headers)),
      segments(loaded_segments(headers, bytes)), sections(public_sections(headers)),
      build_id(find_build_id(headers)) {
  // The tables of a big-endian file would need a reader of their own; it shows its headers only.
  if (headers.is_little_endian) dynamic = read_dynamic(headers, segments, records);
}

Image::Image(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Image::~Image() = default;

Result<std::shared_ptr<const Image>> Image::open(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY | O_NONBLOCK); // a FIFO must not block us
  if (!file) return std::move(file).error();
  return open(*file, path);
}

Result<std::shared_ptr<const Image>> Image::open(const UniqueFd& file, std::string name) {
  auto mapped = MappedFile::map(file, name);
  if (!mapped) return std::move(mapped).error();
  const auto bytes = mapped->bytes();
  auto headers = read_headers(bytes, name);
  if (!headers) return std::move(headers).error();
  return std::shared_ptr<const Image>(new Image(
      std::make_unique<Parts>(*std::move(mapped), bytes, std::move(name), *std::move(headers))));
}

Result<std::shared_ptr<const Image>> Image::parse(std::span<const std::byte> file,
                                                  std::string name) {
  auto headers = read_headers(file, name);
  if (!headers) return std::move(headers).error();
  return std::shared_ptr<const Image>(
      new Image(std::make_unique<Parts>(MappedFile(), file, std::move(name), *std::move(headers))));
}

const std::string& Image::name() const { return parts_->name; }
Machine Image::machine() const { return parts_->machine; }
bool Image::is_shared_object() const { return parts_->headers.elf.e_type == ET_DYN; }
ElfAddress Image::entry() const { return ElfAddress(parts_->headers.elf.e_entry); }
std::string_view Image::soname() const { return parts_->dynamic.soname; }
std::string_view Image::build_id() const { return parts_->build_id; }
const std::vector<std::string_view>& Image::needed() const { return parts_->dynamic.needed; }
std::optional<ElfAddress> Image::dynamic() const { return parts_->dynamic.at; }
const std::vector<Segment>& Image::segments() const { return parts_->segments; }
const std::vector<Section>& Image::sections() const { return parts_->sections; }

bool Image::has_interpreter() const {
  return std::any_of(parts_->headers.segments.begin(), parts_->headers.segments.end(),
                     [](const ProgramHeader& header) { return header.type == PT_INTERP; });
}

std::string_view Image::interpreter() const {
  for (const ProgramHeader& header : parts_->headers.segments)
    if (header.type == PT_INTERP) return text_at(header.content, 0);
  return {};
}

std::optional<ElfAddress> Image::unwind_table() const {
  for (const ProgramHeader& header : parts_->headers.segments)
    if (header.type == PT_GNU_EH_FRAME) return header.begin;
  return std::nullopt;
}

std::span<const std::byte> Image::bytes_at(ElfAddress from, std::size_t size) const {
  return clip(segment_bytes(parts_->segments, from), 0, size);
}

const DynamicInfo& Image::dynamic_info() const { return parts_->dynamic; }

const std::vector<Symbol>& Image::dynamic_symbols() const {
  return parts_->dynamic_symbols.get([this] {
    const DynamicInfo& dynamic = parts_->dynamic;
    const VersionNames versions(dynamic.versions_needed, dynamic.versions_defined, dynamic.strings);
    return read_symbols(dynamic.symbols, dynamic.strings, dynamic.symbol_versions, versions,
                        parts_->records);
  });
}

const std::vector<Symbol>& Image::static_symbols() const {
  return parts_->static_symbols.get([this]() -> std::vector<Symbol> {
    std::vector<Symbol> symbols = parts_->section_symbols();
    if (!symbols.empty()) return symbols;
    for (const Section& section : parts_->sections) {
      if (section.name != ".gnu_debugdata") continue;
      parts_->mini_debug_bytes = unpack_mini_debug(section.content);
      auto inner = parse(parts_->mini_debug_bytes, parts_->name);
      if (!inner || (*inner)->machine() != parts_->machine) break;
      parts_->mini_debug = *std::move(inner);
      return parts_->mini_debug->parts_->section_symbols();
    }
    return {};
  });
}

std::vector<Symbol> Image::Parts::section_symbols() const {
  if (!headers.is_little_endian) return {};
  for (const SectionHeader& section : headers.sections) {
    if (section.type != SHT_SYMTAB || section.link >= headers.sections.size()) continue;
    return read_symbols(section.content, headers.sections[section.link].content, {}, {}, records);
  }
  return {};
}

const Symbol* Image::find_export(std::string_view name, std::string_view version) const {
  return find_export(name, version, ExportTable::hash_of(name));
}

std::size_t Image::hash_of_name(std::string_view name) { return ExportTable::hash_of(name); }

const Symbol* Image::find_export(std::string_view name, std::string_view version,
                                 std::size_t hash) const {
  return export_table().find(name, version, hash);
}

ExportFilter Image::export_filter() const { return export_table().filter(); }

const ExportTable& Image::export_table() const {
  return parts_->exports.get([this] { return ExportTable(dynamic_symbols()); });
}

const Symbol* Image::function_at(ElfAddress address) const {
  return parts_->function_index(*this).at(address);
}

const std::vector<Symbol>& Image::functions() const {
  return parts_->function_index(*this).functions();
}

const FunctionIndex& Image::Parts::function_index(const Image& image) const {
  return functions.get([&] {
    return FunctionIndex(image.dynamic_symbols(), image.static_symbols(), segments, sections);
  });
}

} // namespace sonictrace::elf
