/* IFUNCs, of the program and of the library. */
#include "support.h"
#include "tracee.h"

static int quadruple(int x) { return 4 * x; }
__attribute__((used)) static int (*choose(void))(int) { return quadruple; }
int own_ifunc(int x) __attribute__((ifunc("choose")));

int main(void) {
  for (int i = 0; i < 10; ++i) {
    const int four = own_ifunc(i);
    const int three = tr_ifunc(i);
    say("own_ifunc(%d) = %d", i, four);
    say("tr_ifunc(%d) = %d", i, three);
    say("tr_add(%d, 1) = %d", i, tr_add(i, 1));
  }
  return 0;
}
