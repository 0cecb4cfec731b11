/* Stops itself and says when it goes on. */
#include <signal.h>

#include "support.h"
#include "tracee.h"

int main(void) {
  tr_add(1, 2);
  say("stopping");
  raise(SIGSTOP);
  tr_add(3, 4);
  say("going on");
  return 0;
}
