/* A traced call that is open many times over. */
#include <sys/resource.h>

#include "support.h"
#include "tracee.h"

static int next_level(int depth) { return tr_descend(depth - 1, next_level); }

int main(int argc, char **argv) {
  const int depth = number(argc, argv, 1, 10000);
  for (int round = 0; round < 2; ++round) {
    const int reached = tr_descend(depth, next_level);
    for (int level = depth; level >= 0; --level) say("tr_descend(%d) = %d", level, level);
    if (reached != depth) say("reached only %d", reached);
  }
  return 0;
}
