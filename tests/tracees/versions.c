/* One name in two versions. */
#include "support.h"

int tr_versioned(int x);
int tr_versioned_old(int x);
__asm__(".symver tr_versioned_old, tr_versioned@TR_1");

int main(void) {
  for (int i = 0; i < 5; ++i) {
    say("tr_versioned(%d) = %d", i, tr_versioned_old(i));
    say("tr_versioned(%d) = %d", i, tr_versioned(i));
  }
  return 0;
}
