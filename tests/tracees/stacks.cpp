// Calls sk_note and its kin, each time with another number, on all kinds of stacks. Arguments: the
// path of a library to load by dlopen, whose constructor calls sk_note.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern "C" {
int sk_note(int n);
int sk_call(int n, int (*fn)(int));
int sk_tail(int n);
int sk_pass(int n, int (*fn)(int));
double sk_mix(int n, double a, double b);
}

namespace {

int innermost(int n) {
  return sk_note(n + 1);
}
int nested(int n) {
  return sk_call(n + 1, innermost);
}
int twice_nested(int n) {
  return sk_call(n + 1, nested);
}

int compared = 200;
int compare(const void *a, const void *b) {
  sk_note(compared++);
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

struct Cleaner {
  int n;
  ~Cleaner() { sk_note(n); }
};
int throws(int n) {
  const Cleaner cleaner{n + 1};
  throw n;
}
int passes_through(int n) {
  const Cleaner cleaner{n + 3};
  return sk_call(n, throws);
}

jmp_buf place;
int jumps(int n) {
  sk_note(n + 1);
  longjmp(place, 1);
}

void on_signal(int signal) {
  sk_note(signal == SIGUSR1 ? 500 : 501);
}

void *in_thread(void *argument) {
  sk_call(600, nested);
  return argument;
}

ucontext_t outside, inside;
char other_stack[64 * 1024];
void on_other_stack() {
  sk_call(700, nested);
  swapcontext(&inside, &outside);
  sk_note(703);
}

__attribute__((noinline)) int deep(int depth) {
  volatile char room[200];
  room[0] = static_cast<char>(depth);
  return (depth == 0 ? sk_note(800) : deep(depth - 1)) + room[0];
}

/* Of unknown size: not to be left by the stack pointer alone. */
__attribute__((noinline)) int wide(int n, size_t size) {
  char room[size];
  memset(room, n, size);
  return sk_call(n, innermost) + room[size - 1];
}

} // namespace

int main(int argc, char **argv) {
  sk_note(1);
  sk_mix(2, 1.5, 2.5);
  sk_tail(3);
  sk_pass(10, innermost);
  sk_call(100, twice_nested);

  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, compare);

  for (int round = 0; round < 2; ++round) {
    try {
      sk_call(300 + 10 * round, passes_through);
    } catch (int caught) {
      sk_note(caught + 5);
    }
    sk_note(306 + 10 * round);
  }
  if (setjmp(place) == 0) sk_call(400, jumps);
  sk_note(402);

  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  stack_t alternative = {};
  alternative.ss_size = sizeof other_stack;
  alternative.ss_sp = other_stack;
  sigaltstack(&alternative, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);

  pthread_t thread;
  if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);

  getcontext(&inside);
  inside.uc_stack.ss_sp = other_stack;
  inside.uc_stack.ss_size = sizeof other_stack;
  inside.uc_link = &outside;
  makecontext(&inside, on_other_stack, 0);
  swapcontext(&outside, &inside);
  swapcontext(&outside, &inside);

  deep(400);
  wide(900, static_cast<size_t>(argc) * 600);
  wide(910, static_cast<size_t>(argc) * 5000); // main is beyond what is copied

  for (int round = 0; argc > 1 && round < 2; ++round) {
    void *plug = dlopen(argv[1], RTLD_NOW);
    if (plug == nullptr) return 2;
    int (*call)(int) = reinterpret_cast<int (*)(int)>(dlsym(plug, "plug_call"));
    call(950 + round);
    dlclose(plug);
  }
}
