/* Filters that the program puts on itself once it runs, and that kill it at any system call that it
 * does not need: trap_seccomp filter|strict CALLS. A tracer's code in it may make none of its own.
 * `filter`: an allow-list without mmap, mremap, mprotect; threads begin after it.
 * `strict`: the kernel's own, read, write, exit and sigreturn. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.h"
#include "traps.h"

enum { kThreads = 6, kStack = 256 * 1024 };
static long calls;

static long same(long x) { return x; }

static void *work(void *argument) {
  long x = (long)argument;
  for (long i = 0; i < calls; ++i) {
    x = tp_one(x);
    if (i % 16 == 0) x = tp_call(same, x) - 1;
    if (i % 16 == 1) tp_text("a text that is read");
  }
  return (void *)x;
}

static void filter(void) {
  static const int allowed[] = {SYS_write,   SYS_exit,   SYS_exit_group,      SYS_futex,
                                SYS_clone3,  SYS_clone,  SYS_rt_sigprocmask,  SYS_set_robust_list,
                                SYS_madvise, SYS_rseq,   SYS_rt_sigreturn};
  enum { kAllowed = sizeof allowed / sizeof allowed[0] };
  struct sock_filter code[2 * kAllowed + 2];
  int n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < kAllowed; ++i) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {(unsigned short)n, code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
       "seccomp");
}

int main(int argc, char **argv) {
  must(argc == 3, "usage");
  calls = atol(argv[2]);
  long sum = 0;
  if (strcmp(argv[1], "strict") == 0) {
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict");
    sum = (long)work((void *)1L);
    say("sum %ld", sum);
    report_calls("");
    syscall(SYS_exit, 5); /* exit_group would kill it */
  }
  mallopt(M_ARENA_MAX, 1); /* or a thread maps one of its own */
  pthread_t threads[kThreads];
  pthread_attr_t attributes[kThreads];
  char *const stacks = aligned_alloc(4096, (size_t)kThreads * kStack);
  for (int i = 0; i < kThreads; ++i) {
    pthread_attr_init(&attributes[i]);
    pthread_attr_setstack(&attributes[i], stacks + (size_t)i * kStack, kStack);
  }
  must(pthread_create(&threads[0], &attributes[0], work, (void *)0L) == 0, "thread");
  filter();
  for (long i = 1; i < kThreads; ++i)
    must(pthread_create(&threads[i], &attributes[i], work, (void *)i) == 0, "thread");
  for (int i = 0; i < kThreads; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  say("sum %ld", sum);
  report_calls("");
  _exit(5);
}
