#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// What we need of /proc/TID/status (proc(5)).
struct TaskStatus {
  pid_t process = 0;          ///< Tgid
  pid_t tracer = 0;           ///< TracerPid, 0: none
  uid_t real_user = 0;
  bool kernel_thread = false; ///< no address space of its own
  char state = '?';
  int seccomp = 0;            ///< 0 off, 1 strict, 2 filter
  std::uint64_t pending = 0;  ///< bit N-1: signal N, of the thread (SigPnd)
  std::uint64_t shared_pending = 0; ///< of the process (ShdPnd)
  std::uint64_t blocked = 0;  ///< SigBlk
  std::uint64_t ignored = 0;  ///< SigIgn
  std::uint64_t caught = 0;   ///< SigCgt
};

Result<TaskStatus> read_task_status(pid_t tid);

/// The threads of a process, in the kernel's order.
Result<std::vector<pid_t>> list_threads(pid_t pid);
/// Direct children of all threads of a process (needs CONFIG_PROC_CHILDREN; else empty).
std::vector<pid_t> list_children(pid_t pid);
/// Arguments joined by blanks; empty for a kernel thread or a vanished process.
std::string command_line(pid_t pid);
/// The core that the thread last ran on, or nothing.
std::optional<int> core_of(pid_t tid);

/// Of the auxiliary vector (getauxval(3)); absent entries are 0.
struct AuxiliaryVector {
  TraceeAddress program_headers;         ///< AT_PHDR
  std::uint64_t program_header_count = 0; ///< AT_PHNUM
  TraceeAddress linker_base;             ///< AT_BASE: 0 in a static program
  TraceeAddress entry;                   ///< AT_ENTRY, of the program, not of the linker
  TraceeAddress vdso;                    ///< AT_SYSINFO_EHDR

  bool operator==(const AuxiliaryVector&) const = default;
};

Result<AuxiliaryVector> read_auxiliary_vector(pid_t pid);

/// The whole of a (small) file, as files in /proc want to be read.
Result<std::string> read_file(const std::string& path);

} // namespace sonictrace
