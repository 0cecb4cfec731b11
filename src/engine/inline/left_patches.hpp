#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/mappings.hpp"

namespace sonictrace {

/// Memory of ours that patches lead to.
struct PatchTargets {
  std::vector<AddressRange> cells;   ///< by the displacement of a jump, a call or a load
  std::vector<AddressRange> entries; ///< by a long jump, or a short one to a long one
};

/// Gives code that leads there its own bytes again; what else is changed in it stays as it is.
/// `code`: what lies at `at`; `file`: the same by its file. Returns whether there was anything.
bool undo_patches(std::span<std::byte> code, std::span<const std::byte> file, TraceeAddress at,
                  const PatchTargets& targets);

/// The same for all code of a process, whose tracer was killed, or which was forked from one that
/// is traced. All its threads are stopped; `tid`: one of them.
void undo_patches(const AddressSpace& space, pid_t tid, const std::vector<Mapping>& mappings,
                  const PatchTargets& targets);

} // namespace sonictrace
