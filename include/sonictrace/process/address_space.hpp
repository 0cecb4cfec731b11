#pragma once

#include <sys/types.h>

#include <memory>

#include "sonictrace/base/result.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// One address space. A process has one, from one exec to the next; a vfork child shares its
/// parent's. Identity is the object's own.
class AddressSpace {
public:
  static Result<std::shared_ptr<AddressSpace>> open(pid_t pid) {
    auto memory = TraceeMemory::open(pid);
    if (!memory) return std::move(memory).error();
    auto maps = open_mappings(pid);
    if (!maps) return std::move(maps).error();
    return std::shared_ptr<AddressSpace>(
        new AddressSpace(pid, *std::move(memory), *std::move(maps)));
  }

  /// A process that has it, for files in /proc.
  pid_t pid() const { return pid_; }
  const TraceeMemory& memory() const { return memory_; }
  std::optional<Mapping> mapping_at(TraceeAddress address) const {
    return sonictrace::mapping_at(maps_, pid_, address);
  }

private:
  AddressSpace(pid_t pid, TraceeMemory memory, UniqueFd maps)
      : pid_(pid), memory_(std::move(memory)), maps_(std::move(maps)) {}

  pid_t pid_;
  TraceeMemory memory_;
  UniqueFd maps_;
};

} // namespace sonictrace
