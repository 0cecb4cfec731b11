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

/// What an area begins with, in place of its first slot: so that it is used again by the next
/// session, not one more mapped. What the process says; not to be trusted.
struct SlotAreaHead {
  static constexpr std::uint64_t kMagic = 0x746f'6c73'6369'6e73; ///< "snicslot"
  enum class State : std::uint64_t {
    Taken = 1, ///< a thread may be in its slots
    Free = 2,  ///< nobody is in them, and nothing leads there
  };

  std::uint64_t magic = kMagic;
  TraceeAddress at; ///< of the area itself
  State state = State::Taken;
  std::uint64_t reserved = 0;

  bool is_free_at(TraceeAddress address) const {
    return magic == kMagic && at == address && state == State::Free;
  }
};

/// Hands out slots from pages that were mapped into one address space. Slots are not given back
/// while it is traced: a thread may be in one at any time.
class SlotPages {
public:
  static constexpr std::uint64_t kAreaSize = 64 * 1024; ///< bytes mapped at a time: 2,047 slots

  /// A free slot within 2 GB of `near` (of any, where there is none), or nothing: then an area
  /// there must be added first.
  std::optional<TraceeAddress> take(std::optional<TraceeAddress> near);
  void add_area(TraceeAddress begin);
  std::vector<TraceeAddress> areas() const;
  /// Whether it is within reach of all that is near `near`.
  static bool is_area_near(TraceeAddress begin, std::optional<TraceeAddress> near);
  void note(const Slot& slot);

  /// The slot that holds `address`, or null.
  const Slot* slot_at(TraceeAddress address) const;

private:
  struct Area {
    TraceeAddress begin;
    std::vector<Slot> slots; ///< by index; taken ones, the head's among them
    std::uint32_t taken = 0;
  };
  std::vector<Area> areas_;
};

} // namespace sonictrace
