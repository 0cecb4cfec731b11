// Exceptions through C frames and traced calls: thrown by callbacks of qsort and by functions that
// never return, nested, rethrown; what lies between is destroyed.
#include <setjmp.h>

#include <cstdlib>
#include <stdexcept>

#include "support.h"
#include "traps.h"

extern "C" [[noreturn]] void tp_throw(int x); // in libtrap_throw.so
extern "C" long throw_calls();

namespace {

long destroyed, caught;
jmp_buf target;
int mode;

struct Guard {
  ~Guard() { ++destroyed; }
};

int compare(const void* a, const void* b) {
  Guard guard;
  if (mode == 1) throw std::runtime_error("thrown");
  if (mode == 2) throw 42;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

// No object with a destructor between jump and target: that would be undefined.
int jumping_compare(const void*, const void*) { longjmp(target, 1); }

__attribute__((noinline)) int sort(int how) {
  Guard guard;
  mode = how;
  int values[4] = {4, 3, 2, 1};
  qsort(values, 4, sizeof(int), compare);
  return values[0];
}

long thrower(long x) { throw static_cast<int>(x); }

// tp_call within tp_call, twelve deep: each level catches and throws on, or throws again.
long nest(long depth) {
  if (depth == 0) return tp_call(thrower, 7);
  try {
    Guard guard;
    return tp_call(nest, depth - 1);
  } catch (int x) {
    if (depth % 3 == 0) throw;
    throw x + 1;
  }
}

__attribute__((noinline)) int never_returns(int x) {
  try {
    tp_throw(x);
  } catch (int thrown) { return thrown; }
}

long catches_within(long x) {
  try {
    return tp_call(thrower, x);
  } catch (int thrown) { return thrown; }
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 1000);
  long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    try {
      sort(1);
    } catch (const std::exception&) { ++caught; }
  }
  say("caught %ld destroyed %ld", caught, destroyed);
  for (int i = 0; i < rounds; ++i) {
    try {
      try {
        sort(2);
      } catch (...) { throw; }
    } catch (int x) { sum += x; }
  }
  say("rethrown %ld destroyed %ld", sum, destroyed);
  sum = 0;
  for (int i = 0; i < rounds; ++i)
    sum += never_returns(i & 1);
  say("never returned %ld", sum);
  sum = 0;
  for (int i = 0; i < rounds / 10; ++i) {
    try {
      nest(12);
    } catch (int x) { sum += x; }
    sum += tp_call(catches_within, i);
  }
  say("nested %ld destroyed %ld", sum, destroyed);
  volatile int jumps = 0;
  for (volatile int i = 0; i < rounds; i = i + 1) {
    int values[2] = {2, 1};
    if (setjmp(target) == 0)
      qsort(values, 2, sizeof(int), jumping_compare);
    else
      jumps = jumps + 1;
  }
  say("jumps %d, sorted %d", jumps, sort(0));
  say("calls qsort %d", 3 * rounds + 1);
  say("calls tp_throw %ld", throw_calls());
  report_calls("");
  return 0;
}
