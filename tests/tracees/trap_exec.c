/* trap_exec chain N: executes itself N times, with calls before each.
 * trap_exec vfork N: N children of vfork make calls in our memory, then execute or fail to. */
#include <sys/wait.h>

#include "support.h"
#include "traps.h"

static long same(long x) { return x; }

static int chain(char **argv, int left) {
  long x = 0;
  for (int i = 0; i < 20; ++i) x = tp_one(x);
  x += tp_call(same, left);
  report_calls(""); /* of this image */
  if (left == 0) {
    say("the last one, %ld", x);
    return 9;
  }
  char next[16];
  snprintf(next, sizeof next, "%d", left - 1);
  char *const arguments[] = {argv[0], argv[1], next, NULL};
  execv(argv[0], arguments);
  return 96;
}

int main(int argc, char **argv) {
  must(argc == 3, "usage");
  const int n = atoi(argv[2]);
  if (strcmp(argv[1], "chain") == 0) return chain(argv, n);
  long of_children = 0, ends = 0;
  for (int i = 0; i < n; ++i) {
    tp_one(i);
    const long before = calls_so_far();
    const pid_t child = vfork();
    if (child == 0) {
      for (int k = 0; k < 5; ++k) tp_one(k);
      execl(i % 2 ? "/bin/true" : "/nonexistent", "true", (char *)NULL);
      tp_one(6);
      _exit(9);
    }
    of_children += calls_so_far() - before;
    tp_one(i);
    int status;
    must(waitpid(child, &status, 0) == child && WIFEXITED(status), "wait");
    ends += WEXITSTATUS(status);
  }
  say("ends %ld", ends);
  say("child calls tp_one %ld", of_children);
  say("calls tp_one %ld", calls_so_far() - of_children);
  return 0;
}
