// A traced call that is open 100,000 times over: returns from all, and is left by an exception or a
// longjmp from the deepest.
#include <setjmp.h>
#include <sys/resource.h>

#include "support.h"
#include "traps.h"

namespace {

jmp_buf target;
int at_the_end;

long next_level(long depth) {
  if (depth > 0) return tp_call(next_level, depth - 1);
  if (at_the_end == 1) throw 1;
  if (at_the_end == 2) longjmp(target, 1);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const int depth = number(argc, argv, 1, 100000);
  for (int round = 0; round < 2; ++round)
    say("returned from %ld", tp_call(next_level, depth));
  at_the_end = 1;
  try {
    tp_call(next_level, depth / 10);
  } catch (int) { say("caught"); }
  at_the_end = 2;
  if (setjmp(target) == 0) tp_call(next_level, depth);
  say("jumped");
  at_the_end = 0;
  say("returned from %ld", tp_call(next_level, depth));
  report_calls("");
  return 0;
}
