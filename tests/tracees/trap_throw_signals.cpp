// Exceptions through calls, so many that what was left open is used again, under a flood of signals
// whose handler makes calls, and throws itself: trap_throw_signals THROWS GAP_US. Each throw is
// once from where it is caught, and once from far below. There are at most as many signals as
// throws, and GAP_US between two of them, and what a timer adds.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "support.h"
#include "traps.h"

namespace {

volatile sig_atomic_t done;
volatile long handled, wrong;

long thrower(long x) { throw x; }

long throw_and_catch(long x) {
  try {
    tp_call(thrower, x);
    return 1;
  } catch (long caught) { return caught != x; }
}

/// With enough of the stack in between for a handler.
__attribute__((noinline)) long throw_from_below(long x) {
  volatile char room[20000];
  room[x % 20000] = 1;
  return tp_call(thrower, x) + room[0];
}

long catch_from_below(long x) {
  try {
    return throw_from_below(x) != 0;
  } catch (long caught) { return caught != x; }
}

void handler(int) {
  const long mine = ++handled;
  wrong = wrong + (tp_one(mine) != mine + 1);
  if (mine % 4 == 0) wrong = wrong + throw_and_catch(mine);
}

long throws, gap_us;

void* sender(void* receiver) {
  for (long sent = 0; !done && sent < throws; ++sent) {
    pthread_kill(*static_cast<pthread_t*>(receiver), SIGUSR1);
    usleep(static_cast<useconds_t>(gap_us));
  }
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  must(argc == 3, "usage");
  throws = atol(argv[1]);
  gap_us = atol(argv[2]);
  struct sigaction action = {};
  action.sa_handler = handler;
  must(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
  pthread_t receiver = pthread_self(), thread;
  must(throw_and_catch(1) == 0, "an exception"); // whatever is allocated the first time
  must(pthread_create(&thread, nullptr, sender, &receiver) == 0, "thread");
  long own_wrong = 0;
  for (long i = 0; i < throws; ++i)
    own_wrong += throw_and_catch(i) + catch_from_below(i);
  while (handled == 0)
    sched_yield();
  done = 1;
  pthread_join(thread, nullptr);
  own_wrong += tp_one(1) != 2; // which shows that the calls before it were left
  say("thrown %ld, wrong %ld, handled some %d", throws, own_wrong + wrong, handled > 0);
  report_calls("");
  return own_wrong + wrong != 0;
}
