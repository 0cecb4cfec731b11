/* Objects whose only reference lies in a register that calls preserve, while the call collects: a
 * conservative collector looks in registers and on the stack, so nobody may move the value away. */
#include <gc.h>

#include "support.h"

long tp_collect(void);

struct object { long magic, rest; };

#define TEST(register_name)                                                                        \
  __attribute__((noinline)) static int lost_in_##register_name(long number) {                      \
    struct object *object = GC_MALLOC(sizeof *object);                                             \
    object->magic = 0x600d0000 + number;                                                           \
    register struct object *only __asm__(#register_name) = object;                                 \
    __asm__ volatile("" : "+r"(only));                                                             \
    object = NULL;                                                                                 \
    __asm__ volatile("" : "+r"(object));                                                           \
    tp_collect();                                                                                  \
    __asm__ volatile("" : "+r"(only));                                                             \
    return only->magic != 0x600d0000 + number;                                                     \
  }
TEST(rbx)
TEST(r12)
TEST(r13)
TEST(r14)
TEST(r15)

static void scrub(void) {
  volatile char below[4096];
  memset((void *)below, 0, sizeof below);
}

int main(int argc, char **argv) {
  const int rounds = number(argc, argv, 1, 40);
  int (*const tests[])(long) = {lost_in_rbx, lost_in_r12, lost_in_r13, lost_in_r14, lost_in_r15};
  int lost = 0;
  GC_INIT();
  for (int i = 0; i < rounds; ++i)
    for (int k = 0; k < 5; ++k) {
      lost += tests[k](i * 5 + k);
      scrub();
    }
  say("lost %d of %d", lost, rounds * 5);
  say("calls tp_collect %d", rounds * 5);
  return lost != 0;
}
