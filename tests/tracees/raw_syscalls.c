/* System calls made by their instruction around traced library calls.
 *   mask       SIGTRAP is blocked by no function of the C library
 *   site       the instruction itself is where a traced call returns to
 *   times N    how long random numbers of N bytes take, in ns: the shortest of many */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#include "support.h"
#include "tracee.h"

enum { kCalls = 101 };

static long call4(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

static unsigned long set_mask(int how, const unsigned long *mask) {
  unsigned long old = 0;
  call4(SYS_rt_sigprocmask, how, (long)mask, (long)&old, sizeof old);
  return old;
}

static void say_whether_blocked(void) {
  say("tr_add(1, 2) = %d", tr_add(1, 2));
  say("blocked %d", (int)(set_mask(SIG_BLOCK, NULL) >> (SIGTRAP - 1) & 1));
}

static void in_handler(int signal) { (void)signal; }

static void mask(void) {
  const unsigned long all = ~0ul, none = 0, trap = 1ul << (SIGTRAP - 1);
  set_mask(SIG_SETMASK, &all);
  say_whether_blocked();
  set_mask(SIG_UNBLOCK, &trap);
  say_whether_blocked();
  /* Behind a handler the mask is as before. */
  set_mask(SIG_SETMASK, &none);
  struct sigaction action = {.sa_handler = in_handler};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  call4(SYS_kill, getpid(), SIGUSR1, 0, 0);
  say_whether_blocked();
  set_mask(SIG_SETMASK, &trap);
  call4(SYS_kill, getpid(), SIGTRAP, 0, 0); /* stays pending */
  say_whether_blocked();
  const long no_time[2] = {0, 0};
  say("pending %ld", call4(SYS_rt_sigtimedwait, (long)&trap, 0, (long)no_time, sizeof trap));
}

static void site(void) {
  long parent = 0;
  for (int i = 0; i < 3; ++i)
    __asm__ volatile("mov $110, %%edi\n" /* getppid's number */
                     "xor %%esi, %%esi\n"
                     "call tr_add@plt\n"
                     "syscall"
                     : "=a"(parent)
                     :
                     : "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "memory");
  say("%d", parent == getppid());
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void times(size_t size) {
  static char bytes[1 << 16];
  long shortest = 0;
  for (int i = 0; i < kCalls; ++i) {
    const long before = now();
    must(getrandom(bytes, size, 0) > 0, "getrandom");
    const long took = now() - before;
    if (i == 0 || took < shortest) shortest = took;
  }
  say("%ld", shortest);
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "mask";
  if (strcmp(what, "mask") == 0) mask();
  if (strcmp(what, "site") == 0) site();
  if (strcmp(what, "times") == 0) times((size_t)number(argc, argv, 2, 4096));
  return 0;
}
