/* Functions of a program that needs no dynamic linker, for entry probes. */
#include "support.h"

__attribute__((noinline, noclone)) int work_one(int x) { return x + 1; }
__attribute__((noinline, noclone)) int work_two(int x) { return work_one(x) * 2; }

int main(void) {
  for (int i = 0; i < 10; ++i) {
    const int result = work_two(i);
    say("work_two(%d) = %d", i, result);
    say("work_one(%d) = %d", i, i + 1);
  }
  return 6;
}
