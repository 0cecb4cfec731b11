/* Makes N system calls that do next to nothing, and prints the nanoseconds that each took. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 200000;
  const double begin = now_ns();
  for (long i = 0; i < calls; ++i)
    syscall(SYS_getppid);
  printf("%.1f\n", (now_ns() - begin) / (double)calls);
  return 0;
}
