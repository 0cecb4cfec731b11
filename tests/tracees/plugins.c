/* A plug-in that is loaded, dropped, loaded at another address, and loaded into a name space. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "support.h"
#include "tracee.h"

static char *run(void *handle, int x) {
  must(handle != NULL, "dlopen");
  int (*const fn)(int) = (int (*)(int))dlsym(handle, "plug_run");
  must(fn != NULL, "dlsym");
  say("tr_add(%d, 7) = %d", x, fn(x));
  struct link_map *map = NULL;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  return (char *)map->l_addr;
}

int main(int argc, char **argv) {
  must(argc > 1, "which plug-in?");
  must(tr_nothing() == 0, "nothing");
  say("tr_nothing() = 0");
  void *handle = dlopen(argv[1], RTLD_NOW);
  char *const first = run(handle, 1);
  must(dlclose(handle) == 0, "dlclose");

  /* Where it was, something else is now. */
  void *const taken = mmap(first, 4096 * 4, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  must(taken == first, "mmap");
  memset(taken, 0x5a, 4096 * 4);
  handle = dlopen(argv[1], RTLD_LAZY);
  must(run(handle, 2) != first, "another address");
  for (int i = 0; i < 4096 * 4; ++i) must(((char *)taken)[i] == 0x5a, "memory was changed");
  must(dlclose(handle) == 0, "dlclose");

  munmap(taken, 4096 * 4);
  for (int i = 3; i < 23; ++i) { /* again and again, mostly at the same place */
    handle = dlopen(argv[1], i % 2 ? RTLD_NOW : RTLD_LAZY);
    run(handle, i);
    must(dlclose(handle) == 0, "dlclose");
  }
  handle = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
  run(handle, 23);
  return 0;
}
