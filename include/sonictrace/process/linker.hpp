#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// One entry of the dynamic linker's list: what it mapped and where (<link.h>, struct link_map).
struct LinkedModule {
  TraceeAddress link_map;  ///< of the entry itself
  LoadBias bias;           ///< l_addr: the only right one (the maps file can't tell it, with lld)
  TraceeAddress dynamic;   ///< l_ld
  std::string name;        ///< l_name: a path; empty for the program
  bool is_main = false;    ///< the first entry of the first namespace
  unsigned name_space = 0; ///< 0, or counted up for each dlmopen(LM_ID_NEWLM)

  /// The same mapping as before, not one loaded again elsewhere.
  bool is_same_as(const LinkedModule& other) const {
    return link_map == other.link_map && bias == other.bias && dynamic == other.dynamic;
  }
};

/// The dynamic linker of one process: its list of modules and the function that it calls when that
/// list changes. glibc and musl, by the interface for debuggers that both keep (<link.h>, r_debug).
class DynamicLinker {
public:
  /// `program` is the image of /proc/PID/exe, `linker` that of the mapping at AT_BASE; null where
  /// there is none (the program may then be the linker itself: `ld.so ./prog`).
  static DynamicLinker find(const AuxiliaryVector& auxiliary, const elf::Image& program,
                            const elf::Image* linker);

  /// `_dl_debug_state`: called after each change of the list. Nothing where it has no such symbol:
  /// then `update` may find it once the program runs.
  std::optional<TraceeAddress> rendezvous() const { return rendezvous_; }

  /// Its `r_debug` (<link.h>): known by its symbol, else once `modules` has found it.
  std::optional<TraceeAddress> state() const {
    return state_symbol_ ? state_symbol_ : found_state_;
  }

  /// The modules, or nothing while the list is being changed or not yet made.
  Result<std::optional<std::vector<LinkedModule>>> modules(const TraceeMemory& memory);

private:
  DynamicLinker() = default;
  std::optional<TraceeAddress> find_state(const TraceeMemory& memory) const;

  std::optional<TraceeAddress> state_symbol_;    ///< `_r_debug` itself
  std::optional<TraceeAddress> found_state_;     ///< by DT_DEBUG
  std::optional<TraceeAddress> program_dynamic_; ///< whose DT_DEBUG points to it
  std::optional<TraceeAddress> rendezvous_;
};

} // namespace sonictrace
