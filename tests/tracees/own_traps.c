/* The program's own int3 and SIGTRAP, with a handler that makes traced calls. */
#include <signal.h>

#include "support.h"
#include "tracee.h"

static volatile sig_atomic_t by_kernel, by_user;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  if (info->si_code > 0) ++by_kernel;
  else ++by_user;
  tr_nothing();
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  must(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction");
  for (int i = 0; i < 50; ++i) {
    __asm__ volatile("int3");
    say("tr_nothing() = 0");
    raise(SIGTRAP);
    say("tr_nothing() = 0");
    kill(getpid(), SIGTRAP);
    say("tr_nothing() = 0");
    __asm__ volatile(".byte 0xcd, 3"); /* int $3, the long form */
    say("tr_nothing() = 0");
    say("tr_add(%d, 1) = %d", i, tr_add(i, 1));
  }
  say("traps %d, sent %d", by_kernel, by_user);
  return 0;
}
