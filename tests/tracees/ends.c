/* Ends in the way that argv[1] names, after one traced call and inside another. */
#include <signal.h>

#include "support.h"
#include "tracee.h"

static const char *how;

static int end(int x) {
  if (strcmp(how, "segv") == 0) *(volatile int *)(long)x = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "exit") == 0) exit(77);
  if (strcmp(how, "_exit") == 0) _exit(265);
  for (int signal = 1; signal < 32; ++signal) {
    char name[16];
    snprintf(name, sizeof name, "%d", signal);
    if (strcmp(how, name) == 0) kill(getpid(), signal);
  }
  return x;
}

int main(int argc, char **argv) {
  how = argc > 1 ? argv[1] : "return";
  say("tr_add(1, 2) = %d", tr_add(1, 2));
  tr_callback(5, end);
  return strcmp(how, "return") == 0 ? 5 : 0;
}
