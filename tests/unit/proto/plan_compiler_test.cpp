#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {
namespace {

CallPlan plan_of(std::string_view conf, const PlanOptions& options = {}) {
  PrototypeLibrary library;
  EXPECT_EQ(library.add(conf, "test.conf"), std::vector<std::string>{});
  return compile(*library.find("f", {}), options);
}

TEST(Plans, have_a_look_for_each_step) {
  for (const char* conf :
       {"void f();", "int f(string, int*, array(struct(int, string), 3)*, +addr, format);",
        "struct(int, double) f(struct(int, double), +int*);", "int f(string, scanformat);"}) {
    const CallPlan plan = plan_of(conf);
    EXPECT_EQ(plan.at_entry.size(), plan.entry_looks.size()) << conf;
    EXPECT_EQ(plan.at_return.size(), plan.return_looks.size()) << conf;
  }
}

TEST(Plans, say_which_registers_they_look_at) {
  const CallPlan integers = plan_of("int f(int, string);");
  EXPECT_FALSE(integers.vectors_at_entry || integers.vectors_at_return || integers.x87_at_return ||
               integers.keeps_words || integers.has_format);
  EXPECT_TRUE(plan_of("void f(int, float);").vectors_at_entry);
  EXPECT_TRUE(plan_of("float f();").vectors_at_return);
  EXPECT_TRUE(plan_of("struct(double, int) f();").vectors_at_return);
  EXPECT_TRUE(plan_of("ldouble f();").x87_at_return);
  EXPECT_TRUE(plan_of("int f(format);").has_format);
  EXPECT_TRUE(plan_of("int f(format);").vectors_at_entry);
  EXPECT_FALSE(plan_of("int f(vaformat, addr);").has_format);
}

TEST(Plans, keep_the_words_that_the_return_looks_at) {
  EXPECT_TRUE(plan_of("void f(+int*);").keeps_words);
  EXPECT_EQ(plan_of("void f(+int*);").kept_stack_words, 0);
  EXPECT_EQ(plan_of("void f(int,int,int,int,int,int,int,+int*);").kept_stack_words, 2);
  EXPECT_EQ(plan_of("void f(+bytes[arg8],int,int,int,int,int,int,int);").kept_stack_words, 2);
  EXPECT_TRUE(plan_of("int f(string, scanformat);").keeps_words);
}

TEST(Plans, keep_no_more_of_the_stack_than_their_number_holds) {
  const CallPlan plan =
      plan_of("void f(struct(array(long, 100000)), int,int,int,int,int,int,int, +int*);");
  EXPECT_EQ(plan.kept_stack_words, 255);
}

TEST(Plans, need_room_for_what_they_can_capture) {
  EXPECT_EQ(plan_of("void f(int);").entry_room, 12u);
  EXPECT_EQ(plan_of("void f(string);").entry_room, 4u + 8 + 33);
  EXPECT_EQ(plan_of("void f(path);").entry_room, 4u + 8 + 4096);
  EXPECT_EQ(plan_of("void f(array(int, 9)*);").entry_room, 12u + 12 + 4 * 12);
  EXPECT_EQ(plan_of("void f();").entry_room, 0u);
  EXPECT_EQ(plan_of("void f();").return_room, 0u);
}

TEST(Plans, stay_small_whatever_the_type) {
  PlanOptions options;
  options.array_limit = 100'000;
  options.string_limit = 1'000'000;
  const CallPlan plan =
      plan_of("typedef t = struct;\n"
              "typedef t = struct(t*, t*, t*, t*, array(t*, 1000)*, string, array(string, 1000));\n"
              "t* f(t*, t*, +t*);",
              options);
  EXPECT_LT(plan.at_entry.size(), 20'000u);
  EXPECT_LE(plan.entry_room, 400'000u);
  EXPECT_LE(plan.return_room, 400'000u);
}

TEST(Plans, of_nothing_show_nothing) {
  EXPECT_TRUE(empty_plan()->at_entry.empty());
  EXPECT_EQ(empty_plan()->result.shown, PlannedValue::Shown::Hidden);
}

/// Of an i386 program everything is on the stack, and words have four bytes.
TEST(Plans, of_i386_look_at_words_of_4_bytes) {
  PlanOptions options;
  options.convention = CallingConvention::SystemV32;
  const CallPlan plan = plan_of("double f(long, string, llong);", options);
  ASSERT_EQ(plan.at_entry.size(), 3u);
  EXPECT_EQ(plan.at_entry[0].size, 4);
  EXPECT_EQ(plan.at_entry[1].element_size, 4u);
  EXPECT_EQ(plan.at_entry[2].offset, wire::kStackWordsAt + 8);
  // st0 has ten bytes, though the result is a double.
  EXPECT_TRUE(plan.x87_at_return);
  EXPECT_EQ(plan.at_return.at(0).size, 16);
  EXPECT_EQ(plan.return_looks.at(0).size, 8);
}

TEST(Plans, of_system_calls_take_their_words_as_the_engine_puts_them) {
  PlanOptions options;
  options.convention = CallingConvention::Syscall64;
  const CallPlan plan = plan_of("int f(int, int, int, int);", options);
  ASSERT_EQ(plan.at_entry.size(), 4u);
  EXPECT_EQ(plan.at_entry[3].offset, 24u);
}

} // namespace
} // namespace sonictrace::proto
