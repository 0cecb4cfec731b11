#include "tracee.h"

int tr_add(int a, int b) { return a + b; }

int tr_twice(int x) { return tr_add(x, x); }

int tr_sum7(int a, int b, int c, int d, int e, int f, int g) { return a + b + c + d + e + f + g; }

int tr_callback(int x, int (*fn)(int)) { return fn(x); }

int tr_descend(int depth, int (*fn)(int)) { return depth == 0 ? 0 : 1 + fn(depth); }

int tr_compare(int a, int b) { return (a > b) - (a < b); }

__asm__(".globl tr_tail\n"
        ".type tr_tail, @function\n"
        "tr_tail:\n"
        "  jmp tr_add@plt\n"
        ".size tr_tail, . - tr_tail\n");

long tr_string(const char *s) {
  long n = 0;
  while (s[n]) ++n;
  return n;
}

double tr_double(double a, double b) { return a * b; }

int tr_nothing(void) { return 0; }

#ifndef NO_IFUNC
static int triple(int x) { return 3 * x; }
__attribute__((used)) static int (*choose_triple(void))(int) { return triple; }
int tr_ifunc(int x) __attribute__((ifunc("choose_triple")));
#endif
