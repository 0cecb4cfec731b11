/* Does what the lines on its stdin say, one by one: start and stop (calls that a window may begin and
 * end with), call, load (the plug-in that it was given), end. Answers each. */
#include <dlfcn.h>

#include "support.h"
#include "tracee.h"

int main(int argc, char **argv) {
  must(argc > 1, "which plug-in?");
  int (*plug)(int) = NULL;
  say("ready");
  char line[64];
  while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n") != 0) {
    if (strcmp(line, "start\n") == 0) {
      must(tr_sum7(1, 2, 3, 4, 5, 6, 7) != 0, "start");
    } else if (strcmp(line, "stop\n") == 0) {
      must(tr_double(1.5, 2) != 0, "stop");
    } else if (strcmp(line, "load\n") == 0) {
      void *const handle = dlopen(argv[1], RTLD_NOW);
      must(handle != NULL, "dlopen");
      plug = (int (*)(int))dlsym(handle, "plug_run");
      must(plug != NULL && plug(1) == 8, "plug_run");
    } else {
      must(tr_add(1, 2) == 3, "call");
      if (plug) must(plug(2) == 9, "plug_run");
    }
    say("done");
  }
  return 3;
}
