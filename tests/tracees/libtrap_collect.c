/* Collects garbage inside a traced call. */
#include <gc.h>
#include <string.h>

long tp_collect(void);

static void scrub(void) {
  volatile char below[8192];
  memset((void *)below, 0, sizeof below);
}

long tp_collect(void) {
  scrub();
  GC_gcollect();
  for (int i = 0; i < 2000; ++i) {
    long *const over = GC_MALLOC(16); /* takes the place of what was lost */
    *over = 0xbad;
  }
  return 1;
}
