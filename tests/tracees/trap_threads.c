/* trap_threads at-once THREADS CALLS: all are alive together before any of them calls.
 * trap_threads short THREADS CALLS: one ends while the next begin, so that their memory, and what is
 * at %fs:0, is used again and again. */
#include <pthread.h>

#include "support.h"
#include "traps.h"

static pthread_barrier_t all_are_there;
static long calls;
static int at_once;

static long same(long x) { return x; }

static void *work(void *argument) {
  if (at_once) pthread_barrier_wait(&all_are_there);
  long x = (long)argument;
  for (long i = 0; i < calls; ++i) x = tp_one(x);
  x = tp_call(same, x) - 1;
  if (at_once) pthread_barrier_wait(&all_are_there);
  return (void *)(x - (long)argument);
}

int main(int argc, char **argv) {
  must(argc == 4, "usage");
  at_once = strcmp(argv[1], "at-once") == 0;
  const int threads = atoi(argv[2]);
  calls = atol(argv[3]);
  pthread_t *const ids = calloc((size_t)threads, sizeof *ids);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  long sum = 0;
  void *result;
  if (at_once) {
    pthread_barrier_init(&all_are_there, NULL, (unsigned)threads);
    for (long i = 0; i < threads; ++i)
      must(pthread_create(&ids[i], &small, work, (void *)i) == 0, "thread");
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], &result), sum += (long)result;
  } else {
    enum { kBeside = 4 };
    for (long i = 0; i < threads; ++i) {
      if (i >= kBeside) pthread_join(ids[i - kBeside], &result), sum += (long)result;
      must(pthread_create(&ids[i], &small, work, (void *)i) == 0, "thread");
    }
    for (int i = threads > kBeside ? threads - kBeside : 0; i < threads; ++i)
      pthread_join(ids[i], &result), sum += (long)result;
  }
  say("sum %ld", sum);
  report_calls("");
  return 0;
}
