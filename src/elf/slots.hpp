#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonictrace/elf/calls.hpp"

namespace sonictrace::elf {

/// The slots that hold functions, from the relocations that fill them: sorted by address, each
/// address once.
std::vector<ImportSlot> collect_slots(const Image& image);

/// Finds slots by address.
class SlotMap {
public:
  /// Borrows `imports`, which are sorted by slot.
  explicit SlotMap(const std::vector<ImportSlot>& imports);

  bool may_hold(ElfAddress address) const { return first_ <= address && address <= last_; }
  std::optional<std::uint32_t> find(ElfAddress address) const;

private:
  const std::vector<ImportSlot>* imports_;
  ElfAddress first_;
  ElfAddress last_; ///< before `first_` where there are none
};

} // namespace sonictrace::elf
