#include "traps.h"

#include "support.h"

#define FUNCTIONS(F)                                                                               \
  F(one) F(call) F(text) F(read) F(make_two) F(make_mixed) F(make_floats) F(make_big) F(make_odd)  \
  F(add_to_big) F(long_double) F(wide) F(many) F(sum) F(complex_float) F(complex_double)           \
  F(complex_long_double)
#define NUMBER(name) k_##name,
#define NAME(name) "tp_" #name,
enum { FUNCTIONS(NUMBER) kFunctions };
static const char *const names[] = {FUNCTIONS(NAME)};
static long counts[kFunctions];
static long *count_of_one = &counts[k_one];

static void arrived(int function) { __atomic_fetch_add(&counts[function], 1, __ATOMIC_RELAXED); }

long tp_one(long x) {
  __atomic_fetch_add(count_of_one, 1, __ATOMIC_RELAXED);
  return x + 1;
}

long tp_call(long (*fn)(long), long x) {
  arrived(k_call);
  return fn(x) + 1;
}

long tp_text(const char *text) {
  arrived(k_text);
  return (long)text;
}

long tp_read(const volatile char *memory) {
  arrived(k_read);
  return *memory;
}

struct tp_two tp_make_two(int x) {
  arrived(k_make_two);
  return (struct tp_two){x, 2L * x};
}

struct tp_mixed tp_make_mixed(double d, int x) {
  arrived(k_make_mixed);
  return (struct tp_mixed){2 * d, x};
}

struct tp_floats tp_make_floats(float f) {
  arrived(k_make_floats);
  return (struct tp_floats){f, f + 1, f + 2};
}

struct tp_big tp_make_big(int x) {
  arrived(k_make_big);
  return (struct tp_big){x, x + 1, x + 2, x + 3, x + 4};
}

struct tp_odd tp_make_odd(int x) {
  arrived(k_make_odd);
  struct tp_odd odd;
  for (int i = 0; i < 11; ++i) odd.bytes[i] = (char)(x + i);
  return odd;
}

struct tp_big tp_add_to_big(struct tp_big big, int x) {
  arrived(k_add_to_big);
  return (struct tp_big){big.a + x, big.b + x, big.c + x, big.d + x, big.e + x};
}

long double tp_long_double(long double a, long double b) {
  arrived(k_long_double);
  return a * b + 1;
}

__int128 tp_wide(__int128 a, long b) {
  arrived(k_wide);
  return a * b;
}

double tp_many(long a, long b, long c, long d, long e, long f, long g, long h, double x0, double x1,
               double x2, double x3, double x4, double x5, double x6, double x7, double x8,
               long double y, long i) {
  arrived(k_many);
  return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i) + x0 + 2 * x1 +
         3 * x2 + 4 * x3 + 5 * x4 + 6 * x5 + 7 * x6 + 8 * x7 + 9 * x8 + (double)y;
}

double tp_sum(int count, ...) {
  arrived(k_sum);
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, double);
  va_end(list);
  return sum;
}

tp_float_complex tp_complex_float(float re, float im) {
  arrived(k_complex_float);
  return CMPLXF(re, im);
}

tp_double_complex tp_complex_double(double re, double im) {
  arrived(k_complex_double);
  return CMPLX(re, im);
}

tp_long_double_complex tp_complex_long_double(long double re, long double im) {
  arrived(k_complex_long_double);
  return CMPLXL(re, im);
}

void report_calls(const char *who) {
  for (int i = 0; i < kFunctions; ++i) {
    const long count = i == k_one ? *count_of_one : counts[i];
    if (count) say("%scalls %s %ld", who, names[i], count);
  }
}

void forget_calls(void) {
  for (int i = 0; i < kFunctions; ++i) counts[i] = 0;
}

long calls_so_far(void) { return *count_of_one; }

void count_at(long *shared) { count_of_one = shared; }
