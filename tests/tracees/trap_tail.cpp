// Chains of tail calls through the PLTs of three libraries, with results, with calls inside their
// callbacks, and left by exceptions.
#include "support.h"
#include "traps.h"

extern "C" long tp_tail_1(long (*fn)(long), long x, long depth);
extern "C" long tail_calls_1(), tail_calls_2(), tail_calls_3();

namespace {

struct Guard {
  long& destroyed;
  ~Guard() { ++destroyed; }
};

long thrower(long x) { throw x; }
long same(long x) { return tp_one(x) - 1; }
long again(long x) { return tp_tail_1(same, x, 1); }

long throws_through(long x, long depth, long& destroyed) {
  Guard guard{destroyed};
  return tp_tail_1(thrower, x, depth);
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 500);
  long sum = 0, caught = 0, destroyed = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += tp_tail_1(same, i, 0);
    sum += tp_tail_1(same, i, 3);
    sum += tp_tail_1(again, i, 2);
    try {
      sum += throws_through(i, i % 5, destroyed);
    } catch (long x) { caught += x; }
  }
  sum += tp_tail_1(same, 1, 40); // as deep as 123 jumps
  say("sum %lx caught %lx destroyed %ld", sum, caught, destroyed);
  say("calls tp_tail_1 %ld", tail_calls_1());
  say("calls tp_tail_2 %ld", tail_calls_2());
  say("calls tp_tail_3 %ld", tail_calls_3());
  report_calls("");
  return 0;
}
