#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/inline/areas.hpp"
#include "engine/inline/remote_mapper.hpp"
#include "sonictrace/arch/moved_entry.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {

/// An instruction that goes to where a slot says, and shall go through the agent.
struct CallSitePatch {
  TraceeAddress
      at; ///< of the instruction: `jmp *slot(%rip)`, `call *slot(%rip)`, or a load from it
  std::uint8_t size = 0; ///< bytes; the last four are the displacement
  TraceeAddress slot;
  wire::Site site; ///< its `slot` is filled in
  AgentRoutine routine = AgentRoutine::Enter;
};

/// A function to be recorded from its first instruction on.
struct EntryPatch {
  TraceeAddress at;
  std::span<const std::byte> function; ///< its bytes by its file, as move_entry wants them
  wire::Site site;                     ///< its `slot` is filled in
  /// Padding in reach of a short jump, of which one is taken for the long one. Where there is none
  /// given, the function itself has room for a long jump.
  struct Island {
    TraceeAddress at;
    std::span<const std::byte> bytes; ///< by the file
  };
  std::vector<Island> islands = {};
};

/// Puts call sites and entry points of one process under the agent's control:
///
///   jmp *slot(%rip)   ->   jmp *cell(%rip)     cell: the address of a stub
///   function: ...     ->   function: jmp stub  stub: r11 = its site, jmp *routine
///
/// A function that has no room for a long jump has a short one, to a long one in the padding near
/// it. Where several sites are for one function, calls go through the stubs of all:
///
///   function: jmp stub 1    *slot of 1: stub 2    *slot of 2: the moved begin
///
/// in the order in which they came, but those with a filter (kSiteFiltered) before the others.
///
/// The code that is changed must not run meanwhile: the process's other threads are stopped, or the
/// modules are new. Code of ours stays in the process when it is left, for threads that are in it.
class SiteWriter {
public:
  SiteWriter(std::shared_ptr<AddressSpace> space, const Areas::Routines& routines)
      : space_(std::move(space)), areas_(space_, routines) {}
  /// See Areas.
  void adopt(std::span<const wire::AreaRecord> areas, AreaDirectory directory) {
    areas_.adopt(areas, std::move(directory));
  }
  /// The same in a fork child, which has a copy of it all.
  SiteWriter for_child(std::shared_ptr<AddressSpace> child) const;

  /// Sites of one slot and function share a stub. Those of one module, or of modules that lie near
  /// each other, are best given at once. A site that is patched already gets the new stub. Returns
  /// a line for each site whose code is not what its file says, and for what else was in the way.
  std::vector<std::string> patch(std::span<const CallSitePatch> sites, RemoteMapper& mapper);
  /// The same of entry points. Returns for each why it was not patched; nothing where it was.
  /// Several may be for one function, also some that come later.
  std::vector<std::optional<std::string>> patch_entries(std::span<const EntryPatch> entries,
                                                        RemoteMapper& mapper);

  /// Gives the code back its own bytes, where it still has ours.
  void restore_all();
  void restore(AddressRange range);
  /// The same, but for calls that unwinders make to find their way through our code.
  void restore_all_but_unwinders();
  /// The range was unmapped: what lay there is gone, and its stubs are used for others.
  void forget(AddressRange range);

  /// Of a thread that is stopped in the first bytes of a function, which have just been replaced:
  /// where it goes on. Nothing: where it is.
  std::optional<TraceeAddress> moved_place(TraceeAddress pc) const;
  /// Where in the program a thread is whose pc is in a function's moved begin.
  std::optional<TraceeAddress> original_place(TraceeAddress pc) const;

  /// A word of read-only memory that holds `value`, within reach of all of `near`.
  Result<TraceeAddress> word_near(AddressRange near, std::uint64_t value, RemoteMapper& mapper);

  /// A stopped thread within a stub's code is brought on to the agent's routine, whose frame
  /// unwinders can tell: a stub has no table for them. False where it is in none.
  bool leave_stub(Registers& registers) const;

  /// Stubs and moved entries.
  std::vector<AddressRange> code() const { return areas_.code(); }
  /// Where unwinders' calls are patched.
  std::vector<TraceeAddress> unwinders() const;
  std::size_t sites() const { return sites_.size(); }
  std::size_t entries() const { return entries_.size(); }
  std::uint64_t mapped() const { return areas_.mapped(); }

private:
  struct PatchedSite {
    TraceeAddress at;
    std::uint8_t size;
    std::int32_t original; ///< displacement
    std::int32_t ours;
    TraceeAddress cell, stub;
    bool is_of_unwinder; ///< answered by the agent: where the code of an address is described
  };
  /// Bytes that were replaced.
  struct Place {
    TraceeAddress at;
    std::vector<std::byte> original, ours;
  };
  /// A site of a function, in a unit of its own.
  struct Link {
    TraceeAddress unit;
    bool is_filtered;
    TraceeAddress next; ///< what its slot holds
  };
  struct PatchedEntry {
    TraceeAddress at; ///< of the function
    MovedEntry moved;
    TraceeAddress code;        ///< of the moved begin
    std::vector<Place> places; ///< of the short jump, where there is one; of the long jump
    std::vector<Link> links;   ///< in the order in which calls go through them
  };
  class Batch;
  class EntryBatch;

  void patch_batch(std::span<const CallSitePatch* const> sites, RemoteMapper& mapper,
                   std::vector<std::string>& lines);
  const PatchedSite* find_site(TraceeAddress at) const;
  void keep(std::vector<PatchedSite> fresh);
  PatchedEntry* find_entry(TraceeAddress at);
  template <class Chosen>
  void restore_sites(Chosen is_chosen);
  void restore_entries(AddressRange range);

  std::shared_ptr<AddressSpace> space_;
  Areas areas_;
  std::vector<PatchedSite> sites_;    ///< sorted by address
  std::vector<PatchedEntry> entries_; ///< likewise
};

} // namespace sonictrace
