/* The instruction behind a traced call faults; what its handler is told must be the program's own
 * addresses. Each handler mends the cause and lets the instruction run again, or steps over it. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "support.h"
#include "tracee.h"

static volatile unsigned long at, fault, mended;
static volatile int last_signal;
static long word = 41;

static void handler(int signal, siginfo_t *info, void *context) {
  greg_t *const regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  at = (unsigned long)regs[REG_RIP];
  fault = (unsigned long)info->si_addr;
  last_signal = signal;
  if (signal == SIGSEGV && regs[REG_RBX] == 0x1000) regs[REG_RBX] = (greg_t)&word; /* again */
  else if (signal == SIGFPE) regs[REG_RBX] = 1;                                    /* again */
  else if (signal == SIGTRAP) return; /* rip is behind it */
  else regs[REG_RIP] = (greg_t)mended; /* goes on behind it */
}

/* Calls tr_add(1, 2); BAD is the next instruction. Leaves its address in `begin`. */
#define AFTER_CALL(BAD, RBX)                                                                       \
  __asm__ volatile("push %%rbx\n"                                                                  \
                   "mov %%rsp, %%r12\n"                                                            \
                   "and $-16, %%rsp\n"                                                             \
                   "lea 2f(%%rip), %%rax\n"                                                        \
                   "mov %%rax, %1\n"                                                               \
                   "mov %3, %%rbx\n"                                                               \
                   "mov $1, %%edi\n"                                                               \
                   "mov $2, %%esi\n"                                                               \
                   "call tr_add@plt\n"                                                             \
                   "1: " BAD "\n"                                                                  \
                   "2: mov %%rax, %2\n"                                                            \
                   "lea 1b(%%rip), %%rax\n"                                                        \
                   "mov %%rax, %0\n"                                                               \
                   "mov %%r12, %%rsp\n"                                                            \
                   "pop %%rbx\n"                                                                   \
                   : "=m"(begin), "=m"(mended), "=m"(result)                                       \
                   : "i"(RBX)                                                                      \
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "cc",     \
                     "memory")

static unsigned long begin, result;

static void report(const char *what, int signal, unsigned long expected_fault) {
  say("tr_add(1, 2) = 3");
  if (last_signal != signal) say("%s: signal %d", what, last_signal);
  const unsigned long expected_at = signal == SIGTRAP ? begin + 1 : begin;
  if (at != expected_at) say("%s: rip is off by %ld", what, (long)(at - expected_at));
  if (fault != expected_fault) say("%s: si_addr is off by %ld", what, (long)(fault - expected_fault));
  last_signal = 0;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  for (int i = 0; i < 5; ++i)
    must(sigaction((int[]){SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS}[i], &action, NULL) == 0, "sigaction");
  for (int i = 0; i < 5; ++i) {
    AFTER_CALL("mov (%%rbx), %%rax", 0x1000);
    report("load", SIGSEGV, 0x1000);
    if (result != 41) say("loaded %lu", result);
    AFTER_CALL("call *(%%rbx)", 0x2000); /* emulated, where the tracer can */
    report("call", SIGSEGV, 0x2000);
    AFTER_CALL("ud2", 0);
    report("ud2", SIGILL, begin);
    AFTER_CALL("cqto; 1: idiv %%rbx", 0);
    report("idiv", SIGFPE, begin);
    AFTER_CALL("hlt", 0);
    report("hlt", SIGSEGV, 0);
    AFTER_CALL("int3", 0);
    report("int3", SIGTRAP, 0);
  }
  say("done");
  return 0;
}
