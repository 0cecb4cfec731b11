/* Traced calls while SIGTRAP is blocked or ignored: a breakpoint's own SIGTRAP, which the kernel
 * forces through, must leave the mask and the disposition as they were (kernel/signal.c). */
#include <pthread.h>
#include <signal.h>

#include "support.h"
#include "tracee.h"

static volatile sig_atomic_t traps;

static void handler(int signal) {
  (void)signal;
  ++traps;
}

static void check(const char *what, void (*wanted)(int), int is_blocked) {
  struct sigaction action;
  sigset_t mask;
  say("tr_add(%d, 5) = %d", is_blocked, tr_add(is_blocked, 5));
  sigaction(SIGTRAP, NULL, &action);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (action.sa_handler != wanted) say("%s: the disposition was changed", what);
  if (sigismember(&mask, SIGTRAP) != is_blocked) say("%s: the mask was changed", what);
}

static void *in_thread(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  check("thread", handler, 1);
  return unused;
}

int main(void) {
  void (*const ways[])(int) = {SIG_DFL, SIG_IGN, handler};
  const char *const names[] = {"default", "ignored", "handled"};
  for (int round = 0; round < 3; ++round) {
    for (int way = 0; way < 3; ++way) {
      sigset_t trap;
      sigemptyset(&trap);
      sigaddset(&trap, SIGTRAP);
      signal(SIGTRAP, ways[way]);
      check(names[way], ways[way], 0);
      pthread_sigmask(SIG_BLOCK, &trap, NULL);
      check(names[way], ways[way], 1);
      if (ways[way] == handler) {
        raise(SIGTRAP); /* stays pending over traced calls */
        check("pending", handler, 1);
        if (traps != round) say("a blocked SIGTRAP was delivered");
      }
      pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
    }
    if (traps != round + 1) say("%d of %d SIGTRAPs were delivered", traps, round + 1);
  }
  pthread_t thread;
  must(pthread_create(&thread, NULL, in_thread, NULL) == 0, "thread");
  pthread_join(thread, NULL);
  return 0;
}
