#include "engine/inline/left_agent.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/inline/area_directory.hpp"
#include "engine/inline/areas.hpp"
#include "engine/inline/left_patches.hpp"
#include "engine/inline/threads_inside.hpp"
#include "engine/inline/thunk_template.hpp"
#include "sonictrace/process/mappings.hpp"

namespace sonictrace {
namespace {

using wire::AgentPrivate;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kRegionSize = wire::kMaxGroups * wire::kGroupStride;

enum class Memory : std::uint8_t { ReadOnly, Code, Data, SharedCode, SharedData, Other };

/// What a mapping is, of those that we make. (Whether it can be read at all is not told: what
/// matters is read.)
Memory kind_of(const Mapping& mapping) {
  constexpr std::string_view kOurFile = "/memfd:sonictrace"; // " (deleted)" behind
  if (mapping.path.starts_with(kOurFile)) {
    if (mapping.executable) return mapping.writable ? Memory::Other : Memory::SharedCode;
    return mapping.writable ? Memory::SharedData : Memory::Other;
  }
  if (mapping.inode != 0 || !mapping.path.empty()) return Memory::Other;
  if (mapping.executable) return mapping.writable ? Memory::Other : Memory::Code;
  return mapping.writable ? Memory::Data : Memory::ReadOnly;
}

TraceeAddress area_list_of(const LeftAgent& agent) {
  return agent.private_data + std::int64_t{AgentPrivate::kAreasAt};
}

class Search {
public:
  Search(const std::shared_ptr<AddressSpace>& space, const AgentImage& image,
         const std::vector<Mapping>& mappings)
      : space_(space), image_(image), mappings_(mappings) {}

  /// The agent whose text would begin at `text`.
  std::optional<LeftAgent> at(TraceeAddress text) const {
    if (!has_bytes(text, image_.bytes())) return std::nullopt;
    const TraceeAddress private_data = text + std::int64_t{wire::kAgentTextRoom};
    wire::AgentControl control{};
    if (!is_all(private_data, AgentPrivate::kEnd, Memory::Data) ||
        !read(private_data + std::int64_t{AgentPrivate::kControlAt}, control))
      return std::nullopt;
    const auto text_range = AddressRange::make(text, private_data);
    const auto region = AddressRange::make(TraceeAddress(control.region),
                                           TraceeAddress(control.region + kRegionSize));
    if (!text_range || !region || control.region % wire::kGroupStride != 0) return std::nullopt;
    LeftAgent found{*text_range,
                    private_data,
                    std::nullopt,
                    TraceeAddress(control.thunk_template),
                    region->begin() + -static_cast<std::int64_t>(kThunkUnwindSize),
                    *region,
                    {},
                    0,
                    0,
                    0,
                    {}};
    if (!check_thunks(found)) return std::nullopt;
    find_arena(control, found);
    found.pools_ever = std::clamp<std::uint32_t>(
        AreaDirectory(space_, area_list_of(found)).pools_ever(), found.pools_used, wire::kMaxPools);
    find_areas(found);
    return found;
  }

private:
  template <class T>
  bool read(TraceeAddress from, T& into) const {
    return bool(space_->memory().read(from, std::as_writable_bytes(std::span(&into, 1))));
  }
  bool has_bytes(TraceeAddress at, std::span<const std::byte> expected) const {
    std::vector<std::byte> bytes(expected.size());
    return space_->memory().read(at, bytes) && std::ranges::equal(bytes, expected);
  }
  const Mapping* mapping_of(TraceeAddress at) const {
    const auto above = std::upper_bound(mappings_.begin(), mappings_.end(), at,
                                        [](TraceeAddress address, const Mapping& mapping) {
                                          return address < mapping.range.begin();
                                        });
    if (above == mappings_.begin()) return nullptr;
    const Mapping& mapping = *(above - 1);
    return mapping.range.contains(at) ? &mapping : nullptr;
  }
  /// Whether it is mapped without a hole, by mappings that `accept` agrees to.
  template <class Accept>
  bool is_covered(TraceeAddress begin, std::uint64_t size, Accept accept) const {
    const std::uint64_t end = begin.value() + size;
    if (end < begin.value() || begin.value() % kPage != 0 || size % kPage != 0) return false;
    for (TraceeAddress at = begin; at.value() < end;) {
      const Mapping* const mapping = mapping_of(at);
      if (mapping == nullptr || !accept(*mapping)) return false;
      at = mapping->range.end();
    }
    return true;
  }
  bool is_all(TraceeAddress begin, std::uint64_t size, Memory memory) const {
    return is_covered(begin, size,
                      [memory](const Mapping& mapping) { return kind_of(mapping) == memory; });
  }

  bool check_thunks(LeftAgent& found) const {
    const TraceeAddress code = found.thunk_template;
    const AddressRange& region = found.region;
    const auto content = make_thunk_template(found.text.begin() + image_.header().thunk_exit);
    const Mapping* const file = mapping_of(code);
    // The thunks in the region are mapped from it, and look the same.
    if (file == nullptr || kind_of(*file) != Memory::SharedCode || file->offset != 0 ||
        file->range.begin() != code || file->range.size() != wire::kGroupCode ||
        region.contains(code) || !has_bytes(code, content))
      return false;
    if (!is_all(found.thunk_unwind, kThunkUnwindSize, Memory::ReadOnly) ||
        !has_bytes(found.thunk_unwind, make_thunk_unwind_page(region.begin(), kRegionSize)))
      return false;
    const bool is_ours = is_covered(region.begin(), kRegionSize, [&](const Mapping& mapping) {
      const Memory memory = kind_of(mapping);
      return memory == Memory::ReadOnly || memory == Memory::Data ||
             (memory == Memory::SharedCode && mapping.inode == file->inode &&
              mapping.device == file->device);
    });
    if (!is_ours) return false;
    for (std::size_t group = 0; group < wire::kMaxGroups; ++group) {
      const TraceeAddress at =
          region.begin() + static_cast<std::int64_t>(group * wire::kGroupStride);
      const Mapping* const mapped = mapping_of(at);
      found.group_is_mapped[group] =
          mapped != nullptr && mapped->range.begin() == at && mapped->offset == 0 &&
          is_all(at, wire::kGroupCode, Memory::SharedCode) &&
          is_all(at + std::int64_t{wire::kGroupCode}, wire::kGroupEntries, Memory::Data);
    }
    return found.group_is_mapped[0] != 0;
  }

  void find_arena(const wire::AgentControl& control, LeftAgent& found) const {
    const TraceeAddress at(control.arena);
    const Mapping* const mapping = mapping_of(at);
    if (mapping == nullptr || kind_of(*mapping) != Memory::SharedData ||
        mapping->range.begin() != at || mapping->offset != 0)
      return;
    const std::uint64_t size = mapping->range.size();
    if (size != wire::ArenaLayout::kEnd && size != wire::ArenaLayout::kEndWithCounts) return;
    wire::SharedControl shared{};
    if (!read(at, shared)) return;
    found.arena = mapping->range;
    found.pools_used = std::min<std::uint32_t>(shared.pools_used, wire::kMaxPools);
    found.first_pool = std::min(control.first_pool, found.pools_used);
  }

  void find_areas(LeftAgent& found) const {
    const AreaDirectory directory(space_, area_list_of(found));
    Areas::Routines routines{};
    for (std::size_t i = 0; i < routines.size(); ++i)
      routines[i] = found.text.begin() + image_.offset_of(static_cast<AgentRoutine>(i));
    for (const wire::AreaRecord& record : directory.read()) {
      const TraceeAddress begin(record.begin);
      constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
      if (record.size == 0 || record.size > kLargest) continue;
      const bool is_code = record.kind == static_cast<std::uint32_t>(AreaKind::Stubs) ||
                           record.kind == static_cast<std::uint32_t>(AreaKind::Entries);
      const bool is_data = record.kind == static_cast<std::uint32_t>(AreaKind::Cells) ||
                           record.kind == kPlanAreaKind;
      if (!is_code && !is_data) continue;
      if (!is_all(begin, record.size, is_code ? Memory::Code : Memory::ReadOnly)) continue;
      if (is_code && !has_bytes(begin, Areas::head_of(routines))) continue;
      const auto overlaps = [&](const wire::AreaRecord& other) {
        return record.begin < other.begin + other.size && other.begin < record.begin + record.size;
      };
      if (std::none_of(found.areas.begin(), found.areas.end(), overlaps))
        found.areas.push_back(record);
    }
  }

  const std::shared_ptr<AddressSpace>& space_;
  const AgentImage& image_;
  const std::vector<Mapping>& mappings_;
};

std::vector<AddressRange> code_of(const LeftAgent& agent) {
  std::vector<AddressRange> code = {agent.text, agent.region};
  for (const auto& area : agent.areas)
    if (area.kind == static_cast<std::uint32_t>(AreaKind::Stubs) ||
        area.kind == static_cast<std::uint32_t>(AreaKind::Entries))
      code.push_back(
          *AddressRange::make(TraceeAddress(area.begin), TraceeAddress(area.begin + area.size)));
  return code;
}

void switch_off(const TraceeMemory& memory, const LeftAgent& agent) {
  const wire::AgentSwitch off{};
  (void)memory.write(agent.private_data + std::int64_t{AgentPrivate::kSwitchAt},
                     std::as_bytes(std::span(&off, 1)));
}

/// What the session's tracer would have done at its end, had it not been killed; or what a fork
/// child has of a session that its parent is traced in. (So the arena, which may be a parent's, is
/// left alone: threads that wait there give up by themselves.)
void end_session(const std::shared_ptr<AddressSpace>& space, pid_t tid,
                 const std::vector<Mapping>& mappings, const LeftAgent& agent) {
  switch_off(space->memory(), agent);
  PatchTargets targets;
  for (const auto& area : agent.areas) {
    const auto range =
        AddressRange::make(TraceeAddress(area.begin), TraceeAddress(area.begin + area.size));
    if (area.kind == static_cast<std::uint32_t>(AreaKind::Cells)) targets.cells.push_back(*range);
    if (area.kind == static_cast<std::uint32_t>(AreaKind::Entries))
      targets.entries.push_back(*range);
  }
  undo_patches(*space, tid, mappings, targets);
  AreaDirectory(space, area_list_of(agent)).say_patched(false);
}

/// The first one among the mappings.
std::optional<LeftAgent> find_among(const std::vector<Mapping>& mappings,
                                    const std::shared_ptr<AddressSpace>& space,
                                    const AgentImage& image) {
  const Search search(space, image, mappings);
  const std::uint64_t text_size = (image.bytes().size() + kPage - 1) & ~(kPage - 1);
  for (const Mapping& mapping : mappings) {
    if (kind_of(mapping) != Memory::Code || mapping.range.size() < text_size) continue;
    // Another mapping of ours may have been joined to it, below: what follows the text is not code.
    const TraceeAddress text = mapping.range.end() + -static_cast<std::int64_t>(text_size);
    if (auto found = search.at(text)) return found;
  }
  return std::nullopt;
}

} // namespace

Result<std::optional<LeftAgent>> LeftAgent::find(const std::shared_ptr<AddressSpace>& space,
                                                 pid_t tid, const AgentImage& image) {
  const auto mappings = read_mappings(tid);
  if (!mappings) return mappings.error();
  auto found = find_among(*mappings, space, image);
  if (!found) return found;
  if (is_anyone_inside(*space, *mappings, code_of(*found)))
    return Error::saying("a thread is just in what an earlier session has left; the next time it "
                         "will be out of there");
  if (AreaDirectory(space, area_list_of(*found)).is_patched())
    end_session(space, tid, *mappings, *found);
  return found;
}

LeftAgent::Presence LeftAgent::look_for(const std::shared_ptr<AddressSpace>& space, pid_t tid,
                                        const AgentImage& image) {
  const auto mappings = read_mappings(tid);
  if (!mappings) return Presence::Quiet; // whoever needs it says why
  const auto found = find_among(*mappings, space, image);
  if (!found) return Presence::None;
  if (!is_anyone_inside(*space, *mappings, code_of(*found))) return Presence::Quiet;
  switch_off(space->memory(), *found);
  return Presence::Busy;
}

std::uint32_t LeftAgent::next_first_pool() const {
  constexpr std::uint32_t kFew = wire::kPoolsOfGroup;
  const std::uint32_t used = pools_used - first_pool;
  const std::uint32_t enough = std::max(kFew, 4 * used);
  return pools_used + used <= std::min<std::uint32_t>(enough, wire::kMaxPools) ? pools_used : 0;
}

} // namespace sonictrace
