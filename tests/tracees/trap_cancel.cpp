// Threads that are cancelled while they make traced calls: at a cancellation point, and anywhere.
// The destructors on their stacks must all run, so the unwinder must find its way from anywhere.
#include <pthread.h>

#include "support.h"
#include "traps.h"

namespace {

long destroyed, cleaned_up;

struct Guard {
  ~Guard() {
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
    tp_one(2);
  }
};

// Without anything to destroy: an asynchronous cancellation may not arrive where there is.
__attribute__((noinline)) long endless(long (*step)(long)) {
  for (;;)
    step(1);
}
long call_plainly(long x) { return tp_one(x); }
long call_and_test(long x) {
  pthread_testcancel();
  return tp_one(x);
}
long sleep_a_little(long x) {
  usleep(1);
  return x;
}
long call_and_sleep(long x) { return tp_call(sleep_a_little, x); }

void clean_up(void*) { __atomic_fetch_add(&cleaned_up, 1, __ATOMIC_RELAXED); }

struct Work {
  bool anywhere;
  long (*step)(long);
  pthread_barrier_t* started;
};

__attribute__((noinline)) void run(Work* work) {
  if (work->anywhere) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  endless(work->step);
}

__attribute__((noinline)) void run_guarded(Work* work) {
  Guard guard;
  run(work);
}

void* thread(void* argument) {
  Work* work = static_cast<Work*>(argument);
  pthread_cleanup_push(clean_up, nullptr);
  pthread_barrier_wait(work->started);
  run_guarded(work);
  pthread_cleanup_pop(0);
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  const int threads = number(argc, argv, 1, 60);
  long cancelled = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_barrier_t started;
    pthread_barrier_init(&started, nullptr, 2);
    Work work{i % 3 == 0,
              i % 3 == 0   ? call_plainly
              : i % 3 == 1 ? call_and_test
                           : call_and_sleep,
              &started};
    pthread_t id;
    must(pthread_create(&id, nullptr, thread, &work) == 0, "thread");
    pthread_barrier_wait(&started);
    if (i % 2) usleep(static_cast<useconds_t>(i * 37 % 300));
    must(pthread_cancel(id) == 0, "cancel");
    void* result;
    pthread_join(id, &result);
    cancelled += result == PTHREAD_CANCELED;
    pthread_barrier_destroy(&started);
  }
  say("cancelled %ld destroyed %ld cleaned up %ld", cancelled, destroyed, cleaned_up);
  say("slack %d", threads); // a call may be cut off before it arrives
  report_calls("");
  return 0;
}
