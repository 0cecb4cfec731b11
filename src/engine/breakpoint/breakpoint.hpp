#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sonictrace/arch/displaced.hpp"
#include "sonictrace/engine/engine.hpp"

namespace sonictrace {

/// An int3 in one address space, and all that it is there for.
struct Breakpoint {
  TraceeAddress at;
  std::byte original{};
  DisplacedInstruction instruction;  ///< that it overwrote
  std::optional<TraceeAddress> slot; ///< where its copy is, if it needs one and has one
  std::vector<SiteProbe> probes;
  std::vector<Mark> marks;
  std::uint8_t call_size = 0; ///< MarkSite::call_size

  explicit Breakpoint(DisplacedInstruction overwritten)
      : at(overwritten.at()), instruction(overwritten) {}

  /// A thread can be brought past it.
  bool can_pass() const { return instruction.is_emulated() || slot.has_value(); }
};

} // namespace sonictrace
