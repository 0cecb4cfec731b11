/* The program's own backtrace() from below traced calls: it sees its own functions, in their order. */
#include <execinfo.h>

#include "support.h"
#include "traps.h"

static int compare(const void *a, const void *b) {
  static int asked;
  if (!asked++) {
    void *frames[64];
    const int count = backtrace(frames, 64);
    char **const names = backtrace_symbols(frames, count);
    for (int i = 0; i < count; ++i) {
      char *const slash = strrchr(names[i], '/'), *const end = strstr(names[i], " [");
      if (end) *end = 0;
      say("frame %s", slash ? slash + 1 : names[i]);
    }
    free(names);
  }
  return *(const int *)a - *(const int *)b;
}

long sorts(long x);
long sorts(long x) {
  int values[4] = {4, 3, 2, (int)x};
  qsort(values, 4, sizeof values[0], compare);
  return tp_one(values[0]);
}

int main(void) {
  say("result %ld", tp_call(sorts, 1));
  say("calls qsort 1");
  report_calls("");
  return 0;
}
