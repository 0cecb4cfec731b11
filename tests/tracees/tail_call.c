/* Calls that leave by a jump through the PLT, from the program and from the library. */
#include "support.h"
#include "tracee.h"

int jump_to_twice(int x);
__asm__(".text\n"
        ".type jump_to_twice, @function\n"
        "jump_to_twice:\n"
        "  jmp tr_twice@plt\n"
        ".size jump_to_twice, . - jump_to_twice\n");

static int tail_in_callback(int x) { return tr_tail(x, 2); }

int main(void) {
  for (int i = 0; i < 20; ++i) {
    const int twice = jump_to_twice(i);
    say("tr_twice(%d) = %d", i, twice);
    say("tr_add(%d, %d) = %d", i, i, twice);
    const int sum = tr_tail(i, 5);
    say("tr_tail(%d, 5) = %d", i, sum);
    say("tr_add(%d, 5) = %d", i, sum);
    const int nested = tr_callback(i, tail_in_callback);
    say("tr_callback(%d) = %d", i, nested);
    say("tr_tail(%d, 2) = %d", i, nested);
    say("tr_add(%d, 2) = %d", i, nested);
  }
  return 0;
}
