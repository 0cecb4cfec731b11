/* A plug-in that calls the library of the trap programs through a PLT of its own. */
#include "support.h"
#include "traps.h"

long trap_plug_work(long calls);
void trap_plug_report(const char *who);

static long same(long x) { return x; }

long trap_plug_work(long calls) {
  long sum = 0;
  for (long i = 0; i < calls; ++i) sum += tp_one(i) - i;
  sum += tp_call(same, 0) - 1;
  return sum;
}

/* Of the library as this plug-in sees it: one loaded by dlmopen has its own. */
void trap_plug_report(const char *who) { report_calls(who); }
