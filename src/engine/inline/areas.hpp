#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/inline/agent_image.hpp"
#include "engine/inline/area_directory.hpp"
#include "engine/inline/remote_mapper.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// Where a mapping of `size` bytes may lie so that 32-bit displacements lead from all of `near` to
/// all of it, and back: below `near` if possible, as close as can be. Not where the heap or the
/// stack grow. `heap_begin`: of the heap, which may not be there yet. `lowest`: vm.mmap_min_addr.
std::optional<TraceeAddress> find_room_near(const std::vector<Mapping>& mappings, AddressRange near,
                                            std::uint64_t size, TraceeAddress heap_begin,
                                            TraceeAddress lowest);

enum class AreaKind : std::uint8_t {
  Cells,   ///< words that patched jumps go through
  Stubs,   ///< wire::SiteStub
  Entries, ///< a SiteStub, and behind it the moved begin of a function
};
constexpr std::size_t kAreaKinds = 3;
/// wire::AreaRecord::kind: an AreaKind, or this for the areas of a PlanArea.
constexpr std::uint32_t kPlanAreaKind = kAreaKinds;

constexpr std::size_t kEntryUnit = 256;
/// In a unit of Entries: the address of the function whose moved begin is in it; 0: none.
constexpr std::size_t kFunctionOfUnitAt = offsetof(wire::SiteStub, reserved) + 8;
constexpr std::size_t unit_size(AreaKind kind) {
  return kind == AreaKind::Cells   ? sizeof(std::uint64_t)
         : kind == AreaKind::Stubs ? sizeof(wire::SiteStub)
                                   : kEntryUnit;
}

/// Units side by side.
struct UnitRun {
  TraceeAddress at;
  std::size_t count = 0;
  TraceeAddress area; ///< of Stubs and Entries: a word for each AgentRoutine lies at its begin
};

/// Memory of ours in one process, in units of a fixed size. Cells are read-only there, stubs and
/// entries can be read and executed.
class Areas {
public:
  using Routines = std::array<TraceeAddress, kAgentRoutines>;

  Areas(std::shared_ptr<AddressSpace> space, const Routines& routines)
      : space_(std::move(space)), routines_(routines) {}
  /// Areas that an earlier session has left, nobody is in, and nothing leads to: they are used
  /// first. New ones are entered into `directory`.
  void adopt(std::span<const wire::AreaRecord> areas, AreaDirectory directory);
  /// What a new area of stubs or entries begins with.
  static std::vector<std::byte> head_of(const Routines& routines);
  /// The same areas in a fork child.
  Areas for_child(std::shared_ptr<AddressSpace> child) const;

  /// Units within reach of all of `near`, or anywhere. On failure none are taken.
  Result<std::vector<UnitRun>> take(AreaKind kind, std::size_t count,
                                    std::optional<AddressRange> near, RemoteMapper& mapper);
  /// An adopted unit of Entries whose moved code is the begin of the function at this address. It
  /// is for that function only: a thread may have called out of that code, and will return there.
  std::optional<UnitRun> take_left_unit(TraceeAddress function);
  /// These are needed no more. They are given out again only after another `give_back`: what the
  /// agent still knows of a call that an exception has left may refer to them for a while.
  void give_back(AreaKind kind, const std::vector<TraceeAddress>& units);

  /// Where threads may run.
  std::vector<AddressRange> code() const;
  /// Bytes that were mapped so far.
  std::uint64_t mapped() const { return mapped_; }
  /// The kind of the area that holds `address`, and where that begins.
  struct Place {
    AreaKind kind;
    TraceeAddress area;
  };
  std::optional<Place> at(TraceeAddress address) const;

private:
  struct Area {
    AreaKind kind;
    TraceeAddress begin;
    std::size_t size; ///< bytes
    std::size_t used; ///< bytes from its begin that were ever given out
    std::vector<TraceeAddress> free = {};
    std::vector<TraceeAddress> resting = {}; ///< given back last
  };

  void adopt_entries(Area& area);
  static void take_from(Area& area, std::size_t& count, std::vector<UnitRun>& taken);
  Result<Area*> add(AreaKind kind, std::size_t count, std::optional<AddressRange> near,
                    RemoteMapper& mapper);
  Result<TraceeAddress> map_near(AddressRange near, std::size_t size, int protection,
                                 RemoteMapper& mapper) const;

  std::shared_ptr<AddressSpace> space_;
  Routines routines_;
  std::vector<Area> areas_;
  std::uint64_t mapped_ = 0;
  std::optional<AreaDirectory> directory_;
  std::map<TraceeAddress, UnitRun> left_units_; ///< by the function
};

} // namespace sonictrace
