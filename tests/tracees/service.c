/* A busy service: threads that call, and check what comes back, until a line arrives on stdin.
 * Answers each line "ping" with the number of calls so far. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"
#include "tracee.h"

static atomic_int stop;
static atomic_long calls, wrong;

static int plus_one(int x) { return tr_add(x, 1); }

static void *work(void *arg) {
  const int id = (int)(long)arg;
  for (int i = 0; !stop; i = (i + 1) % 1000) {
    wrong += tr_add(i, id) != i + id;
    wrong += tr_callback(i, plus_one) != i + 1;
    wrong += tr_tail(i, 3) != i + 3;
    ++calls;
  }
  return NULL;
}

int main(int argc, char **argv) {
  const int threads = number(argc, argv, 1, 8);
  pthread_t ids[64];
  for (long i = 0; i < threads; ++i) must(pthread_create(&ids[i], NULL, work, (void *)i) == 0, "thread");
  say("ready");
  char line[64];
  while (fgets(line, sizeof line, stdin) && strncmp(line, "ping", 4) == 0) {
    const long before = calls;
    while (calls == before) sched_yield();
    say("alive");
  }
  stop = 1;
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  say("wrong %ld", (long)wrong);
  return wrong != 0;
}
