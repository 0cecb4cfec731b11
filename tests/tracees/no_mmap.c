/* Traced calls under a seccomp filter that kills the process at its first mmap, in two threads. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.h"
#include "tracee.h"

static volatile long sums[2];
static pthread_barrier_t both_are_there;

static void *call(void *argument) {
  const long which = (long)argument;
  pthread_barrier_wait(&both_are_there);
  for (int i = 0; i < 500; ++i) sums[which] += tr_add(i, 1);
  return NULL;
}

int main(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  pthread_t thread;
  pthread_barrier_init(&both_are_there, NULL, 2);
  must(pthread_create(&thread, NULL, call, (void *)1L) == 0, "thread"); /* its stack is mapped */
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
       "seccomp");
  call((void *)0L);
  pthread_join(thread, NULL);
  say("sums %ld %ld", sums[0], sums[1]);
  return 0;
}
