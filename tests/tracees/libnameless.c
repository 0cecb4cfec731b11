/* Functions that no symbol names once this is stripped. Each call of one is said as its log line,
   with its place in the file. */
#include "expect.h"

#define NOINLINE __attribute__((noinline, noclone))

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void say(const void* function, long a, long b, long result) {
  expect_line("libnameless.so+0x%lx(%ld, %ld) = %ld", (long)((const char*)function - __ehdr_start), a,
              b, result);
}

NOINLINE static long add(long a, long b) { return a + b; }

__attribute__((cold, noinline)) static void seldom(long* place) { *place += 1000; }

/* With a part that lies apart, and is jumped to with a frame on the stack. */
NOINLINE static long mostly(long a, long b) {
  long sum[4] = {a, b, a * b, 0};
  for (long i = 0; i < b; ++i) {
    if (__builtin_expect(sum[0] == 77, 0)) {
      seldom(&sum[1]);
      seldom(&sum[2]);
    }
    sum[0] += add(sum[1], i);
    say((const void*)add, sum[1], i, sum[1] + i);
  }
  return sum[0] + sum[1] + sum[2];
}

NOINLINE static long recursive(long depth, long b) {
  const long inner = depth > 0 ? recursive(depth - 1, b) : 0;
  if (depth > 0) say((const void*)recursive, depth - 1, b, inner);
  return inner + b;
}

long nameless_run(long rounds) {
  long all = 0;
  for (long i = 0; i < rounds; ++i) {
    long result = mostly(i == 1 ? 77 : i, 2);
    say((const void*)mostly, i == 1 ? 77 : i, 2, result);
    all += result;
    result = recursive(2, i);
    say((const void*)recursive, 2, i, result);
    all += result;
  }
  return all;
}
