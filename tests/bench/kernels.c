/* A program to compare two versions of, for diff_statistics.py: steps of as many kinds as programs have,
 * where examples/compare_two_runs/frames.c has nine of one kind. Their calls differ in size, some are now
 * and then much longer than else, some wait for memory. Built as the library (-DLIBRARY -shared -fPIC) and as
 * the program (-lkernels); -DSLOW_checksum=10 makes that step ten per cent slower, -DSLOW_rare=10 only the
 * long ones of its calls. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS(KERNEL)                                                                            \
  KERNEL(checksum) KERNEL(sort) KERNEL(lookup) KERNEL(copy) KERNEL(rare) KERNEL(tree) KERNEL(scan) \
  KERNEL(product)

#ifdef LIBRARY
#ifndef SLOW_checksum
#define SLOW_checksum 0
#endif
#ifndef SLOW_sort
#define SLOW_sort 0
#endif
#ifndef SLOW_rare
#define SLOW_rare 0
#endif

static uint32_t next(uint32_t* state) { return *state = *state * 1664525u + 1013904223u; }

/* Always as long. */
uint32_t kernel_checksum(uint32_t seed) {
  for (int i = 0; i < 600 * (100 + SLOW_checksum); ++i)
    seed = seed * 31 + 7;
  return seed;
}

static int compare(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left, b = *(const uint32_t*)right;
  return (a > b) - (a < b);
}

/* From 100 to 3200 numbers. */
uint32_t kernel_sort(uint32_t seed) {
  static uint32_t numbers[3200 * 2];
  const size_t count = (size_t)(100u << seed % 6) * (100 + SLOW_sort) / 100;
  for (size_t i = 0; i < count; ++i)
    numbers[i] = next(&seed);
  qsort(numbers, count, sizeof numbers[0], compare);
  return numbers[count / 2];
}

/* Waits for memory: one load after the other, all over four megabytes. */
uint32_t kernel_lookup(uint32_t seed) {
  static uint32_t table[1 << 20];
  if (table[0] == 0)
    for (uint32_t i = 0, state = 1; i < 1 << 20; ++i)
      table[i] = next(&state) | 1;
  for (int i = 0; i < 2000; ++i)
    seed = table[seed >> 12] + (uint32_t)i;
  return seed;
}

uint32_t kernel_copy(uint32_t seed) {
  static unsigned char from[1 << 18], to[1 << 18];
  for (unsigned i = 0; i < 1 + seed % 5; ++i) {
    from[i] = (unsigned char)seed;
    memcpy(to, from, sizeof to);
  }
  return to[seed % sizeof to];
}

/* One of five calls takes ten times as long as the others. */
uint32_t kernel_rare(uint32_t seed) {
  const int is_long = seed % 5 == 0;
  const int rounds = is_long ? 4000 * (100 + SLOW_rare) : 40000;
  for (int i = 0; i < rounds; ++i)
    seed = seed * 33 + 5;
  return seed;
}

struct node {
  struct node* side[2];
  uint32_t key;
};

uint32_t kernel_tree(uint32_t seed) {
  static struct node nodes[800];
  struct node* root = NULL;
  uint32_t depth = 0;
  for (size_t i = 0; i < 800; ++i) {
    nodes[i] = (struct node){{NULL, NULL}, next(&seed)};
    struct node** place = &root;
    for (; *place; ++depth)
      place = &(*place)->side[nodes[i].key > (*place)->key];
    *place = &nodes[i];
  }
  return depth;
}

uint32_t kernel_scan(uint32_t seed) {
  static char text[1 << 14];
  memset(text, 'a' + (int)(seed % 20), sizeof text - 1);
  uint32_t found = 0;
  for (const char* at = text; *at; ++at)
    found += *at == 'k' || *at == (char)('a' + found % 20);
  return found;
}

uint32_t kernel_product(uint32_t seed) {
  enum { kSide = 36 };
  static float left[kSide][kSide], right[kSide][kSide];
  float sum = 0;
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) {
      left[i][j] = (float)(next(&seed) >> 20);
      float one = 0;
      for (int k = 0; k < kSide; ++k)
        one += left[i][k] * right[k][j];
      right[j][i] = one / 1e6f;
      sum += one;
    }
  return (uint32_t)(int64_t)sum;
}
#else
#include <stdio.h>
#define DECLARE(name) uint32_t kernel_##name(uint32_t seed);
KERNELS(DECLARE)

int main(void) {
  uint32_t sum = 0;
  for (uint32_t frame = 0; frame < 120; ++frame) {
#define CALL(name) sum += kernel_##name(frame * 7919u + 1);
    KERNELS(CALL)
  }
  printf("%u\n", sum);
  return 0;
}
#endif
