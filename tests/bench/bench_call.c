// bench_call CALLS THREADS: calls a library's function CALLS times, spread over THREADS threads, and
// prints the nanoseconds a call took by the wall clock (the time of all, divided by CALLS). Starting
// the program and its threads is not in it. Fails when a result is wrong: a tracer must not change any.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int bench_empty(int value);

static pthread_barrier_t start_line;

struct work {
  pthread_t thread;
  long calls;
  int result;
};

static void* call_many(void* argument) {
  struct work* work = argument;
  pthread_barrier_wait(&start_line);
  int value = 0;
  for (long i = 0; i < work->calls; ++i) value = bench_empty(value);
  work->result = value;
  return NULL;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 0;
  const long threads = argc > 2 ? atol(argv[2]) : 1;
  if (calls < threads || threads < 1 || threads > 64) {
    fprintf(stderr, "usage: bench_call CALLS THREADS\n");
    return 2;
  }

  struct work work[64] = {0};
  pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; ++i) {
    work[i].calls = calls / threads;
    if (pthread_create(&work[i].thread, NULL, call_many, &work[i]) != 0) return 3;
  }
  pthread_barrier_wait(&start_line);
  const double started = now_ns();
  for (long i = 0; i < threads; ++i) pthread_join(work[i].thread, NULL);
  const double took = now_ns() - started;

  for (long i = 0; i < threads; ++i) {
    if (work[i].result != (int)work[i].calls) {
      fprintf(stderr, "thread %ld: %d of %ld calls\n", i, work[i].result, work[i].calls);
      return 4;
    }
  }
  printf("%.2f\n", took / (double)(calls / threads * threads));
  return 0;
}
