/* Calls bt_here from all kinds of places. Arguments: the path of a library to load by dlopen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "support.h"

int bt_here(int n);
int bt_callback(int n, int (*fn)(int));
void bt_exit(int n) __attribute__((noreturn));

/* Its first instruction faults: the address before it is another function's. */
__asm__(".text\n"
        ".type before, @function\n"
        "before: nop\n"
        ".size before, . - before\n"
        ".type faults_at_once, @function\n"
        "faults_at_once:\n"
        ".cfi_startproc\n"
        "  ud2\n"
        "  ret\n"
        ".cfi_endproc\n"
        ".size faults_at_once, . - faults_at_once\n");
void faults_at_once(void);

static int back(int n) {
  return bt_here(n) + 1;
}

static __attribute__((noinline)) int deep(int depth) {
  char room[100 * depth + 100]; /* of unknown size: not to be left by the stack pointer alone */
  memset(room, depth, sizeof room);
  const int result = depth == 0 ? bt_callback(2, back) : deep(depth - 1) + 1;
  return result + room[0];
}

static int compare(const void *a, const void *b) {
  bt_here(3);
  return *(const int *)a - *(const int *)b;
}

static void on_signal(int signal) {
  bt_here(signal == SIGUSR1 ? 4 : 5);
}

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)info;
  bt_here(signal == SIGILL ? 6 : -1);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* behind the ud2 */
}

static void *in_thread(void *argument) {
  bt_here(7);
  return argument;
}

static __attribute__((noinline, noreturn)) void leave(void) {
  bt_exit(10); /* the last instruction: its return address is another function's */
}

int main(int argc, char **argv) {
  bt_here(1);
  deep(3);
  int numbers[] = {2, 1};
  qsort(numbers, 2, sizeof *numbers, compare);

  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  stack_t stack = {.ss_size = 64 * 1024};
  stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(sigaltstack(&stack, NULL) == 0, "sigaltstack");
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR2);
  struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &fault, NULL);
  faults_at_once();

  pthread_t thread;
  must(pthread_create(&thread, NULL, in_thread, NULL) == 0, "pthread_create");
  pthread_join(thread, NULL);

  for (int round = 0; argc > 1 && round < 2; ++round) {
    void *plug = dlopen(argv[1], RTLD_NOW);
    must(plug != NULL, "dlopen");
    int (*call)(int) = (int (*)(int))dlsym(plug, "plug_call");
    must(call(8 + round) == 8 + round, "plug_call");
    dlclose(plug);
  }
  leave();
}
