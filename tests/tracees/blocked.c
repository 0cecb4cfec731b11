/* Threads in system calls that the kernel does not restart after a stop (signal(7)) and some that
 * it does. Says "ready" when all are in them, waits for a line, lets them go, and says how each
 * ended. A tracer that comes and goes in between must not show. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "support.h"
#include "tracee.h"

static int release_pipe[2]; /* its read end becomes ready at the end */
static volatile int released;
static int futex_word;
static int semaphores;
static int messages;
static int pair[2];
static aio_context_t aio;
static const struct timespec long_time = {100, 0};

static long by_epoll_wait(void) {
  struct epoll_event event = {.events = EPOLLIN};
  const int fd = epoll_create1(0);
  epoll_ctl(fd, EPOLL_CTL_ADD, release_pipe[0], &event);
  return epoll_wait(fd, &event, 1, 100000);
}
static long by_poll(void) {
  struct pollfd fd = {release_pipe[0], POLLIN, 0};
  return poll(&fd, 1, 100000);
}
static long by_ppoll(void) {
  struct pollfd fd = {release_pipe[0], POLLIN, 0};
  return ppoll(&fd, 1, &long_time, NULL);
}
static long by_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(release_pipe[0], &set);
  struct timeval time = {100, 0};
  return select(release_pipe[0] + 1, &set, NULL, NULL, &time);
}
static long by_sigtimedwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return sigtimedwait(&set, NULL, &long_time) == SIGUSR1 ? 1 : -1;
}
static long by_semtimedop(void) {
  struct sembuf take = {0, -1, 0};
  return semtimedop(semaphores, &take, 1, &long_time) == 0 ? 1 : -1;
}
static long by_msgrcv(void) {
  struct {
    long type;
    char text[8];
  } message;
  return msgrcv(messages, &message, sizeof message.text, 0, 0);
}
static long by_recv_with_timeout(void) {
  char byte;
  return recv(pair[0], &byte, 1, 0);
}
static long by_io_getevents(void) {
  struct io_event event;
  return syscall(SYS_io_getevents, aio, 1L, 1L, &event, &long_time);
}
static long by_nanosleep(void) {
  /* Nobody wakes it: it is given time to sleep through several attaches. */
  const struct timespec time = {2, 0};
  return nanosleep(&time, NULL) == 0 ? 1 : -1;
}
static long by_read(void) {
  char byte;
  return read(release_pipe[0], &byte, 1);
}
static long by_futex(void) {
  const long woken = syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &long_time, NULL, 0);
  return woken == 0 ? 1 : -1;
}
static long by_epoll_pwait(void) {
  struct epoll_event event = {.events = EPOLLIN};
  const int fd = epoll_create1(0);
  epoll_ctl(fd, EPOLL_CTL_ADD, release_pipe[0], &event);
  return epoll_pwait(fd, &event, 1, 100000, NULL);
}

static void interrupt(int signal) { (void)signal; }
static long by_pause(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  return pause() == -1 && errno == EINTR && released ? 1 : -1;
}

static const struct way {
  const char *name;
  long (*block)(void);
  long system_call; /* the C library's choice */
} ways[] = {{"epoll_wait", by_epoll_wait, SYS_epoll_wait},
            {"poll", by_poll, SYS_poll},
            {"ppoll", by_ppoll, SYS_ppoll},
            {"select", by_select, SYS_pselect6},
            {"sigtimedwait", by_sigtimedwait, SYS_rt_sigtimedwait},
            {"semtimedop", by_semtimedop, SYS_semtimedop},
            {"msgrcv", by_msgrcv, SYS_msgrcv},
            {"recv with a time-out", by_recv_with_timeout, SYS_recvfrom},
            {"io_getevents", by_io_getevents, SYS_io_getevents},
            {"nanosleep", by_nanosleep, SYS_clock_nanosleep},
            {"read", by_read, SYS_read},
            {"futex", by_futex, SYS_futex},
            {"epoll_pwait", by_epoll_pwait, SYS_epoll_pwait},
            {"pause", by_pause, SYS_pause}};
enum { kFutex = 11, kPause = 13 };
enum { kWays = sizeof ways / sizeof ways[0] };

static atomic_int tids[kWays];
static pthread_t threads[kWays];
static char results[kWays][64];

static void *block(void *arg) {
  const long i = (long)arg;
  tids[i] = (int)syscall(SYS_gettid);
  errno = 0;
  const long result = ways[i].block();
  snprintf(results[i], sizeof results[i], "%s %s", ways[i].name,
           result > 0 ? "ok" : strerrorname_np(errno) ? strerrorname_np(errno) : "?");
  return NULL;
}

/* True when the thread is in the system call that it is meant to block in (proc(5)). */
static int is_blocked(int i) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tids[i]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  return n > 0 && text[0] >= '0' && text[0] <= '9' && atol(text) == ways[i].system_call;
}

int main(void) {
  must(pipe(release_pipe) == 0, "pipe");
  must((semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0, "semget");
  must((messages = msgget(IPC_PRIVATE, 0600)) >= 0, "msgget");
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  const struct timeval receive_time = {100, 0};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &receive_time, sizeof receive_time);
  must(syscall(SYS_io_setup, 8, &aio) == 0, "io_setup");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  const struct sigaction action = {.sa_handler = interrupt};
  sigaction(SIGUSR2, &action, NULL);

  for (long i = 0; i < kWays; ++i)
    must(pthread_create(&threads[i], NULL, block, (void *)i) == 0, "thread");
  for (int i = 0; i < kWays; ++i)
    while (tids[i] == 0 || !is_blocked(i)) sched_yield();
  say("ready");
  char line[16];
  must(read(0, line, sizeof line) > 0, "stdin");

  /* io_getevents waits for a read of its own, made now. */
  int own[2];
  must(pipe(own) == 0 && write(own[1], "x", 1) == 1, "pipe");
  struct iocb control = {.aio_fildes = (unsigned)own[0], .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN};
  struct iocb *list[] = {&control};
  must(syscall(SYS_io_submit, aio, 1L, list) == 1, "io_submit");
  struct sembuf give = {0, 1, 0};
  semop(semaphores, &give, 1);
  struct {
    long type;
    char text[8];
  } message = {1, "hello"};
  msgsnd(messages, &message, sizeof message.text, 0);
  must(write(pair[1], "x", 1) == 1, "write");
  kill(getpid(), SIGUSR1);
  futex_word = 1;
  while (syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0 && is_blocked(kFutex))
    sched_yield();
  released = 1;
  pthread_kill(threads[kPause], SIGUSR2);
  must(write(release_pipe[1], "xxxxxxxx", 8) == 8, "write");
  for (int i = 0; i < kWays; ++i) {
    pthread_join(threads[i], NULL);
    say("%s", results[i]);
  }
  semctl(semaphores, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, NULL);
  return 0;
}
