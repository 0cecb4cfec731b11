/* Small helpers of the tracees. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line, written at once, so that lines of several processes don't mix. */
static inline void say(const char *format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  line[size++] = '\n';
  for (int done = 0; done < size;) {
    const ssize_t n = write(1, line + done, (size_t)(size - done));
    if (n < 0) _exit(99);
    done += (int)n;
  }
}

/* Ends the tracee with status 98 when what it asked of the system failed. */
static inline void must(int ok, const char *what) {
  if (ok) return;
  perror(what);
  _exit(98);
}

static inline int number(int argc, char **argv, int index, int otherwise) {
  return argc > index ? atoi(argv[index]) : otherwise;
}

#endif
