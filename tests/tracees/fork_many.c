/* Children in quick succession, all alive at once, each with traced calls, some of which fork again. */
#include <sys/wait.h>

#include "support.h"
#include "tracee.h"

int main(int argc, char **argv) {
  const int n = number(argc, argv, 1, 30);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      if (i % 3 == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0) _exit(tr_add(i, 2));
        int status;
        waitpid(grandchild, &status, 0);
        if (WEXITSTATUS(status) != i + 2) _exit(99);
      }
      _exit(tr_add(i, 1));
    }
  }
  int status, sum = 0;
  while (wait(&status) > 0) {
    wrong += !WIFEXITED(status);
    sum += WEXITSTATUS(status);
  }
  say("sum %d wrong %d", sum, wrong);
  return sum == n * (n + 1) / 2 ? 0 : 1;
}
