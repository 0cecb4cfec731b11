/* trap_dlopen loop ROUNDS PLUGIN...: each is loaded, called into and dropped, in turn, while other
 * threads call. trap_dlopen spaces ROUNDS PLUGIN...: the same in name spaces of their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "support.h"
#include "traps.h"

static volatile int stop;

static void *call_all_the_time(void *argument) {
  long x = 0, calls = 0;
  for (; !stop; ++calls) x = tp_one(x);
  *(int *)argument = x == calls;
  return NULL;
}

int main(int argc, char **argv) {
  must(argc > 3, "usage");
  const int spaces = strcmp(argv[1], "spaces") == 0, rounds = atoi(argv[2]);
  int right[2] = {0, 0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    must(pthread_create(&threads[i], NULL, call_all_the_time, &right[i]) == 0, "thread");
  long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    const char *const path = argv[3 + i % (argc - 3)];
    const int flags = i % 3 ? RTLD_NOW : RTLD_LAZY;
    void *const handle = spaces ? dlmopen(LM_ID_NEWLM, path, flags) : dlopen(path, flags);
    if (!handle) say("%s", dlerror());
    must(handle != NULL, "dlopen");
    long (*const work)(long) = (long (*)(long))dlsym(handle, "trap_plug_work");
    must(work != NULL, "dlsym");
    sum += work(10);
    if (spaces) {
      void (*const report)(const char *) = (void (*)(const char *))dlsym(handle, "trap_plug_report");
      report("");
    }
    must(dlclose(handle) == 0, "dlclose");
  }
  stop = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  say("sum %ld right %d %d", sum, right[0], right[1]);
  report_calls("");
  return 0;
}
