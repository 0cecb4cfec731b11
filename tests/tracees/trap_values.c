/* Results and arguments of every class: x87, complex, structs in registers and in memory, 128-bit
 * integers, many floating arguments, variable ones. The sums would differ by one lost bit. */
#include "support.h"
#include "traps.h"

int main(int argc, char **argv) {
  const int rounds = number(argc, argv, 1, 200);
  long double ld = 0;
  double d = 0;
  long whole = 0;
  unsigned __int128 wide = 1;
  for (int i = 1; i <= rounds; ++i) {
    ld += tp_long_double(1.0L / i, i) + tp_long_double(ld, 1e-3L);
    const tp_float_complex cf = tp_complex_float((float)i, 0.5F);
    const tp_double_complex cd = tp_complex_double(i, -1.0 / i);
    const tp_long_double_complex cl = tp_complex_long_double(ld, i);
    d += (double)crealf(cf) + (double)cimagf(cf) + creal(cd) + cimag(cd);
    ld += creall(cl) * 1e-5L + cimagl(cl);
    const struct tp_two two = tp_make_two(i);
    const struct tp_mixed mixed = tp_make_mixed(1.5 * i, i);
    const struct tp_floats floats = tp_make_floats((float)i);
    const struct tp_big big = tp_add_to_big(tp_make_big(i), 1000);
    const struct tp_odd odd = tp_make_odd(i);
    whole += two.a + 3 * two.b + mixed.b + big.a + 2 * big.b + 3 * big.c + 4 * big.d + 5 * big.e;
    for (int k = 0; k < 11; ++k) whole += odd.bytes[k] * k;
    d += mixed.a + (double)(floats.a + 2 * floats.b + 3 * floats.c);
    wide = (unsigned __int128)tp_wide((__int128)(wide | 1), i % 2 ? 3 : -5);
    d += tp_many(1, 2, 3, 4, 5, 6, 7, i, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 * i, 1.25L, i);
    d += tp_sum(12, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.5, 11.25, 1.0 / i) + tp_sum(0);
    char text[200];
    snprintf(text, sizeof text, "%d %s %g %Lg %g %g %g %g %g %g %g %g %ld", i, "text", 0.5 * i, 2.5L, 1.0,
             2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0 * i, 9L);
    for (const char *c = text; *c; ++c) whole = whole * 31 + *c;
    int read = 0;
    double fraction = 0;
    sscanf("12 3.5", "%d %lf", &read, &fraction);
    d += read + fraction;
  }
  say("%.21Lg %.17g %lx %lx%016lx", ld, d, whole, (long)(wide >> 64), (long)wide);
  report_calls("");
  return 0;
}
