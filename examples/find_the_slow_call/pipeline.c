/* A program that is slower than it should be: 60 times it decodes a piece of sound, and makes a picture
 * of it. Built as a library (-DLIBRARY -shared -fPIC) and as the program (-lpipeline), as the calls
 * between the two are what a tracer of library calls sees. -DFIXED takes the fault out. */
#include <stdio.h>
#include <stdlib.h>

enum { kPieces = 60, kSamples = 20000, kPixels = 64 * 64, kWeights = 2 * 1024 * 1024 };

#ifdef LIBRARY
void audio_decode(float* samples, int piece) {
  float value = (float)piece;
  for (int i = 0; i < kSamples; ++i)
    samples[i] = value = value * 0.75f + (float)(i % 17);
}

/* What the pictures are made with. */
const unsigned char* weights_of_model(const char* path) {
  static unsigned char* weights;
#ifdef FIXED
  if (weights) return weights;
#endif
  if (!weights) weights = malloc(kWeights);
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  for (size_t at = 0; at < kWeights; at += 4096)
    if (fread(weights + at, 1, 4096, file) != 4096) break;
  fclose(file);
  return weights;
}

unsigned frame_generate(const float* samples, const unsigned char* weights) {
  unsigned sum = 0;
  for (int i = 0; i < kPixels * 20; ++i)
    sum = sum * 31 + (unsigned)samples[i % kSamples] * weights[i * 7 % kWeights];
  return sum;
}
#else
void audio_decode(float* samples, int piece);
const unsigned char* weights_of_model(const char* path);
unsigned frame_generate(const float* samples, const unsigned char* weights);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  float* const samples = malloc(kSamples * sizeof *samples);
  unsigned sum = 0;
  for (int piece = 0; piece < kPieces; ++piece) {
    audio_decode(samples, piece);
    const unsigned char* const weights = weights_of_model(argv[1]);
    if (!weights) return 1;
    sum += frame_generate(samples, weights);
  }
  free(samples);
  printf("%u\n", sum);
  return 0;
}
#endif
