/* A function that is called by name, and whose address goes to others. */
#include "support.h"
#include "tracee.h"

int (*volatile kept)(int) = tr_twice;

int main(void) {
  for (int i = 0; i < 10; ++i) {
    const int twice = tr_twice(i);
    say("tr_twice(%d) = %d", i, twice);
  }
  /* Whether a call by pointer is seen depends on how the address was made. */
  if (tr_callback(100, tr_twice) != 200 || kept(101) != 202) return 1;
  return 0;
}
