/* A loop around calls, whose function's address a compiler loads once, in front of it. */
#include "support.h"
#include "tracee.h"

__attribute__((noinline)) static int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = tr_add(sum, 1) + tr_add(i, 0) - i;
  return sum;
}

int main(void) {
  const int n = 25, sum = work(n);
  for (int i = 0; i < n; ++i) {
    say("tr_add(%d, 1) = %d", i, i + 1);
    say("tr_add(%d, 0) = %d", i, i);
  }
  return sum == n ? 0 : 1;
}
