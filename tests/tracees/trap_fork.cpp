// Fork without exec: trap_fork CALLS PLUGIN. Each child goes on making calls, throws, loads a
// plug-in, and ends by the door that was asked for.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "support.h"
#include "traps.h"

namespace {

int calls;
const char* plugin;
volatile bool stop;

long thrower(long x) { throw x; }
long fork_inside(long) { return fork(); }

// What a child does; the parent gets it as its status.
int be_a_child() {
  long sum = 0, caught = 0;
  for (int i = 0; i < calls; ++i)
    sum += tp_one(i) - i;
  for (int i = 0; i < 50; ++i) {
    try {
      tp_call(thrower, i);
    } catch (long) { ++caught; }
  }
  void* handle = dlopen(plugin, RTLD_NOW);
  must(handle != nullptr, "dlopen");
  using Work = long (*)(long);
  sum += reinterpret_cast<Work>(dlsym(handle, "trap_plug_work"))(5);
  must(dlclose(handle) == 0, "dlclose");
  return sum == calls + 5 && caught == 50 ? 21 : 22;
}

void* call_all_the_time(void*) {
  while (!stop)
    tp_one(1);
  return nullptr;
}

int wait_for(pid_t child) {
  int status = 0;
  must(child > 0 && waitpid(child, &status, 0) == child, "wait");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

int main(int argc, char** argv) {
  calls = number(argc, argv, 1, 1000);
  must(argc > 2, "which plug-in?");
  plugin = argv[2];
  for (int i = 0; i < 100; ++i)
    tp_one(i);

  for (int round = 0; round < 4; ++round) { // a child, and a child of it
    const pid_t child = fork();
    if (child == 0) {
      forget_calls();
      int status = be_a_child();
      if (round % 2) {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
          forget_calls();
          status = be_a_child();
          report_calls("child ");
          _exit(status);
        }
        if (wait_for(grandchild) != 21) status = 23;
      }
      report_calls("child ");
      exit(status);
    }
    say("a child ends with %d", wait_for(child));
  }

  const long forked = tp_call(fork_inside, 0); // returns in both
  if (forked == 1) {
    forget_calls();
    const int status = be_a_child();
    report_calls("child ");
    return status; // through the rest of what main has to do at its end
  }
  say("one from inside a call ends with %d", wait_for(static_cast<pid_t>(forked - 1)));

  pthread_t threads[3];
  for (auto& thread : threads)
    must(pthread_create(&thread, nullptr, call_all_the_time, nullptr) == 0, "thread");
  int right = 0;
  for (int i = 0; i < 10; ++i) { // whatever the others are in the middle of
    const pid_t child = fork();
    if (child == 0) {
      forget_calls();
      const int status = be_a_child();
      report_calls("child ");
      _exit(status);
    }
    right += wait_for(child) == 21;
  }
  stop = true;
  for (auto& thread : threads)
    pthread_join(thread, nullptr);
  say("slack 1"); // the call that returns in two processes
  say("of those beside threads, %d were right", right);
  report_calls("");
  return 0;
}
