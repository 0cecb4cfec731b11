#include "sonictrace/process/code_map.hpp"

#include <algorithm>

namespace sonictrace {
namespace {

/// The vdso's image, with the bytes that it is made of.
Result<std::shared_ptr<const elf::Image>> read_image(const AddressSpace& space,
                                                     const AddressRange& range) {
  struct Kept {
    std::vector<std::byte> bytes;
    std::shared_ptr<const elf::Image> image;
  };
  auto kept = std::make_shared<Kept>();
  kept->bytes.resize(range.size());
  if (auto done = space.memory().read(range.begin(), kept->bytes); !done)
    return std::move(done).error();
  auto image = elf::Image::parse(kept->bytes, "[vdso]");
  if (!image) return std::move(image).error();
  kept->image = *std::move(image);
  return std::shared_ptr<const elf::Image>(kept, kept->image.get());
}

/// Where an image is, by one executable mapping of it. A segment is mapped in whole pages, so that
/// the file's bytes before it come along (elf(5), p_align).
std::optional<LoadBias> bias_of(const elf::Image& image, const Mapping& mapping) {
  constexpr std::uint64_t kPage = 4096;
  for (const auto& segment : image.segments()) {
    const auto first = segment.offset & ~(kPage - 1);
    if (!segment.executable || mapping.offset < first ||
        mapping.offset >= segment.offset + segment.content.size())
      continue;
    const auto distance = static_cast<std::int64_t>(mapping.offset - segment.offset);
    return LoadBias(mapping.range.begin(), segment.begin + distance);
  }
  return std::nullopt;
}

std::optional<AddressRange> range_of(const elf::Image& image, LoadBias bias) {
  const auto& segments = image.segments();
  if (segments.empty()) return std::nullopt;
  auto begin = segments.front().begin;
  auto end = begin;
  for (const auto& segment : segments) {
    begin = std::min(begin, segment.begin);
    end = std::max(end, ElfAddress(segment.begin.value() + segment.memory_size));
  }
  return AddressRange::make(bias.to_tracee(begin), bias.to_tracee(end));
}

} // namespace

std::span<const std::byte> CodeModule::constant_bytes(TraceeAddress from, std::size_t size) const {
  const auto at = bias.to_elf(from);
  for (const auto& segment : image->segments()) {
    if (segment.writable || at < segment.begin) continue;
    const auto offset = at.value() - segment.begin.value();
    if (offset >= segment.content.size()) continue;
    return segment.content.subspan(offset, std::min(size, segment.content.size() - offset));
  }
  return {};
}

CodeMap::Place CodeMap::at(const AddressSpace& space, TraceeAddress address) {
  for (const auto& code : code_)
    if (code.range.contains(address)) return {true, code.module};
  const auto mapping = space.mapping_at(address);
  if (!mapping || !mapping->executable) return {};
  // Code that a program makes itself comes and goes without a word: it is asked for each time.
  const bool is_vdso = mapping->path == "[vdso]";
  if (mapping->inode == 0 && !is_vdso) return {true, nullptr};
  auto module = find_module(space, *mapping);
  code_.push_back({mapping->range, module.get()});
  if (module) modules_.push_back(std::move(module));
  return {true, code_.back().module};
}

std::unique_ptr<CodeModule> CodeMap::find_module(const AddressSpace& space,
                                                 const Mapping& mapping) const {
  Result<std::shared_ptr<const elf::Image>> image = [&] {
    if (mapping.inode == 0) return read_image(space, mapping.range);
    auto file = open_mapped_file(space.pid(), mapping);
    return file ? open_(*file, mapping.path)
                : Result<std::shared_ptr<const elf::Image>>(std::move(file).error());
  }();
  if (!image) return nullptr;
  const auto bias = bias_of(**image, mapping);
  if (!bias) return nullptr;
  const auto range = range_of(**image, *bias);
  if (!range) return nullptr;
  const auto soname = (*image)->soname();
  auto name =
      soname.empty() ? mapping.path.substr(mapping.path.rfind('/') + 1) : std::string(soname);
  return std::make_unique<CodeModule>(
      CodeModule{*range, *bias, *std::move(image), std::move(name)});
}

const CodeModule* CodeMap::known_at(TraceeAddress address) const {
  for (const auto& module : modules_)
    if (module->range.contains(address)) return module.get();
  return nullptr;
}

void CodeMap::forget() {
  code_.clear();
  modules_.clear();
}

} // namespace sonictrace
