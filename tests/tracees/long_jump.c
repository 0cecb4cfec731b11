/* longjmp out of two nested traced calls, again and again, beside calls that return. */
#include <setjmp.h>

#include "support.h"
#include "tracee.h"

static jmp_buf target;

static int jump(int x) { longjmp(target, x + 1); }
static int nest(int x) { return tr_callback(x + 1, jump); }

int main(int argc, char **argv) {
  const int rounds = number(argc, argv, 1, 1000);
  volatile int i;
  for (i = 0; i < rounds; ++i) {
    if (setjmp(target) == 0) {
      say("tr_callback(%d) = <unwound>", i);
      say("tr_callback(%d) = <unwound>", i + 1);
      tr_callback(i, nest);
      say("not reached");
    }
    const int sum = tr_add(i, 1);
    say("tr_add(%d, 1) = %d", i, sum);
  }
  return 0;
}
