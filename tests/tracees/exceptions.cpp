// Exceptions through traced calls, caught above, between, and rethrown.
#include <stdexcept>

#include "support.h"
#include "tracee.h"

static int thrower(int x) {
  if (x % 3 == 0) throw x;
  throw std::runtime_error("thrown");
}
static int nest(int x) { return tr_callback(x + 1, thrower); }
static int catcher(int x) {
  try {
    return tr_callback(x + 1, thrower);
  } catch (...) { return -1; }
}

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 500);
  for (int i = 0; i < rounds; ++i) {
    try {
      say("tr_callback(%d) = <unwound>", i);
      say("tr_callback(%d) = <unwound>", i + 1);
      tr_callback(i, nest);
      say("not reached");
    } catch (int) {
      if ((i + 1) % 3 != 0) say("wrong exception");
    } catch (const std::exception&) {
      if ((i + 1) % 3 == 0) say("wrong exception");
    }
    say("tr_callback(%d) = -1", i);
    say("tr_callback(%d) = <unwound>", i + 1);
    if (tr_callback(i, catcher) != -1) say("wrong result");
    say("tr_add(%d, 1) = %d", i, tr_add(i, 1));
  }
  return 0;
}
