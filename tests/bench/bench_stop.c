// bench_stop STOPS: what the kernel alone asks for a stop of a tracee. A child runs into STOPS
// breakpoints; the parent does the least a tracer of breakpoints can do at each: wait, read the
// registers, write them, let it run. Prints nanoseconds a stop by the wall clock.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  const long stops = argc > 1 ? atol(argv[1]) : 0;
  if (stops < 1) {
    fprintf(stderr, "usage: bench_stop STOPS\n");
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    for (long i = 0; i < stops; ++i) __asm__ volatile("int3");
    _exit(0);
  }

  int status;
  if (waitpid(child, &status, WUNTRACED) != child ||
      ptrace(PTRACE_SEIZE, child, NULL, (void*)PTRACE_O_EXITKILL) != 0) {
    perror("bench_stop: ptrace");
    kill(child, SIGKILL);
    return 3;
  }
  kill(child, SIGCONT);
  double started = 0;
  long seen = 0;
  while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    const int signal = WSTOPSIG(status);
    const int is_event = status >> 16 != 0;
    if (signal == SIGTRAP && !is_event) {
      if (seen++ == 0) started = now_ns();
      struct user_regs_struct registers;
      ptrace(PTRACE_GETREGS, child, NULL, &registers);
      ptrace(PTRACE_SETREGS, child, NULL, &registers);
    }
    const int deliver = is_event || signal == SIGTRAP ? 0 : signal;
    ptrace(PTRACE_CONT, child, NULL, (void*)(long)deliver);
  }
  if (seen != stops) {
    fprintf(stderr, "bench_stop: %ld of %ld stops\n", seen, stops);
    return 4;
  }
  printf("%.2f\n", (now_ns() - started) / (double)stops);
  return 0;
}
