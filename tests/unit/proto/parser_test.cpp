#include "proto/parser.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace sonictrace::proto {
namespace {

struct TypeCase {
  const char* type;
  Parameter expected;
};

void PrintTo(const TypeCase& tested, std::ostream* out) { *out << tested.type; }

class ParameterType : public testing::TestWithParam<TypeCase> {};

TEST_P(ParameterType, is_read_as_documented) {
  const ParsedConf parsed =
      parse_conf(std::string("int f(long, ") + GetParam().type + ", long);", "t.conf");

  ASSERT_EQ(parsed.errors, std::vector<std::string>{});
  ASSERT_EQ(parsed.prototypes.size(), 1u);
  ASSERT_EQ(parsed.prototypes[0].parameters.size(), 3u);
  EXPECT_TRUE(parsed.prototypes[0].parameters[1] == GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Conf, ParameterType,
    testing::Values(
        TypeCase{"char", {Lens::Char, 1, 0}}, TypeCase{"short", {Lens::Short, 2, 0}},
        TypeCase{"ushort", {Lens::UShort, 2, 0}}, TypeCase{"int", {Lens::Int, 4, 0}},
        TypeCase{"uint", {Lens::UInt, 4, 0}}, TypeCase{"long", {Lens::Long, 8, 0}},
        TypeCase{"ulong", {Lens::ULong, 8, 0}}, TypeCase{"addr", {Lens::Address, 8, 0}},
        TypeCase{"file", {Lens::Address, 8, 0}}, TypeCase{"octal", {Lens::Octal, 4, 0}},
        TypeCase{"string", {Lens::String, 8, 0}}, TypeCase{"format", {Lens::String, 8, 0}},
        TypeCase{"path", {Lens::Path, 8, 0}}, TypeCase{"string3", {Lens::String, 8, 3}},
        TypeCase{"string[arg3]", {Lens::String, 8, 3}},
        TypeCase{"string[ arg1 ]", {Lens::String, 8, 1}},
        TypeCase{"string0", {Lens::Pointer, 8, 0}}, TypeCase{"bytes[arg3]", {Lens::Bytes, 8, 3}},
        TypeCase{"hex(int)", {Lens::Hex, 4, 0}}, TypeCase{"hex( ulong )", {Lens::Hex, 8, 0}},
        TypeCase{"oct(ushort)", {Lens::Octal, 2, 0}}, TypeCase{"bool(char)", {Lens::Bool, 1, 0}},
        TypeCase{"hide(int)", {Lens::Hide, 4, 0}}, TypeCase{"+int", {Lens::Pointer, 8, 0}},
        TypeCase{"+string[arg1]", {Lens::Pointer, 8, 0}}, TypeCase{"int*", {Lens::Pointer, 8, 0}},
        TypeCase{"void *", {Lens::Pointer, 8, 0}}));

TEST(Conf, reads_name_result_and_parameters_in_order) {
  const auto parsed = parse_conf("string strchr(string, char);", "t.conf");

  ASSERT_EQ(parsed.prototypes.size(), 1u);
  const Prototype& prototype = parsed.prototypes[0];
  EXPECT_EQ(prototype.name, "strchr");
  EXPECT_EQ(prototype.result.lens, Lens::String);
  EXPECT_FALSE(prototype.guessed);
  ASSERT_EQ(prototype.parameters.size(), 2u);
  EXPECT_EQ(prototype.parameters[0].lens, Lens::String);
  EXPECT_EQ(prototype.parameters[1].lens, Lens::Char);
}

TEST(Conf, ignores_comments_blank_lines_and_what_follows_the_parenthesis) {
  const auto parsed = parse_conf("; a comment\n"
                                 "# another one\n"
                                 "\n"
                                 " \t\r\n"
                                 "  int f();\r\n"
                                 "int g()\n"
                                 "int h(int); ; a remark\n"
                                 "function int i(void);",
                                 "t.conf");

  EXPECT_EQ(parsed.errors, std::vector<std::string>{});
  ASSERT_EQ(parsed.prototypes.size(), 4u);
  EXPECT_EQ(parsed.prototypes[0].name, "f");
  EXPECT_EQ(parsed.prototypes[3].name, "i");
  EXPECT_TRUE(parsed.prototypes[3].parameters.empty()) << "void is no parameter";
}

TEST(Conf, knows_a_typedef_from_its_line_on) {
  const auto parsed = parse_conf("typedef size_t = ulong;\n"
                                 "typedef mode = oct(uint);\n"
                                 "size_t f(mode, size_t);\n",
                                 "t.conf");

  EXPECT_EQ(parsed.errors, std::vector<std::string>{});
  ASSERT_EQ(parsed.prototypes.size(), 1u);
  EXPECT_EQ(parsed.prototypes[0].result.lens, Lens::ULong);
  EXPECT_EQ(parsed.prototypes[0].parameters[0].lens, Lens::Octal);
}

struct ErrorCase {
  const char* line;
  const char* expected; ///< behind `t.conf:2:`
};

void PrintTo(const ErrorCase& tested, std::ostream* out) { *out << tested.line; }

class MalformedLine : public testing::TestWithParam<ErrorCase> {};

TEST_P(MalformedLine, is_reported_with_its_place_and_costs_only_itself) {
  const auto parsed =
      parse_conf(std::string("int before();\n") + GetParam().line + "\nint after();\n", "t.conf");

  EXPECT_EQ(parsed.errors,
            (std::vector<std::string>{std::string("t.conf:2:") + GetParam().expected}));
  ASSERT_EQ(parsed.prototypes.size(), 2u);
  EXPECT_EQ(parsed.prototypes[0].name, "before");
  EXPECT_EQ(parsed.prototypes[1].name, "after");
}

INSTANTIATE_TEST_SUITE_P(
    Conf, MalformedLine,
    testing::Values(
        ErrorCase{"uchar f(int);", "1: unknown type `uchar`"},
        ErrorCase{"int f(int, size_t);", "12: unknown type `size_t`"},
        ErrorCase{"int f(double);", "7: unknown type `double`"},
        ErrorCase{"int f(hex);", "10: `(` expected"},
        ErrorCase{"int f(int", "10: `,` or `)` expected"},
        ErrorCase{"int f(int int)", "11: `,` or `)` expected"},
        ErrorCase{"int f(,)", "7: a type expected"},
        ErrorCase{"int f(int,)", "11: a type expected"}, ErrorCase{"int f", "6: `(` expected"},
        ErrorCase{"int (int)", "5: the name of a function expected"},
        ErrorCase{"int", "4: the name of a function expected"},
        ErrorCase{"= int", "1: a type expected"}, ErrorCase{"typedef x", "10: `=` expected"},
        ErrorCase{"typedef = int;", "9: a name expected behind typedef"},
        ErrorCase{"typedef x = struct;", "13: unknown type `struct`"},
        ErrorCase{"int f(string[n]);", "15: argN expected between `[` and `]`"},
        ErrorCase{"int f(string[arg0]);", "18: argN expected between `[` and `]`"},
        ErrorCase{"int f(string[arg999]);", "20: argN expected between `[` and `]`"},
        ErrorCase{"int f(string[arg2]);", "20: the argument that gives a length does not exist"},
        ErrorCase{"int f(int, void);", "17: void is no type of a parameter"},
        ErrorCase{"int f(int, ...);", "12: unknown type `...`"}));

TEST(Conf, refuses_lenses_without_end_in_each_other) {
  std::string line = "int f(";
  for (int depth = 0; depth < 100000; ++depth)
    line += "hex(";

  EXPECT_EQ(parse_conf(line, "t.conf").errors.size(), 1u);
}

TEST(Conf, takes_any_bytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    (void)parse_conf(text, "t.conf");
    (void)parse_conf("int f(" + text, "t.conf");
  }
}

} // namespace
} // namespace sonictrace::proto
