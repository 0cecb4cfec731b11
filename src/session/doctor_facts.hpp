#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/arch/machine.hpp"
#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/trace_trial.hpp"
#include "sonictrace/session/doctor.hpp"

namespace sonictrace {

/// The process that is to be traced.
struct DoctorTarget {
  pid_t pid = 0;
  std::optional<TaskStatus> status; ///< nothing: there is no such process
  bool is_ourselves = false;
  std::string tracer_command;
  std::string user;                   ///< the user it runs as, by name or number
  bool same_ids = false;              ///< all its user and group ids are ours
  bool has_more_capabilities = false; ///< permitted ones that we have not
  bool is_dumpable = true;            ///< as far as /proc/PID's owner says
  bool same_user_namespace = true, same_pid_namespace = true, same_mount_namespace = true;
  std::string label;              ///< of SELinux or AppArmor; empty: none
  std::optional<Machine> machine; ///< of its program
  std::optional<int> seize;       ///< errno of trying to seize it, 0: it worked; nothing: not tried
};

struct DoctorFacts {
  std::string yama;            ///< kernel.yama.ptrace_scope; empty: this kernel has none
  bool has_capability = false; ///< CAP_SYS_PTRACE is effective
  bool in_user_namespace = false;
  bool is_root = false;
  int seccomp = 0;             ///< of this process: 0 off, 1 strict, 2 filter
  std::string label;           ///< of SELinux or AppArmor, of this process; empty: none
  bool selinux_denies = false; ///< the boolean deny_ptrace
  std::string lockdown;        ///< the kernel's mode in brackets; empty: it has none
  TraceTrial trial;
  std::optional<DoctorTarget> target;
};

DoctorFacts collect_facts(std::optional<pid_t> pid);
/// What these facts mean. Pure.
DoctorReport judge(const DoctorFacts& facts);

} // namespace sonictrace
