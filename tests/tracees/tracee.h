/* The library that most tracees call, and how a tracee says what should be traced: one line on
 * stdout for each call, `name(arg, arg) = result`, in the order in which the calls begin. Numbers
 * stay small, so that a tracer without prototypes shows them in decimal. */
#ifndef TRACEE_H
#define TRACEE_H

#ifdef __cplusplus
extern "C" {
#endif

int tr_add(int a, int b);
/* Calls tr_add(x, x) through the library's own PLT. */
int tr_twice(int x);
int tr_sum7(int a, int b, int c, int d, int e, int f, int g);
/* Returns fn(x). */
int tr_callback(int x, int (*fn)(int));
/* Returns 1 + fn(depth), or 0 where depth is 0. */
int tr_descend(int depth, int (*fn)(int));
int tr_compare(int a, int b);
/* Jumps to tr_add(x, y): both return at once. */
int tr_tail(int x, int y);
long tr_string(const char *s);
double tr_double(double a, double b);
int tr_nothing(void);
/* An IFUNC. Returns 3 * x. */
int tr_ifunc(int x);

#ifdef __cplusplus
}
#endif
#endif
