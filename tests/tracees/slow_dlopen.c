// slow_dlopen LIBRARY: stops its parent, a tracer, and loads the library meanwhile; a child lets the
// tracer go on 300 ms later. Prints the milliseconds that dlopen took.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const pid_t tracer = getppid();
  int ready[2], runs[2];
  char byte = 0;
  if (pipe(ready) != 0 || pipe(runs) != 0) return 3;
  if (fork() == 0) {
    const struct timespec pause = {0, 300 * 1000 * 1000};
    // The tracer has let it go: one that is stopped could not.
    if (write(runs[1], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1) nanosleep(&pause, NULL);
    kill(tracer, SIGCONT);
    _exit(0);
  }
  if (read(runs[0], &byte, 1) != 1) return 5;
  kill(tracer, SIGSTOP);
  if (write(ready[1], &byte, 1) != 1) return 4;
  const double begin = now_ms();
  void* library = dlopen(argv[1], RTLD_NOW);
  printf("%.0f\n", now_ms() - begin);
  return library == NULL;
}
