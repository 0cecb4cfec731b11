#pragma once

#include <sys/types.h>

namespace sonictrace {

/// What a tracer does, tried on a child of one's own: each is an errno, or 0 where it worked.
struct TraceTrial {
  int seize = 0;
  int registers = 0;    ///< PTRACE_GETREGS
  int syscall_info = 0; ///< PTRACE_GET_SYSCALL_INFO
  int read_memory = 0;  ///< /proc/PID/mem
  int write_code = 0;   ///< the same, where the page is read-only
  int vm_read = 0;      ///< process_vm_readv
  int map_code = 0;     ///< a new executable page

  bool operator==(const TraceTrial&) const = default;
};

/// Tries all that in processes of its own: a filter may kill who asks (seccomp(2)).
TraceTrial try_tracing();

/// Whether a process can be seized: 0, or the errno. It is let go at once, and never stopped.
int try_seizing(pid_t pid);

} // namespace sonictrace
