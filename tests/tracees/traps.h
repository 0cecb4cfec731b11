/* The library of the trap programs. It counts each call where it arrives, so that a program can say
 * at its end how many calls a tracer must have seen: `calls NAME N`, one line a function. */
#ifndef TRAPS_H
#define TRAPS_H

#include <complex.h>
#ifdef __cplusplus
extern "C" {
#else
typedef float _Complex tp_float_complex;
typedef double _Complex tp_double_complex;
typedef long double _Complex tp_long_double_complex;
#endif

long tp_one(long x);                       /* x + 1 */
long tp_call(long (*fn)(long), long x);    /* fn(x) + 1 */
long tp_text(const char *text);            /* its address; what is there is not read */
long tp_read(const volatile char *memory); /* the byte there */

struct tp_two { long a, b; };
struct tp_mixed { double a; long b; };
struct tp_floats { float a, b, c; };
struct tp_big { long a, b, c, d, e; };
struct tp_odd { char bytes[11]; };
struct tp_two tp_make_two(int x);
struct tp_mixed tp_make_mixed(double d, int x);
struct tp_floats tp_make_floats(float f);
struct tp_big tp_make_big(int x);
struct tp_odd tp_make_odd(int x);
struct tp_big tp_add_to_big(struct tp_big big, int x);
long double tp_long_double(long double a, long double b);
__int128 tp_wide(__int128 a, long b);
double tp_many(long a, long b, long c, long d, long e, long f, long g, long h, double x0, double x1,
               double x2, double x3, double x4, double x5, double x6, double x7, double x8,
               long double y, long i);
double tp_sum(int count, ...); /* of `count` doubles */
#ifndef __cplusplus
tp_float_complex tp_complex_float(float re, float im);
tp_double_complex tp_complex_double(double re, double im);
tp_long_double_complex tp_complex_long_double(long double re, long double im);
#endif

/* Not for the tracer: their names are not tp_*. */
void report_calls(const char *who); /* "calls tp_one 12", with who before it */
void forget_calls(void);            /* as if none had been made: in a child of fork */
long calls_so_far(void);            /* of tp_one */
void count_at(long *shared);        /* tp_one counts here from now on, in shared memory maybe */

#ifdef __cplusplus
}
#endif
#endif
