/* A child stops itself; its parent sees the stop and lets it go on, as a shell does. */
#include <signal.h>
#include <sys/wait.h>

#include "support.h"
#include "tracee.h"

static int seen[2]; /* a byte: the parent has seen the child go on */

static void child(int signal) {
  for (int i = 0; i < 5; ++i) {
    char byte;
    tr_add(i, 10);
    kill(getpid(), signal);
    tr_add(i, 20);
    must(read(seen[0], &byte, 1) == 1, "read");
  }
  _exit(9);
}

int main(void) {
  const int signals[] = {SIGSTOP, SIGTSTP, SIGTTIN};
  must(pipe(seen) == 0, "pipe");
  for (int i = 0; i < 3; ++i) {
    const pid_t pid = fork();
    if (pid == 0) child(signals[i]);
    int status;
    for (;;) {
      must(waitpid(pid, &status, WUNTRACED) == pid, "waitpid");
      if (!WIFSTOPPED(status)) break;
      say("stopped by %d", WSTOPSIG(status));
      must(kill(pid, SIGCONT) == 0, "kill");
      must(waitpid(pid, &status, WCONTINUED) == pid, "waitpid");
      say("continued %d", WIFCONTINUED(status) != 0);
      must(write(seen[1], "x", 1) == 1, "write");
    }
    say("exited %d", WEXITSTATUS(status));
  }
  return 0;
}
