#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// What is known when an attach was refused.
struct AttachRefusal {
  pid_t pid = 0;
  int error = 0;           ///< errno of PTRACE_SEIZE
  pid_t other_tracer = 0;  ///< TracerPid
  std::string other_tracer_name;
  bool kernel_thread = false;
  bool own_user = true;    ///< the process belongs to us
  bool we_are_root = false;
  std::string yama;        ///< kernel.yama.ptrace_scope, empty where there is none
};

/// One line: what failed, why, and what to do about it.
std::string explain(const AttachRefusal& refusal);

/// Seizes every thread of a process and asks each to stop. The stops come from later waits, in any
/// order; threads born meanwhile are seized as well. Returns the
/// threads.
/// Fails, with nothing left attached, with an explanation.
Result<std::vector<pid_t>> attach(pid_t pid);

} // namespace sonictrace
