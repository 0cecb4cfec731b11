#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonictrace/base/address.hpp"

namespace sonictrace {

/// A slot: room for one displaced instruction and the jump back, in the tracee.
struct Slot {
  TraceeAddress at;
  TraceeAddress original;    ///< of the instruction
  std::size_t copy_size = 0; ///< bytes of it; the jump back follows
};

/// Hands out slots from pages that were mapped into one address space. Slots are never given back:
/// a thread may be in one at any time.
class SlotPages {
public:
  static constexpr std::uint64_t kAreaSize = 64 * 1024; ///< bytes mapped at a time: 2,048 slots

  /// A free slot within 2 GB of `near` (of any, where there is none), or nothing: then an area there
  /// must be added first.
  std::optional<TraceeAddress> take(std::optional<TraceeAddress> near);
  void add_area(TraceeAddress begin);
  void note(const Slot& slot);

  /// The slot that holds `address`, or null.
  const Slot* slot_at(TraceeAddress address) const;

private:
  struct Area {
    TraceeAddress begin;
    std::vector<Slot> slots; ///< by index; taken ones
    std::uint32_t taken = 0;
  };
  std::vector<Area> areas_;
};

} // namespace sonictrace
