// Calls in and between three libraries. Prints, for each call in the order in which they begin,
// the caller's module, the name, and the module that implements it.
#include "libthree.h"
#include "support.h"

extern "C" int one_a(int x);
extern "C" int common(int x);
extern "C" int two_a(int x);

static void call(const char* caller, const char* name, const char* implementer) {
  say("%s %s %s", caller, name, implementer);
}

int main() {
  int sum = one_a(1);
  call("MAIN", "one_a", "libone.so");
  sum += common(2);
  call("MAIN", "common", "libone.so");
  sum += two_a(3);
  call("MAIN", "two_a", "libtwo.so");
  call("libtwo.so", "one_a", "libone.so");
  call("libtwo.so", "two_b", "libtwo.so");
  sum += three_a(4);
  call("MAIN", "three_a", "libthree.so");
  call("libthree.so", "one_b", "libone.so");
  call("libthree.so", "two_a", "libtwo.so");
  call("libtwo.so", "one_a", "libone.so");
  call("libtwo.so", "two_b", "libtwo.so");
  const shapes::Circle small(1), big(2);
  call("MAIN", "shapes::Circle::Circle", "libthree.so");
  call("MAIN", "shapes::Circle::Circle", "libthree.so");
  sum += small + big;
  call("MAIN", "shapes::operator+", "libthree.so");
  call("libthree.so", "shapes::Circle::area", "libthree.so");
  call("libthree.so", "shapes::Circle::area", "libthree.so");
  sum += shapes::total({}, 5);
  call("MAIN", "shapes::total", "libthree.so");
  sum += shapes::largest<int>(6, 7);
  call("MAIN", "shapes::largest<int>", "libthree.so");
  return sum == 0;
}
