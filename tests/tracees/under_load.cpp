// under_load STATE KINDS PLUGIN: a service with a thread for each letter of KINDS, that checks all
// it is given, until the test says stop; then it prints what was wrong and ends with status 7.
//   c  calls                         x  exceptions through calls
//   d  dlopen, a call, dlclose       f  forks, calls in the child
//   s  texts, some unreadable        t  threads that end at once
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

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

void* work(void* argument) {
  const char kind = static_cast<char>(reinterpret_cast<long>(argument));
  void (*const round)(long) = kind == 'c'   ? call
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
