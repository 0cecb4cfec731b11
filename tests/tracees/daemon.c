/* A daemon: two forks, a session of its own, all descriptors closed but the one that tells the
 * first process when it is done. */
#include <sys/stat.h>

#include "support.h"
#include "tracee.h"

int main(void) {
  int done[2];
  must(pipe(done) == 0, "pipe");
  say("tr_add(1, 1) = %d", tr_add(1, 1));
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int fd = 0; fd < 64; ++fd)
      if (fd != done[1]) close(fd);
    umask(0);
    must(chdir("/") == 0, "chdir");
    char result = 0;
    for (int i = 0; i < 100; ++i) result = (char)(result + tr_add(i % 2, 0));
    _exit(write(done[1], &result, 1) == 1 ? 0 : 1);
  }
  close(done[1]);
  char result = 0;
  must(read(done[0], &result, 1) == 1, "read");
  say("daemon says %d", result);
  return 0;
}
