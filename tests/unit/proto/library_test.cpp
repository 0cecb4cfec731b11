#include <gtest/gtest.h>

#include "sonictrace/proto/capture_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {
namespace {

TEST(PrototypeLibrary, gives_the_guess_for_an_unknown_function) {
  const auto guess = PrototypeLibrary().find("nobody_knows_me");

  ASSERT_NE(guess, nullptr);
  EXPECT_TRUE(guess->guessed);
  EXPECT_EQ(guess->parameters.size(), 4u);
  EXPECT_EQ(guess->result.lens, Lens::Guess);
}

TEST(PrototypeLibrary, keeps_the_first_of_two_prototypes_of_one_name) {
  PrototypeLibrary library;
  (void)library.add("int f(int);\nlong f();\n", "a.conf");
  (void)library.add("void f();\n", "b.conf");

  EXPECT_EQ(library.size(), 1u);
  EXPECT_EQ(library.find("f")->result.lens, Lens::Int);
}

TEST(PrototypeLibrary, reports_errors_with_the_name_of_the_file) {
  PrototypeLibrary library;

  const auto errors = library.add("int good();\nint bad(nothing);\n", "dir/my.conf");

  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "dir/my.conf:2:9: unknown type `nothing`");
  EXPECT_EQ(library.size(), 1u);
}

TEST(BuiltInPrototypes, know_the_common_functions_of_the_c_library) {
  const PrototypeLibrary library = PrototypeLibrary::built_in();

  EXPECT_GT(library.size(), 250u);
  EXPECT_EQ(library.find("strlen")->parameters.at(0).lens, Lens::String);
  EXPECT_EQ(library.find("strlen")->result.lens, Lens::ULong);
  EXPECT_EQ(library.find("open")->parameters.at(0).lens, Lens::Path);
  EXPECT_EQ(library.find("free")->result.lens, Lens::Void);
  EXPECT_EQ(library.find("write")->parameters.at(1).lens, Lens::Bytes);
  EXPECT_EQ(library.find("write")->parameters.at(1).length_argument, 3);
  EXPECT_EQ(library.find("getpid")->parameters.size(), 0u);
}

TEST(CapturePlan, has_a_step_for_each_value_that_is_shown) {
  PrototypeLibrary library;
  (void)library.add("string f(int, hide(int), string, path, bytes[arg6], ulong);", "t.conf");

  const CapturePlan plan = compile(*library.find("f"), 10);

  using wire::CaptureKind;
  ASSERT_EQ(plan.at_entry.size(), 5u);
  EXPECT_EQ(plan.at_entry[0].kind, CaptureKind::Word);
  EXPECT_EQ(plan.at_entry[1].kind, CaptureKind::String);
  EXPECT_EQ(plan.at_entry[1].argument, 2);
  EXPECT_EQ(plan.at_entry[1].limit, 10);
  EXPECT_EQ(plan.at_entry[2].limit, 4095) << "paths are copied whole";
  EXPECT_EQ(plan.at_entry[3].kind, CaptureKind::Bytes);
  EXPECT_EQ(plan.at_entry[3].length_argument, 5);
  EXPECT_EQ(plan.argument_words, 6);
  ASSERT_EQ(plan.at_return.size(), 1u);
  EXPECT_EQ(plan.at_return[0].kind, CaptureKind::String);
}

TEST(CapturePlan, looks_at_the_argument_that_holds_a_length_though_it_is_hidden) {
  PrototypeLibrary library;
  (void)library.add("int f(string[arg2], hide(int));", "t.conf");

  EXPECT_EQ(compile(*library.find("f"), 32).argument_words, 2);
}

TEST(CapturePlan, copies_nothing_of_a_void_function_without_parameters) {
  PrototypeLibrary library;
  (void)library.add("void f();", "t.conf");

  const CapturePlan plan = compile(*library.find("f"), 32);

  EXPECT_TRUE(plan.at_entry.empty());
  EXPECT_TRUE(plan.at_return.empty());
  EXPECT_EQ(plan.argument_words, 0);
  EXPECT_EQ(plan.entry_room, 0u);
}

TEST(CapturePlan, needs_four_words_for_the_guess) {
  const CapturePlan plan = compile(*Prototype::unknown(), 32);

  EXPECT_EQ(plan.at_entry.size(), 4u);
  EXPECT_EQ(plan.argument_words, 4);
  EXPECT_EQ(plan.entry_room, 4 * 12u);
  EXPECT_EQ(plan.return_room, 12u);
}

TEST(CapturePlan, takes_any_string_limit) {
  PrototypeLibrary library;
  (void)library.add("string f(string);", "t.conf");

  const CapturePlan plan = compile(*library.find("f"), 4'000'000'000u);

  EXPECT_EQ(plan.at_entry[0].limit, wire::kMaxCaptureLimit);
  EXPECT_GT(plan.entry_room, wire::kMaxCaptureLimit);
}

} // namespace
} // namespace sonictrace::proto
