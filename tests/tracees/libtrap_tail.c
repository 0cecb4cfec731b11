/* -DPART=1..3: a chain of tail calls through three libraries, each by a jump through its PLT, that
 * ends in a callback. gcc makes jumps of these with -O2. */
long tp_tail_1(long (*fn)(long), long x, long depth);
long tp_tail_2(long (*fn)(long), long x, long depth);
long tp_tail_3(long (*fn)(long), long x, long depth);
static long calls;
#if PART == 1
long tp_tail_1(long (*fn)(long), long x, long depth) {
  ++calls;
  return tp_tail_2(fn, x + 1, depth);
}
long tail_calls_1(void);
long tail_calls_1(void) { return calls; }
#elif PART == 2
long tp_tail_2(long (*fn)(long), long x, long depth) {
  ++calls;
  return tp_tail_3(fn, x * 2, depth);
}
long tail_calls_2(void);
long tail_calls_2(void) { return calls; }
#else
/* Back to the first as long as there is depth: a loop of jumps. */
long tp_tail_3(long (*fn)(long), long x, long depth) {
  ++calls;
  if (depth > 0) return tp_tail_1(fn, x, depth - 1);
  return fn(x);
}
long tail_calls_3(void);
long tail_calls_3(void) { return calls; }
#endif
