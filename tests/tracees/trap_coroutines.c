/* trap_coroutines one-thread|two-threads ROUNDS: coroutines with traced calls open on each stack: resumed in any order, on other threads than they
 * began on, and given up with their calls open, their stacks used again. */
#include <pthread.h>
#include <ucontext.h>

#include "support.h"
#include "traps.h"

enum { kCoroutines = 16, kStack = 64 * 1024, kDepth = 5 };

struct coroutine {
  ucontext_t context, caller;
  char *stack;
  long result;
  int done, id, rounds;
};

/* Not a thread's own: gcc keeps the address of such over a call, and we come back elsewhere. */
static struct coroutine coroutines[kCoroutines];
static long by_thread[2];

static struct coroutine *of_stack(const void *address) {
  for (int i = 0; i < kCoroutines; ++i)
    if ((const char *)address >= coroutines[i].stack &&
        (const char *)address < coroutines[i].stack + kStack)
      return &coroutines[i];
  _exit(97);
}

static long yield(long x) {
  struct coroutine *const self = of_stack(&x);
  swapcontext(&self->context, &self->caller);
  return x + 1;
}

static long deeper(long depth) {
  return depth == 0 ? tp_call(yield, 0) : tp_call(deeper, depth - 1) + tp_one(depth);
}

static void body(int id) {
  struct coroutine *const self = &coroutines[id];
  for (int i = 0; i < self->rounds; ++i) self->result += tp_call(deeper, kDepth) * (id + 1);
  self->done = 1;
}

static void prepare(int id, int rounds) {
  struct coroutine *const self = &coroutines[id];
  must(getcontext(&self->context) == 0, "getcontext");
  self->context.uc_stack.ss_sp = self->stack;
  self->context.uc_stack.ss_size = kStack;
  self->context.uc_link = &self->caller;
  self->id = id, self->rounds = rounds, self->result = 0, self->done = 0;
  makecontext(&self->context, (void (*)(void))body, 1, id);
}

static void resume(int id) { swapcontext(&coroutines[id].caller, &coroutines[id].context); }

static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Two threads resume the same coroutines by turns. */
static void *by_turns(void *argument) {
  const long me = (long)argument;
  for (int running = 1; running;) {
    pthread_mutex_lock(&mutex);
    while (turn != me) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    running = 0;
    for (int i = 0; i < kCoroutines; ++i) {
      if (coroutines[i].done) continue;
      resume(i);
      running = 1;
    }
    by_thread[me] += tp_one(me);
    pthread_mutex_lock(&mutex);
    turn = !turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static long sum(void) {
  long all = 0;
  for (int i = 0; i < kCoroutines; ++i) all += coroutines[i].result;
  return all;
}

static void in_any_order(int rounds) {
  for (int i = 0; i < kCoroutines; ++i) prepare(i, rounds);
  unsigned random = 12345;
  for (int left = kCoroutines; left > 0;) {
    random = random * 1103515245 + 12345;
    const int i = (int)(random >> 16) % kCoroutines;
    if (coroutines[i].done) continue;
    resume(i);
    left -= coroutines[i].done;
  }
  say("in any order %ld", sum());
}

static void on_two_threads(int rounds) {
  for (int i = 0; i < kCoroutines; ++i) prepare(i, rounds);
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i)
    must(pthread_create(&threads[i], NULL, by_turns, (void *)i) == 0, "thread");
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  say("on two threads %ld %ld", sum(), by_thread[0] - by_thread[1] + 1);
}

static void given_up(int rounds) {
  /* Each time left with seven calls open, and begun anew on the same stack. */
  long resumed = 0;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < kCoroutines; ++i) {
      prepare(i, 2);
      resume(i);
      resume(i);
      resumed += tp_one(coroutines[i].result);
    }
  say("given up %ld", resumed);
  say("open %d", rounds * kCoroutines * (kDepth + 2));
}

int main(int argc, char **argv) {
  must(argc > 1, "usage");
  const int rounds = number(argc, argv, 2, 50);
  for (int i = 0; i < kCoroutines; ++i) coroutines[i].stack = malloc(kStack);

  if (strcmp(argv[1], "two-threads") == 0) {
    on_two_threads(rounds);
  } else {
    in_any_order(rounds);
    given_up(rounds);
  }
  report_calls("");
  return 0;
}
