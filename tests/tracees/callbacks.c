/* Traced calls from functions that traced calls call. */
#include "support.h"
#include "tracee.h"

enum { kLines = 4096 };
static char lines[kLines][48];
static int used;

static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  const int order = tr_compare(x, y);
  snprintf(lines[used++], sizeof lines[0], "tr_compare(%d, %d) = %d", x, y, order);
  return order;
}

static int inner(int x) {
  const int line = used++;
  const int sum = tr_add(x, 1);
  snprintf(lines[line], sizeof lines[0], "tr_add(%d, 1) = %d", x, sum);
  return sum;
}

static int outer(int x) {
  const int line = used++;
  const int result = tr_callback(x + 100, inner);
  snprintf(lines[line], sizeof lines[0], "tr_callback(%d) = %d", x + 100, result);
  return result;
}

int main(void) {
  int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = (i * 37) % 64;
  qsort(numbers, 64, sizeof numbers[0], compare);
  for (int i = 0; i < 64; ++i)
    if (numbers[i] != i) say("wrong order at %d", i);
  for (int i = 0; i < 20; ++i) {
    const int line = used++;
    const int result = tr_callback(i, outer);
    snprintf(lines[line], sizeof lines[0], "tr_callback(%d) = %d", i, result);
  }
  for (int i = 0; i < used; ++i) say("%s", lines[i]);
  return 0;
}
