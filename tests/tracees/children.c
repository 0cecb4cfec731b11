/* Child processes, made in the way that argv[1] names. Lines of a child begin with "child ". */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "support.h"
#include "tracee.h"

extern char **environ;

static int in_child(void *unused) {
  (void)unused;
  for (int i = 0; i < 5; ++i) say("child tr_add(%d, 1000) = %d", i, tr_add(i, 1000));
  return 7;
}

static void parent_calls(void) {
  for (int i = 0; i < 3; ++i) say("tr_add(%d, 1) = %d", i, tr_add(i, 1));
}

static pid_t start(const char *how, const char *self) {
  char *const again[] = {(char *)self, "as-child", NULL};
  pid_t child = -1;
  if (strcmp(how, "fork") == 0) {
    child = fork();
    if (child == 0) _exit(in_child(NULL));
  } else if (strcmp(how, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      /* Calls in the parent's memory, before the exec. */
      tr_add(500, 1);
      execv(self, again);
      _exit(97);
    }
  } else if (strcmp(how, "vfork-exit") == 0) {
    child = vfork();
    if (child == 0) _exit(in_child(NULL));
  } else if (strcmp(how, "spawn") == 0) {
    must(posix_spawn(&child, self, NULL, NULL, again, environ) == 0, "posix_spawn");
  } else if (strcmp(how, "clone-vm") == 0) {
    char *const stack = malloc(256 * 1024);
    child = clone(in_child, stack + 256 * 1024, CLONE_VM | SIGCHLD, NULL);
  } else if (strcmp(how, "clone-vm-vfork") == 0) {
    char *const stack = malloc(256 * 1024);
    child = clone(in_child, stack + 256 * 1024, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
  }
  must(child > 0, how);
  return child;
}

int main(int argc, char **argv) {
  must(argc > 1, "which way?");
  if (strcmp(argv[1], "as-child") == 0) return in_child(NULL);
  parent_calls();
  const pid_t child = start(argv[1], argv[0]);
  int status = 0;
  must(waitpid(child, &status, 0) == child, "waitpid");
  if (strcmp(argv[1], "vfork") == 0) say("child tr_add(500, 1) = 501");
  say("status %#x", (unsigned)status);
  parent_calls();
  return 0;
}
