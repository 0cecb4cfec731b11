#pragma once

#include <sys/types.h>

#include <memory>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/mappings.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/tracee_memory.hpp"

namespace sonictrace {

/// One address space. A process has one, from one exec to the next; a vfork child shares its
/// parent's. Identity is the object's own.
class AddressSpace {
public:
  static Result<std::shared_ptr<AddressSpace>> open(pid_t pid) {
    auto memory = TraceeMemory::open(pid);
    if (!memory) return std::move(memory).error();
    return std::shared_ptr<AddressSpace>(new AddressSpace(pid, *std::move(memory)));
  }

  /// A process that has it, for files in /proc.
  pid_t pid() const { return pid_; }
  const TraceeMemory& memory() const { return memory_; }
  /// Opens what it needs each time: it is asked for rarely, and a session may have many of these.
  std::optional<Mapping> mapping_at(TraceeAddress address) const {
    if (const auto maps = open_mappings(pid_))
      if (auto mapping = sonictrace::mapping_at(*maps, pid_, address)) return mapping;
    // A process whose first thread has ended shows its memory by the others only.
    const auto status = read_task_status(pid_);
    if (!status || status->state != 'Z') return std::nullopt;
    const auto threads = list_threads(pid_);
    if (!threads) return std::nullopt;
    for (const pid_t tid : *threads)
      if (const auto maps = open_mappings(tid))
        if (auto mapping = sonictrace::mapping_at(*maps, tid, address)) return mapping;
    return std::nullopt;
  }

private:
  AddressSpace(pid_t pid, TraceeMemory memory) : pid_(pid), memory_(std::move(memory)) {}

  pid_t pid_;
  TraceeMemory memory_;
};

} // namespace sonictrace
