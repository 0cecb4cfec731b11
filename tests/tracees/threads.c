/* Threads that call at the same time; the sums tell when a call went wrong. */
#include <pthread.h>

#include "support.h"
#include "tracee.h"

static int calls;

static void *work(void *arg) {
  const long id = (long)arg;
  long sum = 0;
  for (int i = 0; i < calls; ++i) sum += tr_add(i % 1000, (int)id);
  return (void *)sum;
}

int main(int argc, char **argv) {
  const int threads = number(argc, argv, 1, 4);
  calls = number(argc, argv, 2, 20000);
  pthread_t ids[64];
  long total = 0, expected = 0;
  for (long i = 0; i < threads; ++i) must(pthread_create(&ids[i], NULL, work, (void *)i) == 0, "thread");
  for (long i = 0; i < threads; ++i) {
    void *sum;
    pthread_join(ids[i], &sum);
    total += (long)sum;
    for (int k = 0; k < calls; ++k) expected += k % 1000 + i;
  }
  say("sum %ld", total);
  return total == expected ? 0 : 1;
}
