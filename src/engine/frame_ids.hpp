#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/unwinder.hpp"

namespace sonictrace {

/// Hands out the ids of FrameDefinitions, and again those that nobody uses any more: a session may
/// see many processes.
class FrameIdPool {
public:
  /// Those that leave `first` when they are divided by `step`: for several pools of one session.
  explicit FrameIdPool(std::uint32_t first = 0, std::uint32_t step = 1)
      : first_(first), step_(step) {}

  std::uint32_t take();
  /// One more user of an id that was taken.
  void share(std::uint32_t id) { ++users_[(id - first_) / step_]; }
  void give_back(std::uint32_t id);

  std::size_t handed_out() const { return users_.size() - free_.size(); }

private:
  std::uint32_t first_, step_;
  std::vector<std::uint32_t> users_; ///< of each id
  std::vector<std::uint32_t> free_;
};

/// The ids of places in one address space, or in several with the same content. They are given back
/// with it.
class FrameIds {
public:
  explicit FrameIds(FrameIdPool& pool) : pool_(pool) {}
  ~FrameIds();
  FrameIds(const FrameIds& other);
  FrameIds& operator=(const FrameIds&) = delete;

  std::optional<std::uint32_t> find(const UnwoundFrame& frame) const;
  /// The id of a place that has none yet.
  std::uint32_t add(const UnwoundFrame& frame);
  bool has_any_in(AddressRange range) const;
  /// What is at these addresses is another place from now on. Calls that are open may still name
  /// the old one.
  void forget(AddressRange range);

private:
  FrameIdPool& pool_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_; ///< by address, and whether interrupted
  std::vector<std::uint32_t> forgotten_;
};

} // namespace sonictrace
