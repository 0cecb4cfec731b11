/* Threads that come and go. */
#include <pthread.h>

#include "support.h"
#include "tracee.h"

static void *work(void *arg) {
  const int id = (int)(long)arg;
  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += tr_add(id, i);
  return (void *)sum;
}

int main(int argc, char **argv) {
  const int batches = number(argc, argv, 1, 20), size = 10;
  long total = 0;
  for (int batch = 0; batch < batches; ++batch) {
    pthread_t ids[10];
    for (long i = 0; i < size; ++i)
      must(pthread_create(&ids[i], NULL, work, (void *)(batch * 10 + i)) == 0, "thread");
    for (int i = 0; i < size; ++i) {
      void *sum;
      pthread_join(ids[i], &sum);
      total += (long)sum;
    }
  }
  say("sum %ld", total);
  return 0;
}
