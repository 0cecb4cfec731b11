/* What a traced program says its log should be: one line for each call, with the values as
 * sonictrace shows them. The lines are kept in libexpect.so, so that saying one calls nothing that
 * is traced, and go to stdout at the end. */
#ifndef EXPECT_H
#define EXPECT_H

/* A whole line, of which `format` and what follows it is the text. */
void expect_line(const char* format, ...);
/* `call` = value, by the type of the value. */
void expect_int(const char* call, long value);
void expect_unsigned(const char* call, unsigned long value);
void expect_hex(const char* call, unsigned long value);
void expect_double(const char* call, double value);
void expect_float(const char* call, float value);
void expect_long_double(const char* call, long double value);
void expect_text(const char* call, const char* value);
void expect_char(const char* call, int value);
void expect_pointer(const char* call, const void* value);
void expect_void(const char* call);
void expect_name(const char* call, int is_right, const char* name);

/* 0x.. or nil; good for a few calls. */
const char* expect_address(const void* pointer);
/* "plain text", cut at 32 characters as sonictrace does; good for a few calls. */
const char* expect_quoted(const char* text);

#define nil ((void*)0)

/* A call whose text in the program is its text in the log. */
#define I(call) expect_int(#call, call)
#define U(call) expect_unsigned(#call, call)
#define H(call) expect_hex(#call, call)
#define D(call) expect_double(#call, call)
#define F(call) expect_float(#call, call)
#define LD(call) expect_long_double(#call, call)
#define S(call) expect_text(#call, call)
#define C(call) expect_char(#call, call)
#define P(call) expect_pointer(#call, call)
#define V(call)                                                                                    \
  do {                                                                                             \
    call;                                                                                          \
    expect_void(#call);                                                                            \
  } while (0)
/* One whose result has a name. */
#define N(call, name) expect_name(#call, (call) == name, #name)
/* One whose text is given, with the form of its result at the end. */
#define X(call, ...)                                                                               \
  do {                                                                                             \
    __auto_type result_of_call = (call);                                                           \
    expect_line(__VA_ARGS__, result_of_call);                                                      \
  } while (0)
/* The same, the result a pointer, a string. */
#define XP(call, ...)                                                                              \
  do {                                                                                             \
    const void* result_of_call = (call);                                                           \
    expect_line(__VA_ARGS__, expect_address(result_of_call));                                      \
  } while (0)
/* One that returns nothing. */
#define XV(call, ...)                                                                              \
  do {                                                                                             \
    call;                                                                                          \
    expect_line(__VA_ARGS__);                                                                      \
  } while (0)

#endif
