#include "engine/breakpoint/slot_pages.hpp"

#include "sonictrace/arch/displaced.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kSlotSize = DisplacedInstruction::kSlotSize;
constexpr std::uint64_t kSlotsInArea = SlotPages::kAreaSize / kSlotSize;
/// Of a rip-relative operand, less a margin for its own size and the area's.
constexpr std::int64_t kReach = (std::int64_t{1} << 31) - (std::int64_t{1} << 20);

bool reaches(TraceeAddress from, TraceeAddress to) {
  const std::int64_t distance = to - from;
  return distance < kReach && distance > -kReach;
}

} // namespace

std::optional<TraceeAddress> SlotPages::take(std::optional<TraceeAddress> near) {
  for (auto& area : areas_) {
    if (area.taken == kSlotsInArea) continue;
    const auto slot = area.begin + static_cast<std::int64_t>(area.taken * kSlotSize);
    if (near && !reaches(slot, *near)) continue;
    ++area.taken;
    area.slots.emplace_back();
    return slot;
  }
  return std::nullopt;
}

void SlotPages::add_area(TraceeAddress begin) {
  static_assert(sizeof(SlotAreaHead) == kSlotSize);
  areas_.push_back({begin, std::vector<Slot>(1), 1});
}

std::vector<TraceeAddress> SlotPages::areas() const {
  std::vector<TraceeAddress> begins;
  for (const Area& area : areas_)
    begins.push_back(area.begin);
  return begins;
}

bool SlotPages::is_area_near(TraceeAddress begin, std::optional<TraceeAddress> near) {
  const TraceeAddress end = begin + static_cast<std::int64_t>(kAreaSize);
  return !near || (reaches(begin, *near) && reaches(end, *near));
}

void SlotPages::note(const Slot& slot) {
  for (auto& area : areas_) {
    const auto offset = slot.at.value() - area.begin.value();
    if (offset >= kAreaSize) continue;
    area.slots[offset / kSlotSize] = slot;
    return;
  }
}

const Slot* SlotPages::slot_at(TraceeAddress address) const {
  for (const auto& area : areas_) {
    const auto offset = address.value() - area.begin.value();
    if (offset >= kAreaSize) continue;
    const auto index = offset / kSlotSize;
    return index > 0 && index < area.slots.size() ? &area.slots[index] : nullptr;
  }
  return nullptr;
}

} // namespace sonictrace
