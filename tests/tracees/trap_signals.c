/* A flood of signals into calls: trap_signals plain|stack|jump SIGNALS GAP_US.
 * A timer and two threads send them, as fast as the gap between two allows. Each handler makes calls;
 * with `stack` on a stack of its own; with `jump` some leave by siglongjmp, out of whatever they
 * interrupted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "support.h"
#include "traps.h"

static volatile sig_atomic_t done, may_jump;
static volatile long handled, jumps, wrong;
static sigjmp_buf target;
static pthread_t receiver;
static long gap_us;

static void handler(int signal) {
  (void)signal;
  const long mine = ++handled;
  for (long i = 0; i < 3; ++i) wrong += tp_one(mine + i) != mine + i + 1;
  if (may_jump && mine % 7 == 0) {
    ++jumps;
    siglongjmp(target, 1);
  }
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void *sender(void *argument) {
  const int signal = (int)(long)argument;
  while (!done) {
    pthread_kill(receiver, signal);
    for (const double until = now_us() + (double)gap_us; now_us() < until;) sched_yield();
  }
  return NULL;
}

static long same(long x) { return x; }

int main(int argc, char **argv) {
  must(argc == 4, "usage");
  const int use_stack = strcmp(argv[1], "stack") == 0, jump = strcmp(argv[1], "jump") == 0;
  const long wanted = atol(argv[2]);
  gap_us = atol(argv[3]);
  receiver = pthread_self();
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigset_t ours;
  sigemptyset(&ours);
  for (int i = 0; i < 3; ++i) sigaddset(&ours, (int[]){SIGALRM, SIGUSR1, SIGUSR2}[i]);
  action.sa_mask = ours; /* else they nest without end */
  if (use_stack) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    must(sigaltstack(&stack, NULL) == 0, "sigaltstack");
    action.sa_flags |= SA_ONSTACK;
  }
  for (int i = 0; i < 3; ++i)
    must(sigaction((int[]){SIGALRM, SIGUSR1, SIGUSR2}[i], &action, NULL) == 0, "sigaction");
  /* The timer's signal is the whole process's: a sender that could take it before it has blocked it
   * would jump to this thread's stack. */
  must(pthread_sigmask(SIG_BLOCK, &ours, NULL) == 0, "mask");
  pthread_t threads[2];
  must(pthread_create(&threads[0], NULL, sender, (void *)(long)SIGUSR1) == 0, "thread");
  must(pthread_create(&threads[1], NULL, sender, (void *)(long)SIGUSR2) == 0, "thread");
  must(pthread_sigmask(SIG_UNBLOCK, &ours, NULL) == 0, "mask");
  const struct itimerval often = {{0, gap_us}, {0, gap_us}}, never = {{0, 0}, {0, 0}};
  must(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");

  static volatile long rounds;
  sigsetjmp(target, 1);
  may_jump = jump;
  while (handled < wanted) {
    const long round = ++rounds;
    wrong += tp_one(round) != round + 1;
    wrong += tp_call(same, round) != round + 1;
  }
  may_jump = 0;
  setitimer(ITIMER_REAL, &never, NULL);
  done = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  sigprocmask(SIG_BLOCK, &ours, NULL);
  say("handled enough %d, wrong %ld", handled >= wanted, wrong);
  say("slack %ld", jumps); /* a call may be left before it arrives */
  report_calls("");
  return wrong != 0;
}
