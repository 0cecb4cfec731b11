/* Loads a plug-in that is bound to its own libraries first (dlopen(3), RTLD_DEEPBIND). */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "support.h"
#include "tracee.h"

int main(int argc, char **argv) {
  must(argc > 1, "which plug-in?");
  must(tr_nothing() == 0, "nothing");
  void *const handle = dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND);
  must(handle != NULL, "dlopen");
  int (*const run)(int) = (int (*)(int))dlsym(handle, "plug_run");
  must(run != NULL, "dlsym");
  for (int x = 1; x <= 2; ++x)
    say("tr_add(%d, 7) = %d", x, run(x));
  return 0;
}
