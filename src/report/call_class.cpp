#include "sonictrace/report/call_class.hpp"

#include <algorithm>
#include <array>

namespace sonictrace::report {
namespace {

// Sorted, for binary_search.
constexpr std::array<std::string_view, 50> kWait = {"accept",
                                                    "accept4",
                                                    "clock_nanosleep",
                                                    "cnd_timedwait",
                                                    "cnd_wait",
                                                    "epoll_pwait",
                                                    "epoll_pwait2",
                                                    "epoll_wait",
                                                    "futex",
                                                    "mq_timedreceive",
                                                    "mtx_lock",
                                                    "mtx_timedlock",
                                                    "nanosleep",
                                                    "pause",
                                                    "poll",
                                                    "ppoll",
                                                    "pselect",
                                                    "pselect6",
                                                    "pthread_barrier_wait",
                                                    "pthread_cond_clockwait",
                                                    "pthread_cond_timedwait",
                                                    "pthread_cond_wait",
                                                    "pthread_join",
                                                    "pthread_mutex_lock",
                                                    "pthread_mutex_timedlock",
                                                    "pthread_rwlock_rdlock",
                                                    "pthread_rwlock_wrlock",
                                                    "pthread_timedjoin_np",
                                                    "rt_sigsuspend",
                                                    "rt_sigtimedwait",
                                                    "sched_yield",
                                                    "select",
                                                    "sem_clockwait",
                                                    "sem_timedwait",
                                                    "sem_wait",
                                                    "semop",
                                                    "semtimedop",
                                                    "sigsuspend",
                                                    "sigtimedwait",
                                                    "sigwait",
                                                    "sigwaitinfo",
                                                    "sleep",
                                                    "thrd_join",
                                                    "thrd_sleep",
                                                    "usleep",
                                                    "wait",
                                                    "wait3",
                                                    "wait4",
                                                    "waitid",
                                                    "waitpid"};
constexpr std::array<std::string_view, 82> kIo = {
    "access",         "close",      "close_range", "connect",      "copy_file_range",
    "creat",          "dup",        "dup2",        "dup3",         "faccessat",
    "fclose",         "fdatasync",  "fflush",      "fgetc",        "fgets",
    "fopen",          "fopen64",    "fprintf",     "fputc",        "fputs",
    "fread",          "fseek",      "fseeko",      "fstat",        "fstat64",
    "fsync",          "ftell",      "ftruncate",   "fwrite",       "getc",
    "getdents",       "getdents64", "getline",     "io_getevents", "io_submit",
    "io_uring_enter", "ioctl",      "lseek",       "lseek64",      "lstat",
    "lstat64",        "mkdir",      "newfstatat",  "open",         "open64",
    "openat",         "openat64",   "opendir",     "pipe",         "pipe2",
    "pread",          "pread64",    "preadv",      "printf",       "putc",
    "putchar",        "puts",       "pwrite",      "pwrite64",     "pwritev",
    "read",           "readahead",  "readdir",     "readlink",     "readlinkat",
    "readv",          "recv",       "recvfrom",    "recvmsg",      "rename",
    "send",           "sendfile",   "sendmsg",     "sendto",       "socket",
    "splice",         "stat",       "stat64",      "statx",        "unlink",
    "write",          "writev"};
constexpr std::array<std::string_view, 27> kMem = {"aligned_alloc",
                                                   "brk",
                                                   "calloc",
                                                   "cfree",
                                                   "free",
                                                   "madvise",
                                                   "malloc",
                                                   "malloc_trim",
                                                   "malloc_usable_size",
                                                   "memalign",
                                                   "mlock",
                                                   "mlock2",
                                                   "mmap",
                                                   "mmap64",
                                                   "mprotect",
                                                   "mremap",
                                                   "munlock",
                                                   "munmap",
                                                   "operator delete",
                                                   "operator delete[]",
                                                   "operator new",
                                                   "operator new[]",
                                                   "posix_memalign",
                                                   "pvalloc",
                                                   "realloc",
                                                   "sbrk",
                                                   "valloc"};

template <std::size_t N>
bool has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

/// Without the parameters of a full form, and without the prefixes of glibc's inner names.
std::string_view plain_name(std::string_view name) {
  name = name.substr(0, name.find('('));
  while (name.starts_with('_'))
    name.remove_prefix(1);
  for (const std::string_view prefix : {"libc_", "GI_"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

} // namespace

CallClass class_of(const log::Function& function) {
  const auto name = plain_name(function.name);
  if (has(kWait, name)) return CallClass::Wait;
  if (has(kIo, name)) return CallClass::Io;
  if (has(kMem, name)) return CallClass::Mem;
  return CallClass::Cpu;
}

std::string_view to_string(CallClass one) {
  switch (one) {
    case CallClass::Cpu: return "cpu";
    case CallClass::Wait: return "wait";
    case CallClass::Io: return "io";
    case CallClass::Mem: return "mem";
  }
  return "?";
}

std::optional<CallClass> parse_call_class(std::string_view text) {
  for (const auto one : {CallClass::Cpu, CallClass::Wait, CallClass::Io, CallClass::Mem})
    if (to_string(one) == text) return one;
  return std::nullopt;
}

} // namespace sonictrace::report
