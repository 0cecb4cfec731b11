// Arguments that are shown only where they are there, or were filled.
#include <gtest/gtest.h>

#include "support/captured_call.hpp"

namespace sonictrace {
namespace {

TEST(Out_parameters, of_which_nothing_was_filled_show_their_pointer) {
  CapturedCall call("int f(+?int*, +!int*, +int*);");
  for (const std::uint64_t at : {0x1000u, 0x2000u, 0x3000u})
    call.memory.map(at, std::string_view("\7\0\0\0", 4));
  call.integers({0x1000, 0x2000, 0x3000});
  EXPECT_EQ(call.returns(1).arguments(), "7, 7, 7");
  EXPECT_EQ(call.returns(0).arguments(), "0x1000, 7, 7");
  EXPECT_EQ(call.returns(0xffff'ffff).arguments(), "0x1000, 7, 7");
}

TEST(Out_parameters, of_built_in_functions_that_failed_show_their_pointer) {
  const auto library = proto::PrototypeLibrary::built_in();
  const auto shown = [&](const char* name, std::uint64_t result) {
    CapturedCall call("int f();");
    call.plan = proto::compile(*library.find(name, "libc.so.6"), {});
    call.memory.map(0x1000, std::string(64, '\0'));
    return call.integers({0x1000, 0x1000, 0x1000}).returns(result).arguments();
  };
  EXPECT_EQ(shown("pipe", 0), "[ 0, 0 ]");
  EXPECT_EQ(shown("pipe", 0xffff'ffff), "0x1000");
  EXPECT_EQ(shown("waitpid", 0), "4096, 0x1000, 0x1000");
}

TEST(Lengths, may_be_the_lesser_of_two_or_a_product) {
  CapturedCall call("long f(+bytes[min(arg2, retval)], long, bytes[arg4*arg2], long);");
  call.memory.map(0x1000, "0123secret");
  call.integers({0x1000, 4, 0x1000, 2});
  EXPECT_EQ(call.returns(40).arguments(), "\"0123\", 4, \"0123secr\", 2");
  EXPECT_EQ(call.returns(2).arguments(), "\"01\", 4, \"0123secr\", 2");
  EXPECT_EQ(call.returns(~std::uint64_t{0}).arguments(), "0x1000, 4, \"0123secr\", 2");
}

TEST(Arguments_that_depend_on_others, are_left_out_where_they_were_not_passed) {
  CapturedCall call("typedef c = enum(GET=3, SET, CLEAR=-1);\n"
                    "int f(int, c, unless[arg2](GET, -1) hex(int), int);");
  EXPECT_EQ(call.integers({5, 3, 0x7fff1234, 9}).returns(0).arguments(), "5, GET, 9");
  EXPECT_EQ(call.integers({5, 4, 0x7fff1234, 9}).returns(0).arguments(), "5, SET, 0x7fff1234, 9");
  EXPECT_EQ(call.integers({5, 0xffff'ffff, 1, 9}).returns(0).arguments(), "5, CLEAR, 9");
}

TEST(Scanned_arguments, are_those_that_were_stored) {
  struct Row {
    const char* format;
    std::uint64_t result;
    const char* expected;
  };
  const Row rows[] = {
      {"%d%n", 1, "\"%d%n\", 7, 7"},
      {"%d,%n", 1, "\"%d,%n\", 7, 0x1000"}, // the comma may not have been there
      {"%d%*d%n", 1, "\"%d%*d%n\", 7, 0x1000"},
      {"%d %n", 1, "\"%d %n\", 7, 7"},
      {"%d,%n%d", 2, "\"%d,%n%d\", 7, 7, 7"},
      {"%2$d %1$d", 1, "\"%2$d %1$d\", 0x1000, 7"},
      {"%5c", 1, "\"%5c\", 0x1000"}, // how many there were nobody says
      {"%4c%d", 2, "\"%4c%d\", \"\\a\\000\\000\\000\", 7"},
      {"%d", 0xffff'ffff, "\"%d\", 0x1000"},
  };
  for (const Row& row : rows) {
    CapturedCall call("int f(scanformat);");
    call.memory.map(0x1000, std::string_view("\7\0\0\0", 4));
    call.memory.map(0x2000, std::string(row.format) + '\0');
    call.integers({0x2000, 0x1000, 0x1000, 0x1000});
    EXPECT_EQ(call.returns(row.result).arguments(), row.expected) << row.format;
  }
}

TEST(Structs_in_themselves, show_as_many_levels_as_there_is_room_for) {
  const auto shown = [](std::uint32_t limit) {
    CapturedCall call("typedef node = struct;\ntypedef node = struct(int, node*, node*);\n"
                      "void f(node*);",
                      {.array_limit = limit});
    const auto node = [](char value, std::uint64_t left, std::uint64_t right) {
      std::string bytes{value, 0, 0, 0, 0, 0, 0, 0};
      bytes.append(reinterpret_cast<const char*>(&left), 8);
      return bytes.append(reinterpret_cast<const char*>(&right), 8);
    };
    call.memory.map(0x1000, node(1, 0x2000, 0x3000));
    call.memory.map(0x2000, node(2, 0, 0));
    call.memory.map(0x3000, node(3, 0, 0));
    return call.integers({0x1000}).returns(0).arguments();
  };
  for (const std::uint32_t limit : {4u, 8u, 12u, 100u})
    EXPECT_EQ(shown(limit), "{ 1, { 2, nil, nil }, { 3, nil, nil } }") << limit;
}

} // namespace
} // namespace sonictrace
