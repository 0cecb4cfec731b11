/* Traced calls before and after main. */
#include "support.h"
#include "tracee.h"

__attribute__((constructor)) static void before(void) { say("tr_add(1, 10) = %d", tr_add(1, 10)); }
__attribute__((destructor)) static void after(void) { say("tr_add(3, 10) = %d", tr_add(3, 10)); }
static void at_exit(void) { say("tr_add(4, 10) = %d", tr_add(4, 10)); }

int main(void) {
  atexit(at_exit);
  say("tr_add(2, 10) = %d", tr_add(2, 10));
  return 0;
}
