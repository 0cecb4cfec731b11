#include "libdescribed.h"

#include <stdio.h>
#include <string.h>

int described_counted;

void described_nothing(void) {
  ++described_counted;
  puts("described_nothing() = <void>");
}

int described_integers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f) {
  printf("described_integers(%d, %d, %d, %d, %d, %u) = %d\n", a, b, c, d, e, f, e);
  return e;
}

long described_longs(long a, unsigned long b, long long c, int d, int e, int f, int g, int h) {
  printf("described_longs(%ld, %lu, %lld, %d, %d, %d, %d, %d) = %ld\n", a, b, c, d, e, f, g, h, a);
  return a;
}

bool described_truth(bool yes, char letter) {
  printf("described_truth(%s, '%c') = %s\n", yes ? "true" : "false", letter, yes ? "false" : "true");
  return !yes;
}

double described_reals(float a, double b, int c) {
  printf("described_reals(%g, %g, %d) = %g\n", (double)a, b, c, a + b);
  return a + b;
}

long double described_extended(long double a, int b) {
  printf("described_extended(%Lg, %d) = %Lg\n", a, b, a + b);
  return a + b;
}

const char* described_text(const char* text, int n) {
  if (text == NULL)
    printf("described_text(nil, %d) = nil\n", n);
  else
    printf("described_text(\"%s\", %d) = \"%s\"\n", text, n, text + n);
  return text == NULL ? NULL : text + n;
}

char* described_put(char* text, char letter) {
  printf("described_put(%p, '%c') = \"%c\"\n", (void*)text, letter, letter);
  text[0] = letter;
  text[1] = 0;
  return text;
}

char* described_points_at(char* text, int n) {
  printf("described_points_at(\"%s\", %d) = \"%s\"\n", text, n, text);
  return text;
}

int described_bytes(const unsigned char* bytes, void* more, int n) {
  printf("described_bytes(%p, %p, %d) = %d\n", (const void*)bytes, more, n, bytes[0]);
  return bytes[0];
}

int described_wide(const wchar_t* text, wchar_t letter) {
  printf("described_wide(L\"%ls\", L'%lc') = 1\n", text, (wint_t)letter);
  return 1;
}

enum color described_color(enum color color, int n) {
  printf("described_color(%s, %d) = BLUE\n", color == GREEN ? "GREEN" : "RED", n);
  return BLUE;
}

int described_access(enum access access) {
  printf("described_access(%s) = %d\n",
         access == 0   ? "0"
         : access == 3 ? "ACCESS_READ|ACCESS_WRITE"
                       : "ACCESS_RUN",
         (int)access);
  return (int)access;
}

struct point described_point(struct point point, struct mixed mixed, int n) {
  printf("described_point({ %d, %d }, { %d, %g }, %d) = { %d, %d }\n", point.x, point.y, mixed.count,
         mixed.share, n, point.x, n);
  point.y = n;
  return point;
}

struct large described_large(struct large large, int n) {
  printf("described_large({ [ %ld, %ld, %ld, %ld ] }, %d) = { [ %ld, %ld, %ld, %d ] }\n",
         large.values[0], large.values[1], large.values[2], large.values[3], n, large.values[0],
         large.values[1], large.values[2], n);
  large.values[3] = n;
  return large;
}

int described_to_point(const struct point* in, struct point* out) {
  *out = *in;
  printf("described_to_point({ %d, %d }, %p) = %d\n", in->x, in->y, (void*)out, in->x);
  return in->x;
}

int described_to_named(const struct named* named) {
  printf("described_to_named({ \"%s\", \"%s\", GREEN, { %d, %d } }) = %d\n", named->name,
         named->code, named->at.x, named->at.y, named->at.x);
  return named->at.x;
}

int described_to_opaque(const struct opaque* opaque, int n) {
  printf("described_to_opaque(%p, %d) = %d\n", (const void*)opaque, n, n);
  return n;
}

int described_calls(int (*call)(const char*), const char* text) {
  printf("described_calls(%p, \"%s\") = %d\n", (void*)call, text, call(text));
  return call(text);
}

int described_variadic(const char* format, int last, ...) {
  printf("described_variadic(\"%s\", %d, ...) = %d\n", format, last, last);
  return last;
}

int described_twice(const char* restrict a, const char* const b, char* volatile c) {
  printf("described_twice(\"%s\", \"%s\", \"%s\") = 0\n", a, b, c);
  return 0;
}

int described_array(const int* values, int (*more)[3], int n) {
  printf("described_array(%p, %p, %d) = %d\n", (const void*)values, (void*)more, n, values[0]);
  return values[0];
}

double _Complex described_complex(double _Complex a, int n) {
  const double real = __real__ a, imaginary = __imag__ a;
  printf("described_complex({ %g, %g }, %d) = { %g, %g }\n", real, imaginary, n, real, imaginary);
  return a;
}
