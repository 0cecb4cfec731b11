/* A small program to compare two versions of: 120 frames, each of which goes through nine steps that
 * take about as long. The steps are functions of a library, which is what a tracer of library calls
 * sees. Built as the library (-DLIBRARY -shared -fPIC) and as the program (-lframes); -DSLOWER=10 makes one
 * step, frame_blend, ten per cent slower. */
#include <stddef.h>

#ifndef SLOWER
#define SLOWER 0
#endif
enum { kPixels = 1024, kFrames = 120, kRounds = 50 };

#define STEPS(STEP)                                                                                \
  STEP(frame_decode, 3u, 0)                                                                        \
  STEP(frame_scale, 5u, 0)                                                                         \
  STEP(frame_denoise, 7u, 0)                                                                       \
  STEP(frame_blend, 9u, SLOWER)                                                                    \
  STEP(frame_sharpen, 11u, 0)                                                                      \
  STEP(frame_convert, 13u, 0)                                                                      \
  STEP(frame_encode, 15u, 0)                                                                       \
  STEP(frame_check, 17u, 0)                                                                        \
  STEP(frame_store, 19u, 0)

#ifdef LIBRARY
/* One loop for all, in which each pixel depends on the one before it: the steps differ in nothing but
 * how often they run it. */
__attribute__((noinline)) static void work(unsigned* pixels, size_t count, unsigned factor) {
  for (size_t i = 1; i < count; ++i)
    pixels[i] = pixels[i] * factor + pixels[i - 1] + 1;
}
#define DEFINE(name, factor, slower)                                                               \
  void name(unsigned* pixels) {                                                                    \
    for (int round = 0; round < kRounds * (100 + slower) / 100; ++round)                           \
      work(pixels, kPixels, factor);                                                               \
  }
STEPS(DEFINE)
#else
#include <stdio.h>
#include <stdlib.h>
#define DECLARE(name, factor, slower) void name(unsigned* pixels);
STEPS(DECLARE)

int main(void) {
  unsigned sum = 0;
  for (unsigned frame = 0; frame < kFrames; ++frame) {
    unsigned* const pixels = calloc(kPixels, sizeof *pixels);
    pixels[0] = ~frame;
#define CALL(name, factor, slower) name(pixels);
    STEPS(CALL)
    sum += pixels[kPixels - 1];
    free(pixels);
  }
  printf("%u\n", sum);
  return 0;
}
#endif
