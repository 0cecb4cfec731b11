#include "sonictrace/arch/syscall_names.hpp"

#include <fmt/format.h>

#include <array>

// The numbers are the kernel's ABI: arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl of
// Linux 6.18. From 424 on they are the same on all machines. An empty name: no such call.

namespace sonictrace {
namespace {

// clang-format off
/// 0 to 336 of x86-64; what follows up to 423 is not used.
constexpr std::array<std::string_view, 337> kX86_64 = {
    /*   0 */ "read", "write", "open", "close", "stat",
    /*   5 */ "fstat", "lstat", "poll", "lseek", "mmap",
    /*  10 */ "mprotect", "munmap", "brk", "rt_sigaction", "rt_sigprocmask",
    /*  15 */ "rt_sigreturn", "ioctl", "pread64", "pwrite64", "readv",
    /*  20 */ "writev", "access", "pipe", "select", "sched_yield",
    /*  25 */ "mremap", "msync", "mincore", "madvise", "shmget",
    /*  30 */ "shmat", "shmctl", "dup", "dup2", "pause",
    /*  35 */ "nanosleep", "getitimer", "alarm", "setitimer", "getpid",
    /*  40 */ "sendfile", "socket", "connect", "accept", "sendto",
    /*  45 */ "recvfrom", "sendmsg", "recvmsg", "shutdown", "bind",
    /*  50 */ "listen", "getsockname", "getpeername", "socketpair", "setsockopt",
    /*  55 */ "getsockopt", "clone", "fork", "vfork", "execve",
    /*  60 */ "exit", "wait4", "kill", "uname", "semget",
    /*  65 */ "semop", "semctl", "shmdt", "msgget", "msgsnd",
    /*  70 */ "msgrcv", "msgctl", "fcntl", "flock", "fsync",
    /*  75 */ "fdatasync", "truncate", "ftruncate", "getdents", "getcwd",
    /*  80 */ "chdir", "fchdir", "rename", "mkdir", "rmdir",
    /*  85 */ "creat", "link", "unlink", "symlink", "readlink",
    /*  90 */ "chmod", "fchmod", "chown", "fchown", "lchown",
    /*  95 */ "umask", "gettimeofday", "getrlimit", "getrusage", "sysinfo",
    /* 100 */ "times", "ptrace", "getuid", "syslog", "getgid",
    /* 105 */ "setuid", "setgid", "geteuid", "getegid", "setpgid",
    /* 110 */ "getppid", "getpgrp", "setsid", "setreuid", "setregid",
    /* 115 */ "getgroups", "setgroups", "setresuid", "getresuid", "setresgid",
    /* 120 */ "getresgid", "getpgid", "setfsuid", "setfsgid", "getsid",
    /* 125 */ "capget", "capset", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
    /* 130 */ "rt_sigsuspend", "sigaltstack", "utime", "mknod", "uselib",
    /* 135 */ "personality", "ustat", "statfs", "fstatfs", "sysfs",
    /* 140 */ "getpriority", "setpriority", "sched_setparam", "sched_getparam", "sched_setscheduler",
    /* 145 */ "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "mlock",
    /* 150 */ "munlock", "mlockall", "munlockall", "vhangup", "modify_ldt",
    /* 155 */ "pivot_root", "_sysctl", "prctl", "arch_prctl", "adjtimex",
    /* 160 */ "setrlimit", "chroot", "sync", "acct", "settimeofday",
    /* 165 */ "mount", "umount2", "swapon", "swapoff", "reboot",
    /* 170 */ "sethostname", "setdomainname", "iopl", "ioperm", "create_module",
    /* 175 */ "init_module", "delete_module", "get_kernel_syms", "query_module", "quotactl",
    /* 180 */ "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall",
    /* 185 */ "security", "gettid", "readahead", "setxattr", "lsetxattr",
    /* 190 */ "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr",
    /* 195 */ "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr",
    /* 200 */ "tkill", "time", "futex", "sched_setaffinity", "sched_getaffinity",
    /* 205 */ "set_thread_area", "io_setup", "io_destroy", "io_getevents", "io_submit",
    /* 210 */ "io_cancel", "get_thread_area", "lookup_dcookie", "epoll_create", "epoll_ctl_old",
    /* 215 */ "epoll_wait_old", "remap_file_pages", "getdents64", "set_tid_address", "restart_syscall",
    /* 220 */ "semtimedop", "fadvise64", "timer_create", "timer_settime", "timer_gettime",
    /* 225 */ "timer_getoverrun", "timer_delete", "clock_settime", "clock_gettime", "clock_getres",
    /* 230 */ "clock_nanosleep", "exit_group", "epoll_wait", "epoll_ctl", "tgkill",
    /* 235 */ "utimes", "vserver", "mbind", "set_mempolicy", "get_mempolicy",
    /* 240 */ "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify",
    /* 245 */ "mq_getsetattr", "kexec_load", "waitid", "add_key", "request_key",
    /* 250 */ "keyctl", "ioprio_set", "ioprio_get", "inotify_init", "inotify_add_watch",
    /* 255 */ "inotify_rm_watch", "migrate_pages", "openat", "mkdirat", "mknodat",
    /* 260 */ "fchownat", "futimesat", "newfstatat", "unlinkat", "renameat",
    /* 265 */ "linkat", "symlinkat", "readlinkat", "fchmodat", "faccessat",
    /* 270 */ "pselect6", "ppoll", "unshare", "set_robust_list", "get_robust_list",
    /* 275 */ "splice", "tee", "sync_file_range", "vmsplice", "move_pages",
    /* 280 */ "utimensat", "epoll_pwait", "signalfd", "timerfd_create", "eventfd",
    /* 285 */ "fallocate", "timerfd_settime", "timerfd_gettime", "accept4", "signalfd4",
    /* 290 */ "eventfd2", "epoll_create1", "dup3", "pipe2", "inotify_init1",
    /* 295 */ "preadv", "pwritev", "rt_tgsigqueueinfo", "perf_event_open", "recvmmsg",
    /* 300 */ "fanotify_init", "fanotify_mark", "prlimit64", "name_to_handle_at", "open_by_handle_at",
    /* 305 */ "clock_adjtime", "syncfs", "sendmmsg", "setns", "getcpu",
    /* 310 */ "process_vm_readv", "process_vm_writev", "kcmp", "finit_module", "sched_setattr",
    /* 315 */ "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create",
    /* 320 */ "kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier",
    /* 325 */ "mlock2", "copy_file_range", "preadv2", "pwritev2", "pkey_mprotect",
    /* 330 */ "pkey_alloc", "pkey_free", "statx", "io_pgetevents", "rseq",
    /* 335 */ "uretprobe", "uprobe",
};

/// 0 to 423 of i386.
constexpr std::array<std::string_view, 424> kI386 = {
    /*   0 */ "restart_syscall", "exit", "fork", "read", "write",
    /*   5 */ "open", "close", "waitpid", "creat", "link",
    /*  10 */ "unlink", "execve", "chdir", "time", "mknod",
    /*  15 */ "chmod", "lchown", "break", "oldstat", "lseek",
    /*  20 */ "getpid", "mount", "umount", "setuid", "getuid",
    /*  25 */ "stime", "ptrace", "alarm", "oldfstat", "pause",
    /*  30 */ "utime", "stty", "gtty", "access", "nice",
    /*  35 */ "ftime", "sync", "kill", "rename", "mkdir",
    /*  40 */ "rmdir", "dup", "pipe", "times", "prof",
    /*  45 */ "brk", "setgid", "getgid", "signal", "geteuid",
    /*  50 */ "getegid", "acct", "umount2", "lock", "ioctl",
    /*  55 */ "fcntl", "mpx", "setpgid", "ulimit", "oldolduname",
    /*  60 */ "umask", "chroot", "ustat", "dup2", "getppid",
    /*  65 */ "getpgrp", "setsid", "sigaction", "sgetmask", "ssetmask",
    /*  70 */ "setreuid", "setregid", "sigsuspend", "sigpending", "sethostname",
    /*  75 */ "setrlimit", "getrlimit", "getrusage", "gettimeofday", "settimeofday",
    /*  80 */ "getgroups", "setgroups", "select", "symlink", "oldlstat",
    /*  85 */ "readlink", "uselib", "swapon", "reboot", "readdir",
    /*  90 */ "mmap", "munmap", "truncate", "ftruncate", "fchmod",
    /*  95 */ "fchown", "getpriority", "setpriority", "profil", "statfs",
    /* 100 */ "fstatfs", "ioperm", "socketcall", "syslog", "setitimer",
    /* 105 */ "getitimer", "stat", "lstat", "fstat", "olduname",
    /* 110 */ "iopl", "vhangup", "idle", "vm86old", "wait4",
    /* 115 */ "swapoff", "sysinfo", "ipc", "fsync", "sigreturn",
    /* 120 */ "clone", "setdomainname", "uname", "modify_ldt", "adjtimex",
    /* 125 */ "mprotect", "sigprocmask", "create_module", "init_module", "delete_module",
    /* 130 */ "get_kernel_syms", "quotactl", "getpgid", "fchdir", "bdflush",
    /* 135 */ "sysfs", "personality", "afs_syscall", "setfsuid", "setfsgid",
    /* 140 */ "_llseek", "getdents", "_newselect", "flock", "msync",
    /* 145 */ "readv", "writev", "getsid", "fdatasync", "_sysctl",
    /* 150 */ "mlock", "munlock", "mlockall", "munlockall", "sched_setparam",
    /* 155 */ "sched_getparam", "sched_setscheduler", "sched_getscheduler", "sched_yield", "sched_get_priority_max",
    /* 160 */ "sched_get_priority_min", "sched_rr_get_interval", "nanosleep", "mremap", "setresuid",
    /* 165 */ "getresuid", "vm86", "query_module", "poll", "nfsservctl",
    /* 170 */ "setresgid", "getresgid", "prctl", "rt_sigreturn", "rt_sigaction",
    /* 175 */ "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigsuspend",
    /* 180 */ "pread64", "pwrite64", "chown", "getcwd", "capget",
    /* 185 */ "capset", "sigaltstack", "sendfile", "getpmsg", "putpmsg",
    /* 190 */ "vfork", "ugetrlimit", "mmap2", "truncate64", "ftruncate64",
    /* 195 */ "stat64", "lstat64", "fstat64", "lchown32", "getuid32",
    /* 200 */ "getgid32", "geteuid32", "getegid32", "setreuid32", "setregid32",
    /* 205 */ "getgroups32", "setgroups32", "fchown32", "setresuid32", "getresuid32",
    /* 210 */ "setresgid32", "getresgid32", "chown32", "setuid32", "setgid32",
    /* 215 */ "setfsuid32", "setfsgid32", "pivot_root", "mincore", "madvise",
    /* 220 */ "getdents64", "fcntl64", "", "", "gettid",
    /* 225 */ "readahead", "setxattr", "lsetxattr", "fsetxattr", "getxattr",
    /* 230 */ "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    /* 235 */ "removexattr", "lremovexattr", "fremovexattr", "tkill", "sendfile64",
    /* 240 */ "futex", "sched_setaffinity", "sched_getaffinity", "set_thread_area", "get_thread_area",
    /* 245 */ "io_setup", "io_destroy", "io_getevents", "io_submit", "io_cancel",
    /* 250 */ "fadvise64", "", "exit_group", "lookup_dcookie", "epoll_create",
    /* 255 */ "epoll_ctl", "epoll_wait", "remap_file_pages", "set_tid_address", "timer_create",
    /* 260 */ "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "clock_settime",
    /* 265 */ "clock_gettime", "clock_getres", "clock_nanosleep", "statfs64", "fstatfs64",
    /* 270 */ "tgkill", "utimes", "fadvise64_64", "vserver", "mbind",
    /* 275 */ "get_mempolicy", "set_mempolicy", "mq_open", "mq_unlink", "mq_timedsend",
    /* 280 */ "mq_timedreceive", "mq_notify", "mq_getsetattr", "kexec_load", "waitid",
    /* 285 */ "", "add_key", "request_key", "keyctl", "ioprio_set",
    /* 290 */ "ioprio_get", "inotify_init", "inotify_add_watch", "inotify_rm_watch", "migrate_pages",
    /* 295 */ "openat", "mkdirat", "mknodat", "fchownat", "futimesat",
    /* 300 */ "fstatat64", "unlinkat", "renameat", "linkat", "symlinkat",
    /* 305 */ "readlinkat", "fchmodat", "faccessat", "pselect6", "ppoll",
    /* 310 */ "unshare", "set_robust_list", "get_robust_list", "splice", "sync_file_range",
    /* 315 */ "tee", "vmsplice", "move_pages", "getcpu", "epoll_pwait",
    /* 320 */ "utimensat", "signalfd", "timerfd_create", "eventfd", "fallocate",
    /* 325 */ "timerfd_settime", "timerfd_gettime", "signalfd4", "eventfd2", "epoll_create1",
    /* 330 */ "dup3", "pipe2", "inotify_init1", "preadv", "pwritev",
    /* 335 */ "rt_tgsigqueueinfo", "perf_event_open", "recvmmsg", "fanotify_init", "fanotify_mark",
    /* 340 */ "prlimit64", "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs",
    /* 345 */ "sendmmsg", "setns", "process_vm_readv", "process_vm_writev", "kcmp",
    /* 350 */ "finit_module", "sched_setattr", "sched_getattr", "renameat2", "seccomp",
    /* 355 */ "getrandom", "memfd_create", "bpf", "execveat", "socket",
    /* 360 */ "socketpair", "bind", "connect", "listen", "accept4",
    /* 365 */ "getsockopt", "setsockopt", "getsockname", "getpeername", "sendto",
    /* 370 */ "sendmsg", "recvfrom", "recvmsg", "shutdown", "userfaultfd",
    /* 375 */ "membarrier", "mlock2", "copy_file_range", "preadv2", "pwritev2",
    /* 380 */ "pkey_mprotect", "pkey_alloc", "pkey_free", "statx", "arch_prctl",
    /* 385 */ "io_pgetevents", "rseq", "", "", "",
    /* 390 */ "", "", "", "semget", "semctl",
    /* 395 */ "shmget", "shmctl", "shmat", "shmdt", "msgget",
    /* 400 */ "msgsnd", "msgrcv", "msgctl", "clock_gettime64", "clock_settime64",
    /* 405 */ "clock_adjtime64", "clock_getres_time64", "clock_nanosleep_time64", "timer_gettime64", "timer_settime64",
    /* 410 */ "timerfd_gettime64", "timerfd_settime64", "utimensat_time64", "pselect6_time64", "ppoll_time64",
    /* 415 */ "", "io_pgetevents_time64", "recvmmsg_time64", "mq_timedsend_time64", "mq_timedreceive_time64",
    /* 420 */ "semtimedop_time64", "rt_sigtimedwait_time64", "futex_time64", "sched_rr_get_interval_time64",
};

/// 424 and up, of both.
constexpr std::array<std::string_view, 46> kCommon = {
    /* 424 */ "pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree",
    /* 429 */ "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
    /* 434 */ "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd",
    /* 439 */ "faccessat2", "process_madvise", "epoll_pwait2", "mount_setattr", "quotactl_fd",
    /* 444 */ "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "memfd_secret", "process_mrelease",
    /* 449 */ "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2", "map_shadow_stack",
    /* 454 */ "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount",
    /* 459 */ "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat",
    /* 464 */ "getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
    /* 469 */ "file_setattr",
};
// clang-format on

constexpr std::uint64_t kFirstCommon = 424;

/// ltrace 0.7.3's own names for calls of x86-64.
struct OwnName {
  std::uint64_t number;
  std::string_view name;
};
constexpr std::array<OwnName, 4> kLtraceNames = {{
    {17, "pread"},
    {18, "pwrite"},
    {214, "epoll_ctl"},
    {215, "epoll_wait"},
}};
constexpr std::uint64_t kLtraceEnd = 312; ///< the first number that it has no name for

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& table, std::uint64_t number) {
  return number < table.size() ? table[number] : std::string_view();
}

} // namespace

std::string_view known_syscall(Machine machine, std::uint64_t number) {
  if (machine != Machine::X86_64 && machine != Machine::I386) return {};
  if (number >= kFirstCommon) return at(kCommon, number - kFirstCommon);
  return machine == Machine::I386 ? at(kI386, number) : at(kX86_64, number);
}

std::string syscall_name(Machine machine, std::uint64_t number) {
  const auto known = known_syscall(machine, number);
  return known.empty() ? fmt::format("syscall_{:#x}", number) : std::string(known);
}

std::string ltrace_syscall_name(Machine machine, std::uint64_t number) {
  if (machine == Machine::X86_64) {
    for (const auto& own : kLtraceNames)
      if (own.number == number) return std::string(own.name);
    if (number >= kLtraceEnd) return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  const auto known = known_syscall(machine, number);
  return known.empty() ? fmt::format("{}", static_cast<std::int64_t>(number)) : std::string(known);
}

} // namespace sonictrace
