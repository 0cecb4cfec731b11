/* What stacks.cpp calls: functions that do next to nothing, and some that call others. */
int sk_note(int n);
int sk_call(int n, int (*fn)(int));
int sk_tail(int n);
int sk_pass(int n, int (*fn)(int));
double sk_mix(int n, double a, double b);

int sk_note(int n) {
  return n;
}

int sk_call(int n, int (*fn)(int)) {
  return fn(n) + 1;
}

/* Jumps: sk_note returns to the caller. */
__attribute__((noinline, optimize("O2"))) int sk_tail(int n) {
  return sk_note(n);
}

__attribute__((noinline, optimize("O2"))) int sk_pass(int n, int (*fn)(int)) {
  return fn(n);
}

double sk_mix(int n, double a, double b) {
  return n + a * b;
}
