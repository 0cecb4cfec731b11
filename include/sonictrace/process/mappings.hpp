#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {

/// One line of /proc/PID/maps.
struct Mapping {
  AddressRange range;
  std::uint64_t offset = 0; ///< bytes into the file
  std::uint64_t device = 0; ///< major << 32 | minor
  std::uint64_t inode = 0;  ///< 0: anonymous
  bool executable = false;
  bool writable = false;
  std::string path; ///< as the tracee sees it, or `[stack]`, `[heap]`, empty...
};

/// All mappings of a process, sorted by address.
Result<std::vector<Mapping>> read_mappings(pid_t pid);

/// Opens /proc/PID/maps for `mapping_at`.
Result<UniqueFd> open_mappings(pid_t pid);
/// The mapping that holds `address`: by PROCMAP_QUERY (kernel 6.11), else by reading the file.
std::optional<Mapping> mapping_at(const UniqueFd& maps, pid_t pid, TraceeAddress address);

/// Opens the very file that is mapped, also when the process is in another root or mount namespace,
/// or the file was deleted or replaced: by map_files (needs CAP_SYS_ADMIN or
/// CAP_CHECKPOINT_RESTORE), else by /proc/PID/root and the path, checked by device and inode.
Result<UniqueFd> open_mapped_file(pid_t pid, const Mapping& mapping);

/// A page-aligned gap of `size` bytes whose whole lies within `reach` bytes of `near`, or nothing.
std::optional<TraceeAddress> find_gap(const std::vector<Mapping>& mappings, TraceeAddress near,
                                      std::uint64_t size, std::uint64_t reach);

} // namespace sonictrace
