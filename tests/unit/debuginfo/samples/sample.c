// Behind each function stands the prototype that its debug information tells.
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default"), noinline))

typedef int number;
typedef const number constant;
typedef char letter;
enum color { RED, GREEN = 5, BLUE };
enum access { ACCESS_NONE, ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_RUN = 4 };
enum sign { NEGATIVE = -1, ZERO, POSITIVE };
enum count { ONE = 1, TWO, THREE, FOUR };
struct point { int x, y; };
struct mixed { int count; double share; };
struct floats { float x, y, z; };
struct named { const char* name; char code[8]; enum color color; struct point at; };
struct large { long values[4]; };
struct bits { unsigned low : 3, high : 5; int rest; };
struct __attribute__((packed)) packed { char tag; int value; };
struct flexible { int size; char bytes[]; };
struct empty {};
struct node { const struct node* next; int value; };
union either { int number; float real; };
union words { int number; long word; };
struct opaque;
struct gap { char first; int __attribute__((aligned(16))) second; };

int sink;

// clang-format off
EXPORT void nothing(void) { ++sink; } // void nothing();
EXPORT int integers(char a, signed char b, unsigned char c, short d, unsigned short e, int f) { return a + b + c + d + e + f + sink; } // int integers(char, schar, uchar, short, ushort, int);
EXPORT unsigned long wide(unsigned a, long b, unsigned long c, long long d, unsigned long long e, size_t f, int64_t g) { return a + (unsigned long)b + c + (unsigned long)d + e + f + (unsigned long)g; } // ulong wide(uint, long, ulong, long, ulong, ulong, long);
EXPORT bool truth(bool yes) { return !yes; } // bool(uchar) truth(bool(uchar));
EXPORT double reals(float a, double b) { return a + b; } // double reals(float, double);
EXPORT long double extended(long double a, int b) { return a + b; } // ldouble extended(ldouble, int);
EXPORT const char* text(const char* a, char* b, const char* restrict c, letter const* volatile d) { sink = *b + *c + *d; return a; } // string text(string, string?, string, string);
EXPORT char* changes(char* a, char letter) { *a = letter; return a; } // string? changes(string?, char);
EXPORT int bytes(const unsigned char* a, const signed char* b, const int8_t* c, void* d, const void* e) { return *a + *b + *c + (d == e); } // int bytes(addr, addr, addr, addr, addr);
EXPORT int behind(char** a, const char* const* b, int* c, const int* d, number (*e)[4], constant f) { return **a + **b + *c + *d + (*e)[0] + f; } // int behind(addr, addr, addr, addr, addr, int);
EXPORT int wide_text(const wchar_t* a, wchar_t* b, wchar_t c) { return a[0] + b[0] + c; } // int wide_text(wstring, addr, wchar);
EXPORT enum color enumerated(enum color a, enum sign b, enum count c) { return b + c > 0 ? a : RED; } // enum[uint](RED=0, GREEN=5, BLUE=6) enumerated(enum[uint](RED=0, GREEN=5, BLUE=6), enum[int](NEGATIVE=-1, ZERO=0, POSITIVE=1), enum[uint](ONE=1, TWO=2, THREE=3, FOUR=4));
EXPORT int flagged(enum access a) { return (int)a; } // int flagged(flags[uint](ACCESS_NONE=0, ACCESS_READ=1, ACCESS_WRITE=2, ACCESS_RUN=4));
EXPORT struct point by_value(struct point a, struct mixed b, struct floats c) { a.x += b.count + (int)c.x; return a; } // struct(int, int) by_value(struct(int, int), struct(int, double), struct(float, float, float));
EXPORT struct large in_memory(struct large a, int b) { a.values[0] += b; return a; } // struct(array(long, 4))& in_memory(hide(ulong), struct(array(long, 4)), int);
EXPORT int to_struct(const struct point* a, struct point* b, const struct opaque* c) { return a->x + b->y + (c != 0); } // int to_struct(struct(int, int)*, addr, addr);
EXPORT int to_named(const struct named* a) { return a->color + a->at.x; } // int to_named(struct(string, string(array(char, zero(8))), enum[uint](RED=0, GREEN=5, BLUE=6), struct(int, int))*);
EXPORT int to_list(const struct node* a) { return a->value; } // int to_list(struct(addr, int)*);
EXPORT int odd(struct bits a, union words b, union either c, struct empty d, int e) { (void)d; return (int)a.low + b.number + c.number + e; } // int odd(struct(hide(array(uchar, 4)), int), ..., ..., hide(...), int);
EXPORT int packed_one(struct packed a, int b) { return a.value + b; } // none
EXPORT int to_packed(const struct packed* a) { return a->value; } // int to_packed(struct(char, hide(array(uchar, 4)))*);
EXPORT int to_flexible(const struct flexible* a) { return a->size; } // int to_flexible(struct(int)*);
EXPORT int aligned(struct gap a, int b) { return a.second + b; } // none
EXPORT double _Complex complex_one(double _Complex a, float _Complex b) { return a + b; } // struct(double, double) complex_one(struct(double, double), struct(float, float));
EXPORT int calls_back(int (*call)(const char*), int value) { return call("") + value; } // int calls_back(addr, int);
EXPORT int variadic(const char* format, int last, ...) { return *format + last; } // int variadic(string, int, ...);
EXPORT __int128 huge(__int128 a) { return a; } // none
// clang-format on

EXPORT int old(a, b) int a; float b; { return a + (int)b; } // none
extern int also_named(int, const char*);
EXPORT int named_first(int a, const char* b) { return a + *b; } // int named_first(int, string);
