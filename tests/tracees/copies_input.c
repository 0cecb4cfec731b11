/* Copies stdin to stdout and a file, through traced calls of the C library. */
#include "support.h"

int main(int argc, char **argv) {
  must(argc > 1, "which file?");
  FILE *const file = fopen(argv[1], "w");
  must(file != NULL, argv[1]);
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    fputs(line, stdout);
    fputs(line, file);
  }
  fclose(file);
  fputs("to stderr\n", stderr);
  return 0;
}
