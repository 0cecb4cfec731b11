/* Becomes the program of argv[2]..., in the way that argv[1] names. */
#include <pthread.h>

#include "support.h"
#include "tracee.h"

static char **command;

static void *become(void *unused) {
  (void)unused;
  execv(command[0], command);
  perror("execv");
  _exit(97);
}

static void *wait_for_the_end(void *unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char **argv) {
  must(argc > 2, "usage");
  command = argv + 2;
  say("tr_add(40, 2) = %d", tr_add(40, 2));
  if (strcmp(argv[1], "main") == 0) become(NULL);
  pthread_t other, idle;
  if (strcmp(argv[1], "with-threads") == 0) {
    must(pthread_create(&idle, NULL, wait_for_the_end, NULL) == 0, "thread");
    become(NULL);
  }
  if (strcmp(argv[1], "thread") == 0) {
    must(pthread_create(&idle, NULL, wait_for_the_end, NULL) == 0, "thread");
    must(pthread_create(&other, NULL, become, NULL) == 0, "thread");
    for (;;) tr_nothing();
  }
  if (strcmp(argv[1], "failing") == 0) {
    execv("/nonexistent/program", command);
    say("tr_add(41, 2) = %d", tr_add(41, 2));
    become(NULL);
  }
  return 1;
}
