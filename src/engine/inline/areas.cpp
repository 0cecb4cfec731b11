#include "engine/inline/areas.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kPage = 4096;
/// Of a 32-bit displacement, less a margin for the instructions around.
constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 16);
/// What the heap and the stack are left to grow.
constexpr std::uint64_t kGrowth = std::uint64_t{1} << 30;

constexpr std::uint64_t round_up(std::uint64_t size) { return (size + kPage - 1) & ~(kPage - 1); }

bool reaches(TraceeAddress begin, std::uint64_t size, AddressRange near) {
  const std::uint64_t low = std::min(begin.value(), near.begin().value());
  const std::uint64_t high = std::max(begin.value() + size, near.end().value());
  return high - low <= kReach;
}

/// Field 47 of /proc/PID/stat (proc(5)), start_brk: where the heap is or will be.
TraceeAddress heap_begin_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return TraceeAddress(0);
  std::string_view rest = *text;
  const auto name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) return TraceeAddress(0);
  rest.remove_prefix(name_end + 1);
  for (int field = 2; field < 47; ++field) {
    const auto blank = rest.find(' ');
    if (blank == std::string_view::npos) return TraceeAddress(0);
    rest.remove_prefix(blank + 1);
  }
  std::uint64_t value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return TraceeAddress(value);
}

TraceeAddress lowest_address() {
  std::uint64_t value = 0x10000;
  if (const auto text = read_file("/proc/sys/vm/mmap_min_addr"))
    std::from_chars(text->data(), text->data() + text->size(), value);
  return TraceeAddress(std::max<std::uint64_t>(round_up(value), 0x10000));
}

} // namespace

std::optional<TraceeAddress> find_room_near(const std::vector<Mapping>& mappings, AddressRange near,
                                            std::uint64_t size, TraceeAddress heap_begin,
                                            TraceeAddress lowest) {
  constexpr std::uint64_t kHighest = 0x7fff'ffff'f000; // the end of user space (47 bits)
  size = round_up(size);
  if (near.size() + size > kReach) return std::nullopt;
  const std::uint64_t floor =
      std::max(lowest.value(), near.end().value() > kReach ? near.end().value() - kReach : 0);
  const std::uint64_t ceiling = std::min(kHighest, near.begin().value() + kReach);

  std::optional<std::uint64_t> below, above;
  const auto consider = [&](std::uint64_t begin, std::uint64_t end, bool under_heap) {
    // A page of distance on both sides, so that nobody takes us for a part of a neighbour.
    begin = round_up(std::max(begin + kPage, floor));
    end = std::min(end - kPage, ceiling) & ~(kPage - 1);
    if (begin > end || end - begin < size) return;
    const std::uint64_t highest = end - size;
    if (highest + size <= near.begin().value()) {
      below = highest;
      return;
    }
    // As far away as can be where something may grow towards it.
    if (begin >= near.end().value() && (!above || under_heap)) above = under_heap ? highest : begin;
  };
  std::uint64_t previous = 0;
  bool heap_seen = heap_begin.value() == 0;
  for (const auto& mapping : mappings) {
    const std::uint64_t begin = mapping.range.begin().value();
    std::uint64_t end = begin;
    if (mapping.path == "[stack]") end = begin > kGrowth ? begin - kGrowth : 0;
    if (!heap_seen && heap_begin.value() < begin) { // in this gap, and not there yet
      if (heap_begin.value() > previous) consider(previous, heap_begin.value(), false);
      previous = std::max(previous, heap_begin.value() + kGrowth);
      heap_seen = true;
    }
    if (end > previous + 2 * kPage) consider(previous, end, false);
    previous = std::max(previous, mapping.range.end().value());
    if (mapping.path == "[heap]") {
      previous += kGrowth;
      heap_seen = true;
    }
  }
  if (!heap_seen) previous = std::max(previous, heap_begin.value() + kGrowth);
  if (kHighest > previous + 2 * kPage) consider(previous, kHighest, false);
  const auto found = below ? below : above;
  if (!found) return std::nullopt;
  return TraceeAddress(*found);
}

Areas Areas::for_child(std::shared_ptr<AddressSpace> child) const {
  Areas copy = *this;
  if (directory_) copy.directory_ = directory_->for_child(child);
  copy.space_ = std::move(child);
  return copy;
}

void Areas::adopt(std::span<const wire::AreaRecord> areas, AreaDirectory directory) {
  directory_.emplace(std::move(directory));
  for (const auto& record : areas) {
    if (record.kind >= kAreaKinds) continue;
    const auto kind = static_cast<AreaKind>(record.kind);
    const std::size_t head = kind == AreaKind::Cells ? 0 : unit_size(kind);
    areas_.push_back({kind, TraceeAddress(record.begin), record.size, head});
    // The earlier session may have had its calls go another way (backtraces).
    if (head != 0) (void)space_->memory().write(TraceeAddress(record.begin), head_of(routines_));
    if (kind == AreaKind::Entries) adopt_entries(areas_.back());
  }
}

void Areas::adopt_entries(Area& area) {
  std::vector<std::byte> content(area.size);
  if (!space_->memory().read(area.begin, content)) content.clear();
  for (std::size_t at = kEntryUnit; at + kEntryUnit <= content.size(); at += kEntryUnit) {
    const TraceeAddress unit = area.begin + static_cast<std::int64_t>(at);
    std::uint64_t function = 0;
    std::memcpy(&function, &content[at + kFunctionOfUnitAt], sizeof function);
    // Where its module is gone, nobody is in it any more.
    const auto mapping = function == 0 ? std::nullopt : space_->mapping_at(TraceeAddress(function));
    if (mapping && mapping->executable && mapping->inode != 0)
      left_units_.insert_or_assign(TraceeAddress(function), UnitRun{unit, 1, area.begin});
    else
      area.free.push_back(unit);
  }
  std::reverse(area.free.begin(), area.free.end()); // the lowest one is taken first
  area.used = area.size;
}

std::optional<UnitRun> Areas::take_left_unit(TraceeAddress function) {
  const auto found = left_units_.find(function);
  if (found == left_units_.end()) return std::nullopt;
  const UnitRun unit = found->second;
  left_units_.erase(found);
  return unit;
}

std::vector<std::byte> Areas::head_of(const Routines& routines) {
  static_assert(sizeof(Routines) <= sizeof(wire::SiteStub));
  std::array<std::uint64_t, kAgentRoutines> words{};
  std::transform(routines.begin(), routines.end(), words.begin(),
                 [](TraceeAddress routine) { return routine.value(); });
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::optional<Areas::Place> Areas::at(TraceeAddress address) const {
  for (const Area& area : areas_)
    if (address.value() - area.begin.value() < area.size) return Place{area.kind, area.begin};
  return std::nullopt;
}

std::vector<AddressRange> Areas::code() const {
  std::vector<AddressRange> code;
  for (const Area& area : areas_)
    if (area.kind != AreaKind::Cells)
      code.push_back(
          *AddressRange::make(area.begin, area.begin + static_cast<std::int64_t>(area.size)));
  return code;
}

void Areas::take_from(Area& area, std::size_t& count, std::vector<UnitRun>& taken) {
  const std::size_t unit = unit_size(area.kind);
  const auto append = [&](TraceeAddress at, std::size_t units) {
    if (!taken.empty() && taken.back().area == area.begin &&
        taken.back().at + static_cast<std::int64_t>(taken.back().count * unit) == at)
      taken.back().count += units;
    else
      taken.push_back({at, units, area.begin});
    count -= units;
  };
  while (count > 0 && !area.free.empty()) {
    append(area.free.back(), 1);
    area.free.pop_back();
  }
  const std::size_t fresh = std::min(count, (area.size - area.used) / unit);
  if (fresh == 0) return;
  append(area.begin + static_cast<std::int64_t>(area.used), fresh);
  area.used += fresh * unit;
}

Result<std::vector<UnitRun>> Areas::take(AreaKind kind, std::size_t count,
                                         std::optional<AddressRange> near, RemoteMapper& mapper) {
  std::vector<UnitRun> taken;
  // A new area first, as it may fail: nothing is to be given back then.
  std::size_t there = 0;
  for (const Area& area : areas_)
    if (area.kind == kind && (!near || reaches(area.begin, area.size, *near)))
      there += area.free.size() + (area.size - area.used) / unit_size(kind);
  if (there < count)
    if (auto added = add(kind, count - there, near, mapper); !added)
      return std::move(added).error();
  for (Area& area : areas_)
    if (count > 0 && area.kind == kind && (!near || reaches(area.begin, area.size, *near)))
      take_from(area, count, taken);
  return taken;
}

Result<Areas::Area*> Areas::add(AreaKind kind, std::size_t count, std::optional<AddressRange> near,
                                RemoteMapper& mapper) {
  // Room for more than what is asked for: most processes have many small modules.
  constexpr std::size_t kSmallest[kAreaKinds] = {std::size_t{16} << 10, std::size_t{256} << 10,
                                                 std::size_t{64} << 10};
  const std::size_t unit = unit_size(kind);
  const std::size_t head = kind == AreaKind::Cells ? 0 : unit;
  const std::size_t size =
      round_up(std::max(count * unit + head, kSmallest[static_cast<std::size_t>(kind)]));
  const int protection = kind == AreaKind::Cells ? PROT_READ : PROT_READ | PROT_EXEC;
  auto begin = near ? map_near(*near, size, protection, mapper)
                    : mapper.map(TraceeAddress(0), size, protection, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!begin) return std::move(begin).error();
  mapped_ += size;
  if (head != 0) {
    if (auto done = space_->memory().write(*begin, head_of(routines_)); !done)
      return std::move(done).error();
  }
  if (directory_) directory_->add({begin->value(), size, static_cast<std::uint32_t>(kind), 0});
  areas_.push_back({kind, *begin, size, head});
  return &areas_.back();
}

Result<TraceeAddress> Areas::map_near(AddressRange near, std::size_t size, int protection,
                                      RemoteMapper& mapper) const {
  // The process's other threads may map something there first.
  constexpr int kTrials = 5;
  const pid_t pid = space_->pid();
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto mappings = read_mappings(pid);
    if (!mappings) return mappings.error();
    const auto room = find_room_near(*mappings, near, size, heap_begin_of(pid), lowest_address());
    if (!room) break;
    const auto mapped =
        mapper.map(*room, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
    if (mapped) return mapped;
    if (!mapped.error().is(std::errc::file_exists)) return mapped;
  }
  return Error(std::errc::not_enough_memory,
               fmt::format("no room within 2 GB of {:#x}", near.begin().value()));
}

void Areas::give_back(AreaKind kind, const std::vector<TraceeAddress>& units) {
  for (Area& area : areas_) {
    if (area.kind != kind) continue;
    area.free.insert(area.free.end(), area.resting.begin(), area.resting.end());
    area.resting.clear();
    for (const TraceeAddress unit : units)
      if (unit.value() - area.begin.value() < area.size) area.resting.push_back(unit);
    // The lowest one is taken first, so that those side by side are taken together.
    std::sort(area.free.begin(), area.free.end(), std::greater<>());
  }
}

} // namespace sonictrace
