/* Takes the time stamp counter from its threads (prctl(2), PR_SET_TSC), so that rdtsc faults, and
 * goes on making calls: trap_clock HOW CALLS.
 * call: by prctl(3), in the middle; instruction: the same by a system call of its own;
 * first: before it makes a call, and waits for a line on stdin then. */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.h"
#include "traps.h"

static long calls;

static long same(long x) { return x; }

static void *work(void *argument) {
  long x = (long)argument;
  for (long i = 0; i < calls; ++i) {
    x = tp_one(x);
    if (i % 16 == 0) x = tp_call(same, x) - 1;
    if (i % 16 == 1) tp_text("a text that is read");
  }
  return (void *)x;
}

static void take_clock_by_instruction(void) {
  long result = SYS_prctl;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"((long)PR_SET_TSC), "S"((long)PR_TSC_SIGSEGV), "d"(0L)
                   : "rcx", "r11", "memory");
  must(result == 0, "PR_SET_TSC");
}

int main(int argc, char **argv) {
  must(argc == 3, "usage");
  calls = atol(argv[2]);
  if (strcmp(argv[1], "first") == 0) {
    take_clock_by_instruction();
    say("ready");
    must(getchar() == '\n', "a line");
  }
  long sum = (long)work((void *)1L);
  if (strcmp(argv[1], "call") == 0) must(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0, "PR_SET_TSC");
  if (strcmp(argv[1], "instruction") == 0) take_clock_by_instruction();
  sum += (long)work((void *)2L);
  pthread_t thread;
  must(pthread_create(&thread, NULL, work, (void *)3L) == 0, "thread");
  void *result;
  pthread_join(thread, &result);
  say("sum %ld", sum + (long)result);
  report_calls("");
  return 5;
}
