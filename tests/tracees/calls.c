/* Calls in order, with what they do to errno and to the vector registers. */
#include <errno.h>

#include "support.h"
#include "tracee.h"

int main(int argc, char **argv) {
  const int n = number(argc, argv, 1, 50);
  for (int i = 0; i < n; ++i) {
    errno = i + 1;
    const int sum = tr_add(i, i + 1);
    if (errno != i + 1) say("errno was changed to %d", errno);
    say("tr_add(%d, %d) = %d", i, i + 1, sum);
  }
  int twice = tr_twice(21);
  say("tr_twice(21) = %d", twice);
  say("tr_add(21, 21) = %d", twice);
  say("tr_sum7(1, 2, 3, 4) = %d", tr_sum7(1, 2, 3, 4, 5, 6, 7));
  say("tr_compare(2, 1) = %d", tr_compare(2, 1));
  say("tr_nothing() = %d", tr_nothing());
  const double product = tr_double(1.5, -2.25);
  say("tr_double() = *");
  if (product != -3.375) say("product is %f", product);
  const long length = tr_string("four");
  say("tr_string() = %ld", length);
  return 3;
}
