// under_load STATE KINDS PLUGIN: a service with a thread for each letter of KINDS, that checks all
// it is given, until the test says stop; then it prints what was wrong and ends with status 7.
//   c  calls                         x  exceptions through calls
//   d  dlopen, a call, dlclose       f  forks, calls in the child
//   s  texts, some unreadable        t  threads that end at once
//   v  sums of vectors               a  calls in a handler of SIGALRM, which comes often
//   p  reads from a pipe             e  epoll_wait        w  waits for a futex
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <cerrno>
#include <ctime>

#include "support.h"
#include "traps.h"
#include "under_load.h"

namespace {

load_state* state;
const char* plugin;

void count(long& counter, long more = 1) { __atomic_fetch_add(&counter, more, __ATOMIC_RELAXED); }
long read(const long& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }
void check(bool right) {
  if (!right) count(state->wrong);
}

long thrower(long x) { throw x; }
long same(long x) { return x; }

void call(long i) {
  for (int k = 0; k < 20; ++k) {
    check(tp_one(i + k) == i + k + 1);
    count(state->completed);
  }
  check(tp_call(same, i) == i + 1);
}

void throw_through(long i) {
  try {
    tp_call(thrower, i);
    check(false);
  } catch (long x) { check(x == i); }
}

void load(long) {
  void* handle = dlopen(plugin, RTLD_NOW);
  must(handle != nullptr, "dlopen");
  using Work = long (*)(long);
  check(reinterpret_cast<Work>(dlsym(handle, "trap_plug_work"))(3) == 3);
  check(dlclose(handle) == 0);
}

void fork_one(long i) {
  const pid_t child = fork();
  if (child == 0) {
    long sum = 0;
    for (int k = 0; k < 50; ++k)
      sum += tp_one(k) - k;
    _exit(sum == 50 ? static_cast<int>(i % 100) : 101);
  }
  int status = 0;
  check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == i % 100);
}

void pass_text(long i) {
  const char* const text = i % 3 ? "a text" : reinterpret_cast<const char*>(16 + i % 100);
  check(tp_text(text) == reinterpret_cast<long>(text));
}

void* end_at_once(void* argument) {
  return reinterpret_cast<void*>(tp_one(reinterpret_cast<long>(argument)));
}

void begin_thread(long i) {
  pthread_t thread;
  void* result = nullptr;
  must(pthread_create(&thread, nullptr, end_at_once, reinterpret_cast<void*>(i)) == 0, "thread");
  pthread_join(thread, &result);
  check(reinterpret_cast<long>(result) == i + 1);
}

/// In registers that are 32 bytes wide where there are such, over many instructions; and once more
/// in general ones.
[[gnu::target_clones("avx2", "default")]] void sum_vectors(long i) {
  using Vector [[gnu::vector_size(32)]] = unsigned long;
  const unsigned long first = static_cast<unsigned long>(i) | 1;
  const Vector step = {first, first + 1, first + 2, first + 3};
  Vector sums[6] = {};
  unsigned long last = 0;
  for (long k = 0; k < 2000; ++k) {
    for (Vector& sum : sums)
      sum = (sum << 1 | sum >> 63) + step;
    last = (last << 1 | last >> 63) + first + 3;
  }
  for (const Vector& sum : sums)
    for (int lane = 0; lane < 4; ++lane)
      check(sum[lane] == sums[0][lane] && sum[3] == last);
  check(tp_one(i) == i + 1);
}

/// What a thread waits for, and another one that lets it wait for a moment each time.
struct Waiter {
  int pipe[2];
  int epoll;
  int word;
  long is_over;
};

void* let_go_on(void* argument) {
  auto& waiter = *static_cast<Waiter*>(argument);
  for (unsigned char i = 0; !read(waiter.is_over); ++i) {
    const timespec moment = {0, 300'000};
    check(nanosleep(&moment, nullptr) == 0);
    check(write(waiter.pipe[1], &i, 1) == 1);
    __atomic_fetch_add(&waiter.word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &waiter.word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  return nullptr;
}

void wait_once(Waiter& waiter, char kind, long i) {
  if (kind == 'w') {
    const int seen = __atomic_load_n(&waiter.word, __ATOMIC_SEQ_CST);
    const long waited = syscall(SYS_futex, &waiter.word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    check(waited == 0 || errno == EAGAIN);
  }
  epoll_event event{};
  // The kernel itself ends it for anybody who stops the thread (signal(7)).
  while (kind == 'e' && epoll_wait(waiter.epoll, &event, 1, -1) != 1)
    check(errno == EINTR);
  unsigned char byte = 0;
  check(::read(waiter.pipe[0], &byte, 1) == 1);
  check(byte == (i & 0xff));
  check(tp_one(i) == i + 1);
}

void wait_often(char kind) {
  sigset_t alarm; // which would end what they wait for, by right
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  Waiter waiter{};
  must(pipe(waiter.pipe) == 0, "pipe");
  waiter.epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  must(epoll_ctl(waiter.epoll, EPOLL_CTL_ADD, waiter.pipe[0], &wanted) == 0, "epoll_ctl");
  pthread_t partner;
  must(pthread_create(&partner, nullptr, let_go_on, &waiter) == 0, "thread");
  for (long i = 0; !read(state->stop); ++i) {
    wait_once(waiter, kind, i);
    count(state->rounds);
  }
  count(waiter.is_over);
  pthread_join(partner, nullptr);
}

long alarms;

void see_alarm(int) {
  const int kept = errno;
  const long so_far = read(alarms);
  check(tp_one(so_far) == so_far + 1);
  count(alarms);
  errno = kept;
}

void set_alarms() {
  struct sigaction action {};
  action.sa_handler = see_alarm;
  action.sa_flags = SA_RESTART;
  must(sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  const itimerval often = {{0, 700}, {0, 700}};
  must(setitimer(ITIMER_REAL, &often, nullptr) == 0, "setitimer");
}

void* work(void* argument) {
  const char kind = static_cast<char>(reinterpret_cast<long>(argument));
  if (kind == 'a') set_alarms();
  if (kind == 'p' || kind == 'e' || kind == 'w') {
    wait_often(kind);
    return nullptr;
  }
  void (*const round)(long) = kind == 'c'   ? call
                              : kind == 'a' ? call
                              : kind == 'v' ? sum_vectors
                              : kind == 'x' ? throw_through
                              : kind == 'd' ? load
                              : kind == 'f' ? fork_one
                              : kind == 's' ? pass_text
                                            : begin_thread;
  for (long i = 0; !read(state->stop); ++i) {
    round(i);
    count(state->rounds);
  }
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  must(argc == 4, "usage");
  const int fd = open(argv[1], O_RDWR | O_CLOEXEC);
  must(fd >= 0, argv[1]);
  state = static_cast<load_state*>(
      mmap(nullptr, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  must(state != MAP_FAILED, "mmap");
  count_at(&state->arrived);
  plugin = argv[3];
  const size_t threads = strlen(argv[2]);
  pthread_t ids[64];
  must(threads <= 64, "too many threads");
  for (size_t i = 0; i < threads; ++i)
    must(pthread_create(&ids[i], nullptr, work,
                        reinterpret_cast<void*>(static_cast<long>(argv[2][i]))) == 0,
         "thread");
  count(state->started);
  for (size_t i = 0; i < threads; ++i)
    pthread_join(ids[i], nullptr);
  say("wrong %ld, did something %d", read(state->wrong), read(state->rounds) > 0);
  return read(state->wrong) ? 1 : 7;
}
