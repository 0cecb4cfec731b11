/* System calls of every harmless kind, each made by its instruction, so that the C library adds none. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "support.h"

static long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* What is expected is kept until the end: printing it makes system calls. */
static char expected[1 << 16];
static size_t expected_size;

static void expect(const char *format, ...) {
  va_list args;
  va_start(args, format);
  expected_size += (size_t)vsnprintf(expected + expected_size, sizeof expected - expected_size, format, args);
  va_end(args);
}

static void expect_result(long result, int is_address) {
  if (result < 0 && result > -4096)
    expect(" = -1 %s (%s)\n", strerrorname_np((int)-result), strerror((int)-result));
  else if (is_address) expect(" = %#lx\n", result);
  else expect(" = %ld\n", result);
}

static long last;
#define ARG(a) ((long)(a))
#define MAKE(nr, a, b, c, d, e, f, ...) call6(nr, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f))
/* CALL((number, arguments ...), "name(what is shown)", ...) */
#define CALL(what, ...) (last = MAKE what, expect(__VA_ARGS__), expect_result(last, 0))
#define CALL_FOR_ADDRESS(what, ...) (last = MAKE what, expect(__VA_ARGS__), expect_result(last, 1))
#define NONE 0, 0, 0, 0, 0, 0, 0

static char directory[256], file[300], other[300], buffer[64], zeros[65536];

static void files(void) {
  int pipe_ends[2];
  struct iovec vectors[2] = {{"ab", 2}, {"cde", 3}};
  struct pollfd polled = {0, POLLIN, 0};

  CALL((SYS_mkdir, directory, 0700, NONE), "mkdir(\"%s\", 0700)", directory);
  CALL((SYS_mkdir, directory, 0700, NONE), "mkdir(\"%s\", 0700)", directory);
  CALL((SYS_chdir, directory, NONE), "chdir(\"%s\")", directory);
  CALL((SYS_getcwd, buffer + 63, 1, NONE), "getcwd(%p, 1)", (void *)(buffer + 63));
  CALL((SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640, NONE),
       "openat(AT_FDCWD, \"%s\", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0640)", file);
  const long fd = last;
  CALL((SYS_openat, AT_FDCWD, "/no/such", O_RDONLY | O_DIRECTORY, 0, NONE),
       "openat(AT_FDCWD, \"/no/such\", O_RDONLY|O_DIRECTORY, 00)");
  CALL((SYS_write, fd, "he\0llo\n", 7, NONE), "write(%ld, \"he\\000llo\\n\", 7)", fd);
  CALL((SYS_pwrite64, fd, "J", 1, 1, NONE), "pwrite64(%ld, \"J\", 1, 1)", fd);
  CALL((SYS_writev, fd, vectors, 2, NONE), "writev(%ld, [ { \"ab\", 2 }, { \"cde\", 3 } ], 2)", fd);
  CALL((SYS_lseek, fd, 0, SEEK_SET, NONE), "lseek(%ld, 0, SEEK_SET)", fd);
  CALL((SYS_read, fd, buffer, 64, NONE), "read(%ld, \"hJ\\000llo\\nabcde\", 64)", fd);
  CALL((SYS_read, fd, buffer, 64, NONE), "read(%ld, \"\", 64)", fd);
  CALL((SYS_pread64, fd, buffer, 4, 3, NONE), "pread64(%ld, \"llo\\n\", 4, 3)", fd);
  CALL((SYS_lseek, fd, -1, SEEK_END, NONE), "lseek(%ld, -1, SEEK_END)", fd);
  CALL((SYS_ftruncate, fd, 5, NONE), "ftruncate(%ld, 5)", fd);
  CALL((SYS_fsync, fd, NONE), "fsync(%ld)", fd);
  CALL((SYS_fcntl, fd, F_SETFD, 1, NONE), "fcntl(%ld, F_SETFD, 0x1)", fd);
  CALL((SYS_flock, fd, LOCK_EX | LOCK_NB, NONE), "flock(%ld, LOCK_EX|LOCK_NB)", fd);
  CALL((SYS_fchmod, fd, 0600, NONE), "fchmod(%ld, 0600)", fd);
  CALL((SYS_ioctl, fd, 0x5401, 0, NONE), "ioctl(%ld, TCGETS, 0)", fd);
  CALL((SYS_dup3, fd, 100, O_CLOEXEC, NONE), "dup3(%ld, 100, O_CLOEXEC)", fd);
  CALL((SYS_close, 100, NONE), "close(100)");
  CALL((SYS_close, 100, NONE), "close(100)");
  CALL((SYS_close, fd, NONE), "close(%ld)", fd);
  CALL((SYS_access, file, R_OK | W_OK, NONE), "access(\"%s\", W_OK|R_OK)", file);
  CALL((SYS_access, file, F_OK, NONE), "access(\"%s\", F_OK)", file);
  CALL((SYS_newfstatat, AT_FDCWD, file, zeros, AT_SYMLINK_NOFOLLOW, NONE),
       "newfstatat(AT_FDCWD, \"%s\", %p, AT_SYMLINK_NOFOLLOW)", file, (void *)zeros);
  CALL((SYS_stat, file, zeros, NONE), "stat(\"%s\", %p)", file, (void *)zeros);
  CALL((SYS_symlinkat, "to", AT_FDCWD, other, NONE), "symlinkat(\"to\", AT_FDCWD, \"%s\")", other);
  CALL((SYS_readlink, other, buffer, 64, NONE), "readlink(\"%s\", \"to\", 64)", other);
  CALL((SYS_renameat2, AT_FDCWD, file, AT_FDCWD, other, 1, NONE),
       "renameat2(AT_FDCWD, \"%s\", AT_FDCWD, \"%s\", RENAME_NOREPLACE)", file, other);
  CALL((SYS_unlink, other, NONE), "unlink(\"%s\")", other);
  CALL((SYS_unlinkat, AT_FDCWD, file, 0, NONE), "unlinkat(AT_FDCWD, \"%s\", 0)", file);
  CALL((SYS_rmdir, directory, NONE), "rmdir(\"%s\")", directory);
  CALL((SYS_chdir, "/", NONE), "chdir(\"/\")");
  CALL((SYS_getcwd, buffer, 64, NONE), "getcwd(\"/\", 64)");
  last = call6(SYS_pipe2, ARG(pipe_ends), O_NONBLOCK, 0, 0, 0, 0);
  expect("pipe2([ %d, %d ], O_NONBLOCK)", pipe_ends[0], pipe_ends[1]);
  expect_result(last, 0);
  CALL((SYS_read, pipe_ends[0], buffer, 8, NONE), "read(%d, %p, 8)", pipe_ends[0], (void *)buffer);
  CALL((SYS_write, pipe_ends[1], "x", 1, NONE), "write(%d, \"x\", 1)", pipe_ends[1]);
  polled.fd = pipe_ends[0];
  CALL((SYS_poll, &polled, 1, 0, NONE), "poll([ { %d, POLLIN, POLLIN } ], 1, 0)", pipe_ends[0]);
  CALL((SYS_epoll_create1, O_CLOEXEC, NONE), "epoll_create1(O_CLOEXEC)");
  const long epoll = last;
  struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 7}};
  CALL((SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, pipe_ends[0], &event, NONE),
       "epoll_ctl(%ld, EPOLL_CTL_ADD, %d, { EPOLLIN|EPOLLET, 0x7, 0 })", epoll, pipe_ends[0]);
  CALL((SYS_epoll_wait, epoll, buffer, 4, 0, NONE), "epoll_wait(%ld, [ { EPOLLIN, 0x7, 0 } ], 4, 0)", epoll);
  CALL((SYS_eventfd2, 3, O_CLOEXEC, NONE), "eventfd2(3, EFD_CLOEXEC)");
  CALL((SYS_memfd_create, "m", 1, NONE), "memfd_create(\"m\", MFD_CLOEXEC)");
  CALL((SYS_inotify_init1, O_NONBLOCK, NONE), "inotify_init1(O_NONBLOCK)");
  CALL((SYS_timerfd_create, CLOCK_MONOTONIC, 0, NONE), "timerfd_create(CLOCK_MONOTONIC, 0)");
  CALL((SYS_close_range, 50, 60, 4, NONE), "close_range(50, 60, CLOSE_RANGE_CLOEXEC)");
  last = call6(SYS_umask, 022, 0, 0, 0, 0, 0);
  expect("umask(022) = 0%lo\n", last);
}

static void memory(void) {
  CALL_FOR_ADDRESS((SYS_brk, 0, NONE), "brk(nil)");
  CALL_FOR_ADDRESS((SYS_mmap, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, 0),
                   "mmap(nil, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)");
  const long at = last;
  CALL((SYS_mprotect, at, 4096, PROT_NONE, NONE), "mprotect(%#lx, 4096, PROT_NONE)", at);
  CALL((SYS_madvise, at, 4096, MADV_DONTNEED, NONE), "madvise(%#lx, 4096, MADV_DONTNEED)", at);
  CALL_FOR_ADDRESS((SYS_mremap, at, 8192, 4096, 0, 0, NONE), "mremap(%#lx, 8192, 4096, 0, nil)", at);
  CALL((SYS_munmap, at, 4096, NONE), "munmap(%#lx, 4096)", at);
  CALL_FOR_ADDRESS((SYS_mmap, 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, 0),
                   "mmap(nil, 0, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)");
  CALL((SYS_membarrier, 0, 0, 0, NONE), "membarrier(MEMBARRIER_CMD_QUERY, 0, 0)");
}

static void processes(void) {
  struct timespec moment = {0, 1000};
  struct rlimit limit = {7, RLIM_INFINITY};
  int word = 5;
  unsigned long set = 1ul << (SIGUSR1 - 1) | 1ul << (SIGINT - 1), old = 0;

  CALL((SYS_getpid, NONE), "getpid()");
  const long pid = last;
  CALL((SYS_getppid, NONE), "getppid()");
  CALL((SYS_gettid, NONE), "gettid()");
  CALL((SYS_getuid, NONE), "getuid()");
  CALL((SYS_getpgid, 0, NONE), "getpgid(0)");
  CALL((SYS_getsid, 0, NONE), "getsid(0)");
  CALL((SYS_kill, pid, 0, NONE), "kill(%ld, SIG_0)", pid);
  CALL((SYS_kill, pid, 99, NONE), "kill(%ld, 99)", pid);
  CALL((SYS_tgkill, pid, pid, 0, NONE), "tgkill(%ld, %ld, SIG_0)", pid, pid);
  CALL((SYS_sched_yield, NONE), "sched_yield()");
  CALL((SYS_nanosleep, &moment, 0, NONE), "nanosleep({ 0, 1000 }, nil)");
  CALL((SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, 0, NONE),
       "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, { 0, 1000 }, nil)");
  last = call6(SYS_clock_getres, CLOCK_MONOTONIC, ARG(&moment), 0, 0, 0, 0);
  expect("clock_getres(CLOCK_MONOTONIC, { %ld, %ld })", moment.tv_sec, moment.tv_nsec);
  expect_result(last, 0);
  CALL((SYS_setrlimit, RLIMIT_CORE, &limit, NONE), "setrlimit(RLIMIT_CORE, { 7, RLIM_INFINITY })");
  CALL((SYS_prlimit64, 0, RLIMIT_CORE, 0, &limit, NONE),
       "prlimit64(0, RLIMIT_CORE, nil, { %lu, RLIM_INFINITY })", limit.rlim_cur);
  CALL((SYS_getpriority, PRIO_PROCESS, 0, NONE), "getpriority(PRIO_PROCESS, 0)");
  CALL((SYS_prctl, PR_SET_NAME, "syscalls", 0, 0, 0, NONE), "prctl(PR_SET_NAME, %#lx)", ARG("syscalls"));
  CALL((SYS_futex, &word, FUTEX_WAIT_PRIVATE, 4, 0, 0, 0, 0), "futex(%p, FUTEX_WAIT_PRIVATE, 4, nil, nil, 0)", (void *)&word);
  CALL((SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0, 0), "futex(%p, FUTEX_WAKE, 1, nil, nil, 0)", (void *)&word);
  CALL((SYS_rt_sigprocmask, SIG_BLOCK, &set, &old, 8, NONE), "rt_sigprocmask(SIG_BLOCK, SIGINT|SIGUSR1, EMPTY, 8)");
  CALL((SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, 8, NONE), "rt_sigprocmask(SIG_SETMASK, EMPTY, nil, 8)");
  CALL((SYS_wait4, -1, 0, WNOHANG | WUNTRACED, 0, NONE), "wait4(-1, nil, WNOHANG|WUNTRACED, nil)");
  CALL((SYS_execve, "/no/such", 0, 0, NONE), "execve(\"/no/such\", nil, nil)");
  CALL((SYS_getrandom, buffer, 0, 1, NONE), "getrandom(\"\", 0, GRND_NONBLOCK)");
}

static void sockets(void) {
  int ends[2];
  last = call6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ARG(ends), 0, 0);
  expect("socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP, [ %d, %d ])", ends[0], ends[1]);
  expect_result(last, 0);
  CALL((SYS_sendto, ends[0], "hey", 3, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0, 0),
       "sendto(%d, \"hey\", 3, MSG_DONTWAIT|MSG_NOSIGNAL, nil, 0)", ends[0]);
  CALL((SYS_recvfrom, ends[1], buffer, 64, 0, 0, 0, 0), "recvfrom(%d, \"hey\", 64, 0, nil, nil)", ends[1]);
  CALL((SYS_shutdown, ends[0], SHUT_WR, NONE), "shutdown(%d, SHUT_WR)", ends[0]);
  CALL((SYS_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0, NONE), "socket(AF_INET, SOCK_DGRAM|SOCK_NONBLOCK, IPPROTO_IP)");
  const long fd = last;
  int one = 1;
  CALL((SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &one, 4, NONE),
       "setsockopt(%ld, SOL_SOCKET, SO_REUSEADDR, \"\\001\\000\\000\\000\", 4)", fd);
  CALL((SYS_listen, fd, 5, NONE), "listen(%ld, 5)", fd);
}

/* Younger than many a system's headers, and numbers of no call at all. */
static void young_ones(void) {
  CALL((511, 1, 2, 3, 4, NONE), "syscall_0x1ff(1, 2, 3, 4)");
  CALL((400, 0, 0, 0, 0, NONE), "syscall_0x190(0, 0, 0, 0)");
  CALL((468, AT_FDCWD, 0, 0, 0, 0, NONE), "file_getattr(AT_FDCWD, nil, nil, 0, 0)");
  CALL((462, 0, 0, 0, NONE), "mseal(nil, 0, 0)");
}

/* The 64-bit program makes a call of i386. */
static long call_i386(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(0) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

static void old_calls(void) {
  static char low_text[] = "low";
  char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  strcpy(low, low_text);
  const int ends_at = open("/dev/null", O_WRONLY);
  call6(SYS_getpgid, 0, 0, 0, 0, 0, 0); /* the calls that are expected begin behind this one */
  long result = call_i386(20, 0, 0, 0);
  expect("getpid()");
  expect_result(result, 0);
  result = call_i386(4, ends_at, (long)low, 3);
  expect("write(%d, \"low\", 3)", ends_at);
  expect_result(result, 0);
  result = call_i386(6, 77, 0, 0);
  expect("close(77)");
  expect_result((int)result, 0);
  result = call_i386(222, 1, 2, 3);
  expect("syscall_0xde(1, 2, 3, 0)");
  expect_result((int)result, 0);
}

static void on_signal(int signal) { (void)signal; }

static void set_handler(int signal, int flags) {
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  sigaction(signal, &action, NULL);
}

static void alarm_in(long us) {
  const struct itimerval timer = {{0, 0}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* A pause and a read end with EINTR; a wait for a child begins anew; a sleep goes on. */
static void interrupted(void) {
  int ends[2];
  char byte;
  must(pipe(ends) == 0, "pipe");
  set_handler(SIGALRM, 0);
  alarm_in(20000);
  say("pause %ld", call6(SYS_pause, 0, 0, 0, 0, 0, 0));
  alarm_in(20000);
  say("read %ld", call6(SYS_read, ends[0], (long)&byte, 1, 0, 0, 0));
  set_handler(SIGALRM, SA_RESTART);
  const pid_t child = fork();
  if (child == 0) {
    const struct timespec moment = {0, 150000000};
    call6(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
    (void)!write(ends[1], "x", 1);
    _exit(0);
  }
  alarm_in(20000);
  say("read %ld", call6(SYS_read, ends[0], (long)&byte, 1, 0, 0, 0));
  say("wait %d", call6(SYS_wait4, child, 0, 0, 0, 0, 0) == child);
}

/* A child's end, which is ignored by default, comes in the middle of calls that every signal
 * ends: untraced they do not notice it. */
static void ignored(void) {
  const int epoll = epoll_create1(0);
  struct epoll_event event;
  if (fork() == 0) {
    const struct timespec moment = {0, 50000000};
    nanosleep(&moment, NULL);
    _exit(0);
  }
  say("epoll_wait %ld", call6(SYS_epoll_wait, epoll, (long)&event, 1, 300, 0, 0));
}

static void handle_trap(int signal) { (void)signal; }

/* getpgid fails with errno 77, getsid traps. */
static void filtered(void) {
  set_handler(SIGSYS, 0);
  signal(SIGSYS, handle_trap);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "PR_SET_SECCOMP");
  call6(SYS_getpgid, 0, 0, 0, 0, 0, 0);
  call6(SYS_getsid, 0, 0, 0, 0, 0, 0);
  call6(SYS_getppid, 0, 0, 0, 0, 0, 0);
  say("now");
  call6(SYS_getpgrp, 0, 0, 0, 0, 0, 0);
  say("never");
}

static void *many_times(void *count) {
  for (long i = 0; i < (long)count; ++i)
    call6(SYS_getppid, 0, 0, 0, 0, 0, 0);
  return NULL;
}

/* Two threads, a fork, a vfork, an exec. */
static void family(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, many_times, (void *)50);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  const pid_t forked = fork();
  if (forked == 0) {
    many_times((void *)7);
    _exit(0);
  }
  waitpid(forked, NULL, 0);
  const pid_t vforked = vfork();
  if (vforked == 0) {
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  waitpid(vforked, NULL, 0);
}

/* Stands in a read until a line comes, in a second thread as well. */
static void *read_a_line(void *descriptor) {
  char byte = 0;
  while (call6(SYS_read, (long)descriptor, (long)&byte, 1, 0, 0, 0) == 1 && byte != '\n')
    ;
  return NULL;
}

static void reading(void) {
  int ends[2];
  pthread_t thread;
  must(pipe(ends) == 0, "pipe");
  pthread_create(&thread, NULL, read_a_line, (void *)(long)ends[0]);
  say("ready");
  read_a_line((void *)0);
  (void)!write(ends[1], "\n", 1);
  pthread_join(thread, NULL);
  many_times((void *)3);
  say("done");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    snprintf(directory, sizeof directory, "%s", argv[2]);
    snprintf(file, sizeof file, "%s/file", argv[2]);
    snprintf(other, sizeof other, "%s/other", argv[2]);
  }
  if (strcmp(what, "all") == 0) {
    call6(SYS_getpgid, 0, 0, 0, 0, 0, 0); /* the calls that are expected begin behind this one */
    files(), memory(), processes(), sockets();
  } else if (strcmp(what, "young") == 0) {
    call6(SYS_getpgid, 0, 0, 0, 0, 0, 0);
    young_ones();
  } else if (strcmp(what, "i386") == 0) {
    old_calls();
  } else if (strcmp(what, "interrupted") == 0) {
    interrupted();
  } else if (strcmp(what, "ignored") == 0) {
    ignored();
  } else if (strcmp(what, "filtered") == 0) {
    filtered();
  } else if (strcmp(what, "family") == 0) {
    family();
  } else if (strcmp(what, "reading") == 0) {
    reading();
  } else if (strcmp(what, "many") == 0) {
    many_times((void *)atol(argv[2]));
  }
  if (expected_size > 0) {
    call6(SYS_getpgid, 0, 0, 0, 0, 0, 0); /* and they end before this one */
    fwrite(expected, 1, expected_size, stdout);
  }
  return 0;
}
