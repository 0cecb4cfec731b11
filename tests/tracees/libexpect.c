#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static char lines[1 << 17];
static size_t used;

__attribute__((destructor)) static void print(void) {
  fwrite(lines, 1, used, stdout);
  fflush(stdout);
}

static void append(const char* format, va_list arguments) {
  const int size = vsnprintf(lines + used, sizeof lines - used, format, arguments);
  if (size < 0 || (size_t)size >= sizeof lines - used) abort();
  used += (size_t)size;
}

static void add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append(format, arguments);
  va_end(arguments);
}

void expect_line(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append(format, arguments);
  va_end(arguments);
  add("\n");
}

void expect_int(const char* call, long value) { add("%s = %ld\n", call, value); }
void expect_unsigned(const char* call, unsigned long value) { add("%s = %lu\n", call, value); }
void expect_hex(const char* call, unsigned long value) {
  add(value == 0 ? "%s = %lu\n" : "%s = 0x%lx\n", call, value);
}
void expect_pointer(const char* call, const void* value) {
  add("%s = %s\n", call, expect_address(value));
}
void expect_void(const char* call) { add("%s = <void>\n", call); }
void expect_name(const char* call, int is_right, const char* name) {
  add("%s = %s\n", call, is_right ? name : "what the program did not expect");
}

/* The fewest digits that mean the same number, as a decimal fraction. */
#define FEWEST(value, form, parse)                                                                 \
  char digits[64];                                                                                 \
  for (int precision = 1; precision < 30; ++precision) {                                           \
    snprintf(digits, sizeof digits, form, precision, value);                                       \
    if (parse(digits, NULL) == value) break;                                                       \
  }                                                                                                \
  add("%s = %s\n", call, digits)

void expect_double(const char* call, double value) { FEWEST(value, "%.*f", strtod); }
void expect_float(const char* call, float value) { FEWEST((double)value, "%.*f", (float)strtod); }
void expect_long_double(const char* call, long double value) { FEWEST(value, "%.*Lf", strtold); }

static void character(unsigned char c, char quote) {
  static const char letters[] = "abtnvfr";
  if (c >= '\a' && c <= '\r')
    add("\\%c", letters[c - '\a']);
  else if (c == '\\' || c == quote)
    add("\\%c", c);
  else if (c == 0 && quote == '\'')
    add("\\0");
  else if (c < 0x20 || c >= 0x7f)
    add("\\%03o", c);
  else
    add("%c", c);
}

void expect_text(const char* call, const char* value) {
  if (value == NULL) {
    add("%s = nil\n", call);
    return;
  }
  add("%s = \"", call);
  for (const char* c = value; *c != 0; ++c)
    character((unsigned char)*c, '"');
  add("\"\n");
}

void expect_char(const char* call, int value) {
  add("%s = '", call);
  character((unsigned char)value, '\'');
  add("'\n");
}

const char* expect_address(const void* pointer) {
  static char ring[8][24];
  static unsigned next;
  char* const text = ring[next++ % 8];
  snprintf(text, sizeof ring[0], pointer == NULL ? "nil" : "%p", pointer);
  return text;
}

const char* expect_quoted(const char* text) {
  static char ring[8][48];
  static unsigned next;
  char* const quoted = ring[next++ % 8];
  snprintf(quoted, sizeof ring[0], "\"%.32s\"%s", text, strlen(text) > 32 ? "..." : "");
  return quoted;
}
