/* Forks all the time, from two threads: each child makes traced calls and ends with their result.
 * Ends when its input does. */
#include <pthread.h>
#include <sys/wait.h>

#include "support.h"
#include "tracee.h"

static volatile int stop;
static volatile int wrong;

static void *storm(void *unused) {
  while (!stop) {
    const pid_t child = fork();
    if (child == 0) _exit(tr_add(20, 2) + tr_twice(1));
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 24)
      ++wrong;
    tr_add(1, 1);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  char byte;
  for (int i = 0; i < 2; ++i)
    must(pthread_create(&threads[i], NULL, storm, NULL) == 0, "thread");
  say("ready");
  while (read(0, &byte, 1) > 0 && byte != '\n') {
  }
  stop = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  say("wrong %d", wrong);
  return wrong != 0;
}
