#include "sonictrace/process/code_map.hpp"

#include <algorithm>
#include <iterator>

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

namespace {

/// Of what is sorted by where it begins: the last one that begins at the address or before it.
template <class Sorted, class BeginOf>
auto last_begun(const Sorted& all, TraceeAddress address, BeginOf begin_of) {
  const auto behind = std::upper_bound(
      all.begin(), all.end(), address,
      [&](TraceeAddress wanted, const auto& item) { return wanted < begin_of(item); });
  return behind == all.begin() ? all.end() : std::prev(behind);
}

TraceeAddress begin_of_code(const MappedCode& code) { return code.range.begin(); }
TraceeAddress begin_of_module(const std::shared_ptr<const CodeModule>& module) {
  return module->range.begin();
}

bool is_vdso(const Mapping& mapping) { return mapping.path == "[vdso]"; }

} // namespace

CodeMap::Place CodeMap::at(const AddressSpace& space, TraceeAddress address) {
  const auto known = last_begun(code_, address, begin_of_code);
  if (known != code_.end() && known->range.contains(address)) return {true, known->module.get()};
  ++questions_;
  const auto mapping = space.mapping_at(address);
  if (!mapping || !mapping->executable) return {};
  // Code that a program makes itself comes and goes without a word: it is asked for each time.
  if (mapping->inode == 0 && !is_vdso(*mapping)) return {true, nullptr};
  MappedCode code{mapping->range, mapping->device, mapping->inode, mapping->offset,
                  find_module(space, open_, *mapping)};
  const auto place = std::upper_bound(
      code_.begin(), code_.end(), code,
      [](const MappedCode& a, const MappedCode& b) { return a.range.begin() < b.range.begin(); });
  const CodeModule* const module = code.module.get();
  code_.insert(place, std::move(code));
  list_modules();
  return {true, module};
}

std::shared_ptr<const CodeModule>
CodeMap::find_module(const AddressSpace& space, const OpenImage& open, const Mapping& mapping) {
  Result<std::shared_ptr<const elf::Image>> image = [&] {
    if (mapping.inode == 0) return read_image(space, mapping.range);
    auto file = open_mapped_file(space.pid(), mapping);
    return file ? open(*file, mapping.path)
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
  return std::make_shared<CodeModule>(
      CodeModule{*range, *bias, *std::move(image), std::move(name)});
}

std::vector<MappedCode> CodeMap::survey(const AddressSpace& space, const OpenImage& open,
                                        const std::vector<MappedCode>& known) {
  std::vector<MappedCode> all;
  const auto mappings = read_mappings(space.pid());
  if (!mappings) return all;
  for (const Mapping& mapping : *mappings) {
    if (!mapping.executable || (mapping.inode == 0 && !is_vdso(mapping))) continue;
    MappedCode code{mapping.range, mapping.device, mapping.inode, mapping.offset, nullptr};
    const auto before = last_begun(known, mapping.range.begin(), begin_of_code);
    const bool is_known = before != known.end() && before->range == code.range &&
                          before->device == code.device && before->inode == code.inode &&
                          before->offset == code.offset;
    code.module = is_known ? before->module : find_module(space, open, mapping);
    all.push_back(std::move(code));
  }
  return all;
}

bool CodeMap::learn(std::vector<MappedCode> all) {
  const bool is_less = std::any_of(code_.begin(), code_.end(), [&](const MappedCode& old) {
    const auto now = last_begun(all, old.range.begin(), begin_of_code);
    return now == all.end() || !(*now == old);
  });
  code_ = std::move(all);
  list_modules();
  return is_less;
}

void CodeMap::list_modules() {
  modules_.clear();
  for (const MappedCode& code : code_)
    if (code.module) modules_.push_back(code.module);
  std::sort(modules_.begin(), modules_.end(), [](const auto& a, const auto& b) {
    return a->range.begin() != b->range.begin() ? a->range.begin() < b->range.begin() : a < b;
  });
  modules_.erase(std::unique(modules_.begin(), modules_.end()), modules_.end());
}

const CodeModule* CodeMap::known_at(TraceeAddress address) const {
  const auto found = last_begun(modules_, address, begin_of_module);
  return found != modules_.end() && (*found)->range.contains(address) ? found->get() : nullptr;
}

void CodeMap::forget() {
  code_.clear();
  modules_.clear();
}

void CodeMap::forget(AddressRange range) {
  std::erase_if(code_, [&](const MappedCode& code) {
    return code.range.begin() < range.end() && range.begin() < code.range.end();
  });
  list_modules();
}

} // namespace sonictrace
