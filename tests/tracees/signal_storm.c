/* Timers fire while traced calls run; each handler looks where it interrupted the program: in a
 * file's code or the kernel's own page, not in a page that somebody else put there. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <ucontext.h>

#include "support.h"
#include "tracee.h"

struct range {
  unsigned long begin, end;
};
static struct range ranges[256];
static int used;
static volatile sig_atomic_t signals, strange;
static unsigned long strange_rip;

static int remember(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum && used < 256; ++i) {
    const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    ranges[used].begin = info->dlpi_addr + segment->p_vaddr;
    ranges[used++].end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
  }
  return 0;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  const unsigned long rip = (unsigned long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  ++signals;
  for (int i = 0; i < used; ++i)
    if (rip >= ranges[i].begin && rip < ranges[i].end) return;
  ++strange;
  strange_rip = rip;
}

static void *more(void *arg) {
  long sum = 0;
  for (int i = 0; i < 5000; ++i) sum += tr_add(i % 100, 1);
  *(long *)arg = sum;
  return NULL;
}

int main(int argc, char **argv) {
  const int calls = number(argc, argv, 1, 20000);
  dl_iterate_phdr(remember, NULL);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  for (int i = 0; i < 3; ++i)
    must(sigaction((int[]){SIGALRM, SIGPROF, SIGVTALRM}[i], &action, NULL) == 0, "sigaction");
  const struct itimerval often = {{0, 700}, {0, 700}};
  for (int i = 0; i < 3; ++i)
    must(setitimer((int[]){ITIMER_REAL, ITIMER_PROF, ITIMER_VIRTUAL}[i], &often, NULL) == 0, "timer");
  pthread_t other;
  long other_sum = 0, sum = 0, expected = 0;
  must(pthread_create(&other, NULL, more, &other_sum) == 0, "thread");
  for (int i = 0; i < calls; ++i) {
    sum += tr_twice(i % 1000);
    expected += i % 1000 * 2;
  }
  pthread_join(other, NULL);
  const struct itimerval never = {{0, 0}, {0, 0}};
  for (int i = 0; i < 3; ++i) setitimer((int[]){ITIMER_REAL, ITIMER_PROF, ITIMER_VIRTUAL}[i], &never, NULL);
  must(sum == expected && other_sum == 5000 / 100 * (99 * 100 / 2 + 100), "sums");
  if (strange) fprintf(stderr, "interrupted at %#lx\n", strange_rip);
  say("strange %d", strange);
  fprintf(stderr, "signals %d\n", signals); /* differs from run to run */
  return strange != 0;
}
