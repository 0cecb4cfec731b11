#include "engine/frame_ids.hpp"

#include <algorithm>

namespace sonictrace {
namespace {

std::uint64_t key_of(const UnwoundFrame& frame) {
  return frame.address.value() << 1 | (frame.interrupted ? 1 : 0);
}

TraceeAddress address_of(std::uint64_t key) { return TraceeAddress(key >> 1); }

} // namespace

std::uint32_t FrameIdPool::take() {
  if (free_.empty()) {
    users_.push_back(1);
    return static_cast<std::uint32_t>(users_.size() - 1) * step_ + first_;
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  share(id);
  return id;
}

void FrameIdPool::give_back(std::uint32_t id) {
  if (--users_[(id - first_) / step_] == 0) free_.push_back(id);
}

FrameIds::FrameIds(const FrameIds& other)
    : pool_(other.pool_), ids_(other.ids_), forgotten_(other.forgotten_) {
  for (const auto& [key, id] : ids_)
    pool_.share(id);
  for (const std::uint32_t id : forgotten_)
    pool_.share(id);
}

FrameIds::~FrameIds() {
  for (const auto& [key, id] : ids_)
    pool_.give_back(id);
  for (const std::uint32_t id : forgotten_)
    pool_.give_back(id);
}

std::optional<std::uint32_t> FrameIds::find(const UnwoundFrame& frame) const {
  const auto known = ids_.find(key_of(frame));
  if (known == ids_.end()) return std::nullopt;
  return known->second;
}

std::uint32_t FrameIds::add(const UnwoundFrame& frame) {
  const std::uint32_t id = pool_.take();
  ids_.emplace(key_of(frame), id);
  return id;
}

bool FrameIds::has_any_in(AddressRange range) const {
  return std::any_of(ids_.begin(), ids_.end(),
                     [&](const auto& entry) { return range.contains(address_of(entry.first)); });
}

void FrameIds::forget(AddressRange range) {
  std::erase_if(ids_, [&](const auto& entry) {
    if (!range.contains(address_of(entry.first))) return false;
    forgotten_.push_back(entry.second);
    return true;
  });
}

} // namespace sonictrace
