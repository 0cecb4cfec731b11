/* SIGSEGV on purpose. The program repairs what it ran into and goes on, or leaves by siglongjmp;
 * strings that can't be read are passed to a traced call, with SIGSEGV handled, blocked, ignored. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "support.h"
#include "traps.h"

static sigjmp_buf target;
static volatile long repaired, left;
static char *page;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  const char *const address = info->si_addr;
  tp_one(1);
  if (address >= page && address < page + 4096) {
    ++repaired;
    must(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0, "mprotect");
    return;
  }
  ++left;
  siglongjmp(target, 1);
}

static long touch(long x) { return tp_read(page + x % 4096); }

static int is_as_set(int blocked) {
  sigset_t now;
  struct sigaction action;
  sigprocmask(SIG_BLOCK, NULL, &now);
  sigaction(SIGSEGV, NULL, &action);
  return sigismember(&now, SIGSEGV) == blocked && action.sa_sigaction == handler;
}

int main(int argc, char **argv) {
  static int rounds; /* not lost by a jump back */
  rounds = number(argc, argv, 1, 100);
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(page != MAP_FAILED && munmap(page + 4096, 4096) == 0, "mmap");
  memset(page, 'x', 4096);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  must(sigaction(SIGSEGV, &action, NULL) == 0, "sigaction");

  long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    must(mprotect(page, 4096, PROT_NONE) == 0, "mprotect");
    sum += tp_call(touch, i); /* in the library, below two calls */
    must(mprotect(page, 4096, PROT_NONE) == 0, "mprotect");
    sum += *(volatile char *)(page + i);
  }
  say("repaired %ld sum %ld", repaired, sum);
  for (volatile int i = 0; i < rounds; ++i)
    if (sigsetjmp(target, 1) == 0) tp_read((const char *)(long)(8 + i));
  say("left %ld", left);

  /* Wild, not canonical, null; without an end before the next page, which is not there. */
  const char *const texts[] = {(const char *)0x1234, (const char *)0xdead00000000beef, NULL,
                               page + 4093, page + 4095, (const char *)UINTPTR_MAX};
  long wrong = 0;
  sigset_t segv, before;
  sigemptyset(&segv);
  sigaddset(&segv, SIGSEGV);
  for (int blocked = 0; blocked < 2; ++blocked) {
    sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &segv, &before);
    for (int i = 0; i < rounds; ++i)
      for (int k = 0; k < 6; ++k) wrong += tp_text(texts[k]) != (long)texts[k];
    wrong += !is_as_set(blocked);
  }
  must(mprotect(page, 4096, PROT_NONE) == 0, "mprotect");
  wrong += tp_text(page) != (long)page; /* was readable a moment ago */
  sigprocmask(SIG_UNBLOCK, &segv, NULL);
  wrong += tp_text(page) != (long)page;
  signal(SIGSEGV, SIG_IGN);
  wrong += tp_text(texts[0]) != (long)texts[0];
  say("wrong %ld repaired %ld left %ld", wrong, repaired, left);
  report_calls("");
  return wrong != 0;
}
