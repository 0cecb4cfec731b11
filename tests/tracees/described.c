/* Calls functions of C that have debug information. */
#include "libdescribed.h"

#include <stddef.h>

static int length(const char* text) {
  int n = 0;
  while (text[n] != 0)
    ++n;
  return n;
}

int main(void) {
  char buffer[16] = {'\001', '\002', '\377', 0}, words[] = "words";
  const unsigned char bytes[] = {7, 8, 0};
  int numbers[3] = {4, 5, 6};
  described_nothing();
  described_integers(-1, 200, -300, 60000, -5, 4000000000U);
  described_longs(-1, 18446744073709551615UL, -5000000000LL, 4, 5, 6, 7, 8);
  described_truth(true, 'h');
  described_truth(false, 'x');
  described_reals(0.5F, 2.25, 3);
  described_extended(1.5L, 2);
  described_text("hello", 2);
  described_text(NULL, 3);
  described_put(buffer, 'h');
  described_points_at(words, 4);
  described_bytes(bytes, buffer, 1);
  described_wide(L"wide", L'w');
  described_color(GREEN, 1);
  described_color(RED, 2);
  described_access(0);
  described_access(ACCESS_READ | ACCESS_WRITE);
  described_access(ACCESS_RUN);
  described_point((struct point){1, -2}, (struct mixed){3, 0.5}, 9);
  described_large((struct large){{1, 2, 3, 4}}, 9);
  struct point out;
  described_to_point(&(struct point){5, 6}, &out);
  described_to_named(&(struct named){"name", "code", GREEN, {7, 8}});
  described_to_opaque((const struct opaque*)numbers, 3);
  described_calls(length, "four");
  described_variadic("%d", 1, 2, 3);
  described_twice("a", "b", words);
  described_array(numbers, &numbers, 3);
  described_complex(1.5 + 2.5i, 4);
  return 0;
}
