/* A handler on its own stack makes traced calls while traced calls are open below it. */
#include <signal.h>

#include "support.h"
#include "tracee.h"

static char lines[4096][48];
static int used;

static void handler(int signal) {
  (void)signal;
  const int line = used++;
  const int twice = tr_tail(used, 1);
  snprintf(lines[line], sizeof lines[0], "tr_tail(%d, 1) = %d", line + 1, twice);
  snprintf(lines[used++], sizeof lines[0], "tr_add(%d, 1) = %d", line + 1, twice);
}

static int raise_one(int x) {
  raise(SIGUSR1);
  return x;
}

int main(void) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  must(sigaltstack(&stack, NULL) == 0, "sigaltstack");
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
  for (int i = 0; i < 200; ++i) {
    const int line = used++;
    const int result = tr_callback(i, raise_one);
    snprintf(lines[line], sizeof lines[0], "tr_callback(%d) = %d", i, result);
  }
  for (int i = 0; i < used; ++i) say("%s", lines[i]);
  return 0;
}
