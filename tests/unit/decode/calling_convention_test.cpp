// Lets the compiler pass and return values of many shapes, and finds them again by the plan of the
// same prototype: what a compiler does is what the psABI means.
#if defined(__x86_64__)

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "support/captured_call.hpp"

extern "C" {
constexpr std::size_t kDumpedStackWords = 40;
/// As CallWords has them at the entry: rdi rsi rdx rcx r8 r9, xmm0-7, the stack.
std::uint64_t sonictrace_dumped_entry[sonictrace::wire::kEntryWords + kDumpedStackWords];
/// And at the return: rax rdx, xmm0 xmm1, st0.
std::uint64_t sonictrace_dumped_return[6];

void sonictrace_dump_entry();
/// Calls `function` with rdi = `hidden`.
void sonictrace_dump_return(void (*function)(), void* hidden);
}

asm(R"(
  .text
  .type sonictrace_dump_entry, @function
  .globl sonictrace_dump_entry
sonictrace_dump_entry:
  movq sonictrace_dumped_entry@GOTPCREL(%rip), %rax
  movq %rdi, 0(%rax)
  movq %rsi, 8(%rax)
  movq %rdx, 16(%rax)
  movq %rcx, 24(%rax)
  movq %r8, 32(%rax)
  movq %r9, 40(%rax)
  movq %xmm0, 48(%rax)
  movq %xmm1, 56(%rax)
  movq %xmm2, 64(%rax)
  movq %xmm3, 72(%rax)
  movq %xmm4, 80(%rax)
  movq %xmm5, 88(%rax)
  movq %xmm6, 96(%rax)
  movq %xmm7, 104(%rax)
  leaq 8(%rsp), %rsi
  leaq 112(%rax), %rdi
  movl $40, %ecx
  rep movsq
  ret
  .size sonictrace_dump_entry, .-sonictrace_dump_entry

  .type sonictrace_dump_return, @function
  .globl sonictrace_dump_return
sonictrace_dump_return:
  pushq %rbx
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  movq sonictrace_dumped_return@GOTPCREL(%rip), %rbx
  movq %rax, 0(%rbx)
  movq %rdx, 8(%rbx)
  movq %xmm0, 16(%rbx)
  movq %xmm1, 24(%rbx)
  fstpt 32(%rbx)          # of an empty register: a NaN
  fninit
  popq %rbx
  ret
  .size sonictrace_dump_return, .-sonictrace_dump_return
)");

namespace sonictrace {
namespace {

const char kText[] = "abc"; ///< can be read

/// How a call with these arguments is shown, by the prototype `void f(TYPES)`.
template <class... Arguments>
std::string passed(const std::string& types, Arguments... arguments) {
  const auto function = reinterpret_cast<void (*)(Arguments...)>(&sonictrace_dump_entry);
  function(arguments...);
  CapturedCall call("void f(" + types + ");");
  std::memcpy(call.entry.data(), sonictrace_dumped_entry, sizeof sonictrace_dumped_entry);
  call.memory.map(reinterpret_cast<std::uint64_t>(kText), kText);
  return call.arguments();
}

/// How `value` is shown as the result of `TYPE f()`.
template <class Value>
std::string returned(const std::string& type, const Value& value) {
  static Value static_value;
  static_value = value;
  const auto function = +[]() __attribute__((noinline))->Value { return static_value; };
  Value hidden{};
  std::memset(sonictrace_dumped_return, 0xee, sizeof sonictrace_dumped_return);
  sonictrace_dump_return(reinterpret_cast<void (*)()>(function), &hidden);

  CapturedCall call(type + " f();");
  std::memcpy(call.leave.data(), sonictrace_dumped_return, sizeof sonictrace_dumped_return);
  call.memory.map(reinterpret_cast<std::uint64_t>(&hidden),
                  {reinterpret_cast<const char*>(&hidden), sizeof hidden});
  return call.result();
}

struct Pair {
  int a, b;
};
struct Long {
  long a;
};
struct Longs {
  long a, b;
};
struct ThreeLongs {
  long a, b, c;
};
struct Doubles {
  double a, b;
};
struct Float {
  float a;
};
struct Floats2 {
  float a, b;
};
struct Floats3 {
  float a, b, c;
};
struct Floats4 {
  float a, b, c, d;
};
struct Floats5 {
  float a, b, c, d, e;
};
struct FloatArray {
  float a[3];
};
struct IntDouble {
  int a;
  double b;
};
struct DoubleInt {
  double a;
  int b;
};
struct FloatInt {
  float a;
  int b;
};
struct FloatIntFloat {
  float a;
  int b;
  float c;
};
struct FloatFloatInt {
  float a, b;
  int c;
};
struct CharDouble {
  char a;
  double b;
};
struct LongFloats {
  long a;
  float b, c;
};
struct IntFloats {
  int a;
  float b[3];
};
struct FloatsInt {
  float a[3];
  int b;
};
struct Text8 {
  char a[8];
};
struct Text12 {
  char a[12];
};
struct Text16 {
  char a[16];
};
struct Text17 {
  char a[17];
};
struct Text3 {
  char a[3];
};
struct LongDouble {
  long double a;
};
struct LongDoubleInt {
  long double a;
  int b;
};
struct Shorts {
  short a, b, c;
};
struct Bytes7 {
  signed char a[7];
};
struct InnerFirst {
  Floats2 a;
  long b;
};
struct InnerAcross {
  float a;
  struct {
    float a;
    int b;
  } b;
};
struct InnerLarge {
  float a;
  struct {
    float a;
    int b, c;
  } b;
};
struct InnerArray {
  FloatInt a[2];
};
struct Counted {
  long size;
  const char* text;
};
struct Pointers {
  const char* a;
  double b;
};
struct Empty {};

TEST(PassedValues, of_plain_types_are_found) {
  EXPECT_EQ(passed("int, char, short, uchar, long, uint", -1, 'x', short{-2},
                   static_cast<unsigned char>(200), -3L, 4u),
            "-1, 'x', -2, 200, -3, 4");
  EXPECT_EQ(passed("float, double, float", 1.5f, 2.5, -3.5f), "1.5, 2.5, -3.5");
  EXPECT_EQ(passed("int, double, long, float", 1, 2.5, 3L, 4.5f), "1, 2.5, 3, 4.5");
  EXPECT_EQ(passed("bool(char), bool(char)", true, false), "true, false");
  EXPECT_EQ(passed("wchar", L'\u00e9'), "L'\\u00e9'");
}

TEST(PassedValues, beyond_the_registers_are_on_the_stack) {
  EXPECT_EQ(passed("int,int,int,int,int,int,char,short,long,int", 1, 2, 3, 4, 5, 6, 'x', short{-8},
                   9L, 10),
            "1, 2, 3, 4, 5, 6, 'x', -8, 9, 10");
  EXPECT_EQ(passed("float,float,float,float,float,float,float,float,float,double,int,float", 1.f,
                   2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.5f, 10.5, 11, 12.5f),
            "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5, 10.5, 11, 12.5");
}

TEST(PassedValues, that_are_long_doubles_are_on_the_stack_aligned_to_16) {
  EXPECT_EQ(passed("ldouble, int", 1.5L, 2), "1.5, 2");
  EXPECT_EQ(
      passed("int,int,int,int,int,int,int,ldouble,int,ldouble", 1, 2, 3, 4, 5, 6, 7, 8.5L, 9, 0.1L),
      "1, 2, 3, 4, 5, 6, 7, 8.5, 9, 0.1");
}

TEST(PassedStructs, in_one_kind_of_register_are_found) {
  EXPECT_EQ(passed("struct(int,int)", Pair{1, 2}), "{ 1, 2 }");
  EXPECT_EQ(passed("int, struct(long), int", 1, Long{2}, 3), "1, { 2 }, 3");
  EXPECT_EQ(passed("int, struct(long,long), int", 1, Longs{2, 3}, 4), "1, { 2, 3 }, 4");
  EXPECT_EQ(passed("struct(double,double), double", Doubles{1.5, 2.5}, 3.5), "{ 1.5, 2.5 }, 3.5");
  EXPECT_EQ(
      passed("struct(float), struct(float,float), float", Float{1.5f}, Floats2{2.5f, 3.5f}, 4.5f),
      "{ 1.5 }, { 2.5, 3.5 }, 4.5");
  EXPECT_EQ(passed("struct(float,float,float), float", Floats3{1, 2, 3}, 4.f),
            "{ 1.0, 2.0, 3.0 }, 4.0");
  EXPECT_EQ(passed("double, struct(float,float,float,float), float", 0.5, Floats4{1, 2, 3, 4}, 5.f),
            "0.5, { 1.0, 2.0, 3.0, 4.0 }, 5.0");
  EXPECT_EQ(passed("struct(array(float,3)), float", FloatArray{{1, 2, 3}}, 4.f),
            "{ [ 1.0, 2.0, 3.0 ] }, 4.0");
  EXPECT_EQ(passed("struct(short,short,short), int", Shorts{1, -2, 3}, 4), "{ 1, -2, 3 }, 4");
  EXPECT_EQ(passed("struct(array(schar,7))", Bytes7{{1, 2, 3, 4, 5, 6, 7}}),
            "{ [ 1, 2, 3, 4... ] }");
  EXPECT_EQ(passed("struct(float,int), int", FloatInt{1.5f, 2}, 3), "{ 1.5, 2 }, 3");
}

TEST(PassedStructs, of_characters_are_found) {
  const std::string text = "struct(string(array(char,";
  EXPECT_EQ(passed(text + "8)))", Text8{"1234567"}), R"({ "1234567\000" })");
  EXPECT_EQ(passed(text + "3))), int", Text3{{'a', 'b', 'c'}}, 4), R"({ "abc" }, 4)");
  EXPECT_EQ(passed(text + "12))), int", Text12{"hello there"}, 4), R"({ "hello there\000" }, 4)");
  EXPECT_EQ(passed(text + "16))), int", Text16{"hello over ther"}, 4),
            R"({ "hello over ther\000" }, 4)");
  EXPECT_EQ(passed("int, " + text + "17))), int", 1, Text17{"hello over there"}, 2),
            R"(1, { "hello over there\000" }, 2)");
}

TEST(PassedStructs, in_registers_of_both_kinds_are_found) {
  EXPECT_EQ(passed("struct(int,double), int, double", IntDouble{1, 2.5}, 3, 4.5),
            "{ 1, 2.5 }, 3, 4.5");
  EXPECT_EQ(passed("int, double, struct(double,int), int", 1, 2.5, DoubleInt{3.5, 4}, 5),
            "1, 2.5, { 3.5, 4 }, 5");
  EXPECT_EQ(passed("struct(char,double)", CharDouble{'x', 2.5}), "{ 'x', 2.5 }");
  EXPECT_EQ(passed("struct(float,int,float), float", FloatIntFloat{1.5f, 2, 3.5f}, 4.5f),
            "{ 1.5, 2, 3.5 }, 4.5");
  EXPECT_EQ(passed("struct(float,float,int), int", FloatFloatInt{1.5f, 2.5f, 3}, 4),
            "{ 1.5, 2.5, 3 }, 4");
  EXPECT_EQ(passed("struct(long,float,float)", LongFloats{1, 2.5f, 3.5f}), "{ 1, 2.5, 3.5 }");
  EXPECT_EQ(passed("struct(string,double)", Pointers{nullptr, 2.5}), "{ nil, 2.5 }");
}

TEST(PassedStructs, whose_elements_lie_across_two_registers_are_found) {
  EXPECT_EQ(passed("struct(int,array(float,3))", IntFloats{1, {2, 3, 4}}),
            "{ 1, [ 2.0, 3.0, 4.0 ] }");
  EXPECT_EQ(passed("struct(array(float,3),int)", FloatsInt{{1, 2, 3}, 4}),
            "{ [ 1.0, 2.0, 3.0 ], 4 }");
  EXPECT_EQ(passed("struct(struct(float,float),long)", InnerFirst{{1, 2}, 3}),
            "{ { 1.0, 2.0 }, 3 }");
  EXPECT_EQ(passed("struct(float,struct(float,int)), int", InnerAcross{1, {2, 3}}, 4),
            "{ 1.0, { 2.0, 3 } }, 4");
  EXPECT_EQ(passed("struct(float,struct(float,int,int)), int", InnerLarge{1, {2, 3, 4}}, 5),
            "{ 1.0, { 2.0, 3, 4 } }, 5");
  EXPECT_EQ(passed("struct(array(struct(float,int),2)), int", InnerArray{{{1, 2}, {3, 4}}}, 5),
            "{ [ { 1.0, 2 }, { 3.0, 4 } ] }, 5");
}

TEST(PassedStructs, have_texts_as_long_as_their_elements_say) {
  EXPECT_EQ(passed("int, struct(long, bytes[elt1])", 1, Counted{2, kText}), R"(1, { 2, "ab" })");
}

TEST(PassedStructs, in_memory_are_found) {
  EXPECT_EQ(passed("int, struct(long,long,long), int", 1, ThreeLongs{2, 3, 4}, 5),
            "1, { 2, 3, 4 }, 5");
  EXPECT_EQ(passed("struct(float,float,float,float,float), float", Floats5{1, 2, 3, 4, 5}, 6.f),
            "{ 1.0, 2.0, 3.0, 4.0, 5.0 }, 6.0");
  EXPECT_EQ(passed("int, struct(ldouble), int", 1, LongDouble{2.5L}, 3), "1, { 2.5 }, 3");
  EXPECT_EQ(passed("int,int,int,int,int,int,int, struct(ldouble,int), int", 1, 2, 3, 4, 5, 6, 7,
                   LongDoubleInt{2.5L, 3}, 4),
            "1, 2, 3, 4, 5, 6, 7, { 2.5, 3 }, 4");
}

TEST(PassedStructs, that_find_too_few_registers_go_to_memory_whole) {
  EXPECT_EQ(passed("int,int,int,int,int,struct(long,long),int", 1, 2, 3, 4, 5, Longs{6, 7}, 8),
            "1, 2, 3, 4, 5, { 6, 7 }, 8");
  EXPECT_EQ(passed("int,int,int,int,int,int,struct(int,double),double", 1, 2, 3, 4, 5, 6,
                   IntDouble{7, 8.5}, 9.5),
            "1, 2, 3, 4, 5, 6, { 7, 8.5 }, 9.5");
  EXPECT_EQ(passed("double,double,double,double,double,double,double,struct(double,double),double",
                   1., 2., 3., 4., 5., 6., 7., Doubles{8.5, 9.5}, 10.5),
            "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, { 8.5, 9.5 }, 10.5");
}

TEST(PassedStructs, that_are_empty_take_no_place) {
  EXPECT_EQ(passed("int, struct(), int", 1, Empty{}, 2), "1, {  }, 2");
}

TEST(ReturnedValues, of_plain_types_are_found) {
  EXPECT_EQ(returned("int", -1), "-1");
  EXPECT_EQ(returned("char", 'x'), "'x'");
  EXPECT_EQ(returned("long", -2L), "-2");
  EXPECT_EQ(returned("double", 2.5), "2.5");
  EXPECT_EQ(returned("float", 2.5f), "2.5");
  EXPECT_EQ(returned("ldouble", 0.1L), "0.1");
}

TEST(ReturnedStructs, are_found_wherever_they_are) {
  EXPECT_EQ(returned("struct(int,int)", Pair{1, 2}), "{ 1, 2 }");
  EXPECT_EQ(returned("struct(long,long)", Longs{1, 2}), "{ 1, 2 }");
  EXPECT_EQ(returned("struct(double,double)", Doubles{1.5, 2.5}), "{ 1.5, 2.5 }");
  EXPECT_EQ(returned("struct(float,float,float)", Floats3{1, 2, 3}), "{ 1.0, 2.0, 3.0 }");
  EXPECT_EQ(returned("struct(int,double)", IntDouble{1, 2.5}), "{ 1, 2.5 }");
  EXPECT_EQ(returned("struct(double,int)", DoubleInt{1.5, 2}), "{ 1.5, 2 }");
  EXPECT_EQ(returned("struct(int,array(float,3))", IntFloats{1, {2, 3, 4}}),
            "{ 1, [ 2.0, 3.0, 4.0 ] }");
  EXPECT_EQ(returned("struct(string(array(char,12)))", Text12{"hello there"}),
            R"({ "hello there\000" })");
  EXPECT_EQ(returned("struct(ldouble)", LongDouble{0.1L}), "{ 0.1 }");
}

TEST(ReturnedStructs, in_memory_are_found_by_the_pointer_that_is_returned) {
  EXPECT_EQ(returned("struct(long,long,long)", ThreeLongs{1, 2, 3}), "{ 1, 2, 3 }");
  EXPECT_EQ(returned("struct(ldouble,int)", LongDoubleInt{1.5L, 2}), "{ 1.5, 2 }");
  EXPECT_EQ(returned("struct(string(array(char,17)))", Text17{"hello over there"}),
            R"({ "hello over there\000" })");
}

TEST(ReturnedStructs, in_memory_take_the_first_argument_register) {
  CapturedCall call("struct(long,long,long) f(int, int);");
  EXPECT_EQ(call.integers({0x1000, 1, 2}).arguments(), "1, 2");
}

} // namespace
} // namespace sonictrace

#endif
