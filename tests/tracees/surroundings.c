/* What a process can find out about how it was started; must be the same under a tracer. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support.h"
#include "tracee.h"

extern char **environ;

int main(int argc, char **argv) {
  tr_nothing();
  for (int i = 0; i < argc; ++i) say("argument %s", argv[i]);
  for (char **e = environ; *e; ++e) say("environment %s", *e);
  sigset_t mask;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int signal = 1; signal < 65; ++signal) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) != 0) continue;
    say("signal %d blocked %d ignored %d", signal, sigismember(&mask, signal),
        action.sa_handler == SIG_IGN);
  }
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  for (int cpu = 0; cpu < 64; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) say("cpu %d", cpu);
  say("scheduler %d nice %d", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
  for (int fd = 0; fd < 1024; ++fd) {
    struct stat info;
    if (fstat(fd, &info) == 0) say("descriptor %d type %o", fd, info.st_mode & S_IFMT);
  }
  for (int i = 0; i < RLIM_NLIMITS; ++i) {
    struct rlimit limit;
    getrlimit(i, &limit);
    say("limit %d %llx %llx", i, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  }
  char directory[4096];
  say("directory %s", getcwd(directory, sizeof directory));
  const mode_t old = umask(0);
  say("umask %o", old);
  say("personality %x dumpable %d", personality(0xffffffff), prctl(PR_GET_DUMPABLE));
  say("no_new_privs %d", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  say("session leader %d", getsid(0) == getpid());
  say("children %d", waitpid(-1, NULL, WNOHANG) >= 0);
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  say("name %s", name);
  return 0;
}
