/* Functions of C with debug information, which say in the callee what the log should show. */
#ifndef LIBDESCRIBED_H
#define LIBDESCRIBED_H

#include <stdbool.h>
#include <wchar.h>

enum color { RED, GREEN = 5, BLUE };
enum access { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_RUN = 4, ACCESS_ALL = 7 };
struct point { int x, y; };
struct mixed { int count; double share; };
struct large { long values[4]; };
struct named { const char* name; char code[8]; enum color color; struct point at; };
struct opaque;

void described_nothing(void);
int described_integers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f);
long described_longs(long a, unsigned long b, long long c, int d, int e, int f, int g, int h);
bool described_truth(bool yes, char letter);
double described_reals(float a, double b, int c);
long double described_extended(long double a, int b);
const char* described_text(const char* text, int n);
char* described_put(char* text, char letter); /* puts('h') */
char* described_points_at(char* text, int n);
int described_bytes(const unsigned char* bytes, void* more, int n);
int described_wide(const wchar_t* text, wchar_t letter);
enum color described_color(enum color color, int n);
int described_access(enum access access);
struct point described_point(struct point point, struct mixed mixed, int n);
struct large described_large(struct large large, int n);
int described_to_point(const struct point* in, struct point* out);
int described_to_named(const struct named* named);
int described_to_opaque(const struct opaque* opaque, int n);
int described_calls(int (*call)(const char*), const char* text);
int described_variadic(const char* format, int last, ...);
int described_twice(const char* restrict a, const char* const b, char* volatile c);
int described_array(const int* values, int (*more)[3], int n);
double _Complex described_complex(double _Complex a, int n);

#endif
