#include "proto/parser.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "sonictrace/proto/call_plan.hpp"
#include "unit/proto/show_type.hpp"

namespace sonictrace::proto {
namespace {

/// A parsed text with the types that it needs.
struct Conf {
  explicit Conf(const std::string& text, Dialect dialect = Dialect::Current)
      : parsed(parse_conf(text, "t.conf", {dialect, arena, scope, {}})) {}

  const Prototype& only() const { return parsed.prototypes.at(0); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Prototype& prototype : parsed.prototypes)
      names.push_back(prototype.name);
    return names;
  }

  TypeArena arena;
  ConfScope scope;
  ParsedConf parsed;
};

using Strings = std::vector<std::string>;

struct TypeCase {
  const char* type;
  const char* expected;
};

void PrintTo(const TypeCase& tested, std::ostream* out) { *out << tested.type; }

class ParameterType : public testing::TestWithParam<TypeCase> {};

TEST_P(ParameterType, is_read_as_documented) {
  const Conf conf(std::string("int f(long, ") + GetParam().type + ", long);");

  ASSERT_EQ(conf.parsed.errors, Strings{});
  ASSERT_EQ(conf.parsed.prototypes.size(), 1u);
  ASSERT_EQ(conf.only().parameters.size(), 3u);
  EXPECT_EQ(show(*conf.only().parameters[1].type), GetParam().expected);
  EXPECT_EQ(conf.only().parameters[1].out, GetParam().type[0] == '+');
}

INSTANTIATE_TEST_SUITE_P(
    Plain, ParameterType,
    testing::Values(TypeCase{"char", "c"}, TypeCase{"short", "i2"}, TypeCase{"ushort", "u2"},
                    TypeCase{"int", "i4"}, TypeCase{"uint", "u4"}, TypeCase{"long", "iword"},
                    TypeCase{"ulong", "uword"}, TypeCase{"float", "f4"}, TypeCase{"double", "f8"},
                    TypeCase{"addr", "addr:>void"}, TypeCase{"file", "addr:>void"},
                    TypeCase{"octal", "oct:u4"}, TypeCase{"schar", "i1"}, TypeCase{"uchar", "u1"},
                    TypeCase{"llong", "i8"}, TypeCase{"ullong", "u8"}, TypeCase{"ldouble", "f16"},
                    TypeCase{"wchar", "w4"}));

INSTANTIATE_TEST_SUITE_P(
    Texts, ParameterType,
    testing::Values(
        TypeCase{"string", "text:>[c -/0]"}, TypeCase{"format", "format:>[c -/0]"},
        TypeCase{"path", "path:>[c -/0]"}, TypeCase{"wstring", "text:>[w4 -/0]"},
        TypeCase{"vaformat", "vaformat:>[c -/0]"}, TypeCase{"scanformat", "scanformat:>[c -/0]"},
        TypeCase{"string3", "text:>[c arg3/0]"}, TypeCase{"string0", "text:>[c retval/0]"},
        TypeCase{"string[arg3]", "text:>[c arg3/0]"},
        TypeCase{"string[ arg1 ]", "text:>[c arg1/0]"},
        TypeCase{"string[arg0]", "text:>[c retval/0]"},
        TypeCase{"string[retval]", "text:>[c retval/0]"}, TypeCase{"string[16]", "text:>[c 16/0]"},
        TypeCase{"string[zero]", "text:>[c -/0]"},
        TypeCase{"string[zero(arg1)]", "text:>[c arg1/0]"},
        TypeCase{"bytes[arg3]", "bytes:>[c arg3]"}, TypeCase{"bytes[zero(8)]", "bytes:>[c 8/0]"},
        TypeCase{"path[108]", "path:>[c 108/0]"}, TypeCase{"wstring[arg3]", "text:>[w4 arg3/0]"},
        TypeCase{"string(char*)", "text:>c"},
        TypeCase{"string(array(char, arg3)*)", "text:>[c arg3]"},
        TypeCase{"string(array(char, zero(5))*)", "text:>[c 5/0]"},
        TypeCase{"string(array(char, 6))", "text:>text:[c 6]"}, TypeCase{"path(char*)", "path:>c"},
        TypeCase{"bytes(array(char, 4)*)", "bytes:>[c 4]"}, TypeCase{"string(int)", "i4"},
        TypeCase{"string(int*)", ">i4"}));

INSTANTIATE_TEST_SUITE_P(
    Lenses, ParameterType,
    testing::Values(TypeCase{"hex(int)", "hex:i4"}, TypeCase{"hex( ulong )", "hex:uword"},
                    TypeCase{"oct(ushort)", "oct:u2"}, TypeCase{"bool(char)", "bool:c"},
                    TypeCase{"guess(long)", "guess:iword"}, TypeCase{"hide(int)", "hide:i4"},
                    TypeCase{"bitvec(uint)", "bits:u4"}, TypeCase{"hex(double)", "hex:f8"},
                    TypeCase{"oct(double)", "f8"}, TypeCase{"hex(oct(int))", "hex:i4"},
                    TypeCase{"hex(int*)", ">hex:i4"}, TypeCase{"hex(void*)", "hex:>void"},
                    TypeCase{"hex(addr)", "hex:>void"}, TypeCase{"hex(string)", "hex:>[c -/0]"},
                    TypeCase{"hex(array(int, 2)*)", ">[hex:i4 2]"},
                    TypeCase{"hex(struct(int, short*)*)", ">{hex:i4 >hex:i2}"},
                    TypeCase{"hex(struct(hide(int), int))", "{hide:i4 hex:i4}"},
                    TypeCase{"hide(struct(int))", "hide:{i4}"},
                    TypeCase{"bitvec(array(char, 4)*)", ">bits:[c 4]"},
                    TypeCase{"bitvec(array(char, 4))", ">bits:[c 4]"},
                    TypeCase{"bitvec(struct(int)*)", ">bits:{i4}"}));

INSTANTIATE_TEST_SUITE_P(
    Compound, ParameterType,
    testing::Values(TypeCase{"int*", ">i4"}, TypeCase{"int * *", ">>i4"},
                    TypeCase{"void *", ">void"}, TypeCase{"+int*", ">i4"},
                    TypeCase{"+string[arg1]", "text:>[c arg1/0]"},
                    TypeCase{"+ string", "text:>[c -/0]"}, TypeCase{"struct()", "{}"},
                    TypeCase{"struct(int, double)", "{i4 f8}"},
                    TypeCase{"struct(long, array(int, elt1))*", ">{iword [i4 elt1]}"},
                    TypeCase{"struct(long, array(int, elt1)*)", "{iword >[i4 elt1]}"},
                    TypeCase{"array(int, 12)*", ">[i4 12]"}, TypeCase{"array(int, 12)", ">[i4 12]"},
                    TypeCase{"array(int, arg3)*", ">[i4 arg3]"},
                    TypeCase{"array(string, zero)", ">[text:>[c -/0] -/0]"},
                    TypeCase{"array(string, zero(arg1))", ">[text:>[c -/0] arg1/0]"},
                    TypeCase{"array(array(int, 2), 0x3)", ">[[i4 2] 3]"}));

INSTANTIATE_TEST_SUITE_P(
    Names, ParameterType,
    testing::Values(TypeCase{"enum(A)", "enum:i4(A=0)"},
                    TypeCase{"enum(A, B, C=7, D)", "enum:i4(A=0 B=1 C=7 D=8)"},
                    TypeCase{"enum[char](A=0x10,B=-1,C=017)", "enum:c(A=16 B=-1 C=15)"},
                    TypeCase{"enum [ulong] (A=0xffffffffffffffff)", "enum:uword(A=-1)"},
                    TypeCase{"enum[addr](SIG_DFL, SIG_IGN)", "enum:>void(SIG_DFL=0 SIG_IGN=1)"},
                    TypeCase{"flags(A=1,B=0x2)", "flags:u4(A=1 B=2)"},
                    TypeCase{"flags[long](A=1)", "flags:iword(A=1)"},
                    TypeCase{"hex(enum(A))", "hex:i4(A=0)"}));

INSTANTIATE_TEST_SUITE_P(
    TwoLengths, ParameterType,
    testing::Values(TypeCase{"bytes[min(arg3, retval)]", "bytes:>[c arg3|retval]"},
                    TypeCase{"bytes[min(retval,arg1)]", "bytes:>[c retval|arg1]"},
                    TypeCase{"bytes[arg1*arg3]", "bytes:>[c arg1*arg3]"},
                    TypeCase{"+bytes[ arg1 * retval ]", "bytes:>[c arg1*retval]"},
                    TypeCase{"bytes[4*arg1]", "bytes:>[c arg1*4]"},
                    TypeCase{"bytes[3*4]", "bytes:>[c 12]"},
                    TypeCase{"bytes[min(16, arg1)]", "bytes:>[c arg1|16]"},
                    TypeCase{"bytes[min(3, 4)]", "bytes:>[c 3]"},
                    TypeCase{"string[min(arg1, retval)]", "text:>[c arg1|retval/0]"},
                    TypeCase{"string[zero(min(arg1, arg3))]", "text:>[c arg1|arg3/0]"},
                    TypeCase{"array(uint, min(arg1, retval))", ">[u4 arg1|retval]"},
                    TypeCase{"array(uint, arg1*2)*", ">[u4 arg1*2]"},
                    TypeCase{"struct(array(char, 2*3), int)", "{[c 6] i4}"}));

INSTANTIATE_TEST_SUITE_P(WideFormats, ParameterType,
                         testing::Values(TypeCase{"wformat", "format:>[w4 -/0]"},
                                         TypeCase{"vawformat", "vaformat:>[w4 -/0]"},
                                         TypeCase{"wscanformat", "scanformat:>[w4 -/0]"}));

TEST(Conf, knows_when_what_was_filled_is_shown) {
  using When = Parameter::When;
  const Conf conf("int f(int*, +int*, +?int*, +! int*, + ? int*);\n");

  ASSERT_EQ(conf.parsed.errors, Strings{});
  std::vector<When> when;
  std::vector<bool> out;
  for (const Parameter& parameter : conf.only().parameters) {
    when.push_back(parameter.when);
    out.push_back(parameter.out);
  }
  EXPECT_EQ(when, (std::vector<When>{When::Default, When::Default, When::IfPositive, When::Always,
                                     When::IfPositive}));
  EXPECT_EQ(out, (std::vector<bool>{false, true, true, true, true}));
}

TEST(Conf, knows_for_which_values_of_another_parameter_one_is_not_there) {
  const Conf conf("typedef op = enum(NONE, GET=-1, SET=0x7f);\n"
                  "int f(int, op, unless[arg2](NONE, GET, 9) long, +addr*,\n"
                  "      unless [ arg1 ] ( -2 ) +!int*);\n");

  ASSERT_EQ(conf.parsed.errors, Strings{});
  const std::vector<Parameter>& parameters = conf.only().parameters;
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_EQ(parameters[1].depends_on, 0);
  EXPECT_EQ(parameters[2].depends_on, 2);
  EXPECT_EQ(parameters[2].absent_for, (std::vector<std::int64_t>{0, -1, 9}));
  EXPECT_EQ(show(*parameters[2].type), "iword");
  EXPECT_FALSE(parameters[2].out);
  EXPECT_EQ(parameters[3].depends_on, 0);
  EXPECT_EQ(parameters[4].depends_on, 1);
  EXPECT_EQ(parameters[4].absent_for, (std::vector<std::int64_t>{-2}));
  EXPECT_TRUE(parameters[4].out);
  EXPECT_EQ(parameters[4].when, Parameter::When::Always);
}

TEST(Conf, takes_unless_as_the_name_of_a_type_too) {
  const Conf conf("typedef unless = short;\nint f(unless, unless*);\n");

  ASSERT_EQ(conf.parsed.errors, Strings{});
  EXPECT_EQ(show(*conf.only().parameters[0].type), "i2");
  EXPECT_EQ(show(*conf.only().parameters[1].type), ">i2");
}

TEST(Conf, skips_a_byte_order_mark_at_the_beginning_only) {
  const Conf conf("\xef\xbb\xbfint f();\n\xef\xbb\xbfint g();\n");

  EXPECT_EQ(conf.names(), (Strings{"f"}));
  EXPECT_EQ(conf.parsed.errors, (Strings{"t.conf:2:1: error: a type expected"}));
  EXPECT_EQ(Conf("\xef\xbb\xbfint f(", Dialect::Current).parsed.errors,
            (Strings{"t.conf:1:7: error: a type expected"}))
      << "columns are counted behind it";
}

TEST(Conf, leaves_out_a_typedef_with_something_behind_it) {
  const Conf conf("typedef w = enum(a)(b);\nw f();\ntypedef s = struct int;\n"
                  "typedef s = struct # remark\ntypedef t = int # remark\nt g(s*);\n");

  EXPECT_EQ(conf.parsed.errors,
            (Strings{"t.conf:1:20: error: `;` expected", "t.conf:2:1: error: unknown type `w`",
                     "t.conf:3:20: error: `;` expected"}));
  EXPECT_EQ(conf.names(), (Strings{"g"}));
}

TEST(Conf, reads_name_result_and_parameters_in_order) {
  const Conf conf("string strchr(string, char);");

  ASSERT_EQ(conf.parsed.prototypes.size(), 1u);
  const Prototype& prototype = conf.only();
  EXPECT_EQ(prototype.name, "strchr");
  EXPECT_EQ(show(*prototype.result), "text:>[c -/0]");
  EXPECT_FALSE(prototype.guessed);
  ASSERT_EQ(prototype.parameters.size(), 2u);
  EXPECT_EQ(show(*prototype.parameters[0].type), "text:>[c -/0]");
  EXPECT_EQ(show(*prototype.parameters[1].type), "c");
}

TEST(Conf, takes_the_names_that_linkers_know) {
  const Conf conf("int SYS_read();\nvoid _ZN3fooC1Ev(addr);\nint a.part.0();\nint f@VERS_1();\n"
                  "int ns::g$x~();\n");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  EXPECT_EQ(conf.names(), (Strings{"SYS_read", "_ZN3fooC1Ev", "a.part.0", "f@VERS_1", "ns::g$x~"}));
}

TEST(Conf, ignores_comments_blank_lines_and_what_follows_the_parenthesis) {
  const Conf conf("; a comment\n"
                  "# another one\n"
                  "\n"
                  " \t\r\n"
                  "  int f();\r\n"
                  "int g()\n"
                  "int h(int); ; a remark\n"
                  "int h2(int) ) (; int lost();\n"
                  "function int i(void);");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  EXPECT_EQ(conf.names(), (Strings{"f", "g", "h", "h2", "i"}));
  EXPECT_TRUE(conf.parsed.prototypes[4].parameters.empty()) << "void is no parameter";
}

TEST(Conf, knows_a_typedef_from_its_line_on) {
  const Conf conf("typedef size_t = ulong;\n"
                  "typedef mode = oct(uint) ; a remark\n"
                  "size_t f(mode, size_t*);\n");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  EXPECT_EQ(show(*conf.only().result), "uword");
  EXPECT_EQ(show(*conf.only().parameters[0].type), "oct:u4");
  EXPECT_EQ(show(*conf.only().parameters[1].type), ">uword");
}

TEST(Conf, reads_structs_in_themselves) {
  const Conf conf("typedef list = struct;\n"
                  "typedef pair = struct(list*, list*);\n"
                  "typedef list = struct(int, list*, pair*);\n"
                  "list* f(list, pair);\n"
                  "int g(hex(list));\n");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  const Prototype& f = conf.only();
  const Type& list = *f.parameters[0].type;
  EXPECT_EQ(list.fields.at(1)->target, &list);
  EXPECT_EQ(f.result->target, &list);
  EXPECT_EQ(f.parameters[1].type->fields.at(0)->target, &list);
  EXPECT_FALSE(list.is_declared_only);
  const Type& hex = *conf.parsed.prototypes.at(1).parameters.at(0).type;
  EXPECT_EQ(hex.fields.at(0)->lens, Lens::Hex);
  EXPECT_EQ(hex.fields.at(1)->target, &hex) << "a lens goes around the circle";
}

TEST(Conf, leaves_a_struct_that_is_never_defined_to_pointers) {
  const Conf conf("typedef FILE = struct;\nFILE* f(FILE*, hex(FILE*), FILE**);\n");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  EXPECT_TRUE(conf.only().result->target->is_declared_only);
}

TEST(Conf, shows_an_array_that_is_returned_as_what_the_result_points_to) {
  const Conf conf("array(int, 3) f();\nstring(array(char, arg1)) g(int);\n");

  EXPECT_EQ(show(*conf.parsed.prototypes.at(0).result), ">[i4 3]");
  EXPECT_EQ(show(*conf.parsed.prototypes.at(1).result), "text:>text:[c arg1]");
}

TEST(Conf, lets_an_item_go_on_in_indented_lines_while_a_parenthesis_is_open) {
  const Conf conf("typedef mode = flags(A=1, ; first\n"
                  "; a line of remarks\n"
                  "                     B=2,\n"
                  "\n"
                  "\t# and another\n"
                  "  C=4\n"
                  ");\n"
                  "int f(int,\n"
                  "      mode);\n"
                  "  int g();\n");

  EXPECT_EQ(conf.parsed.errors, Strings{});
  EXPECT_EQ(conf.names(), (Strings{"f", "g"}));
  EXPECT_EQ(show(*conf.only().parameters.at(1).type), "flags:u4(A=1 B=2 C=4)");
}

struct ErrorCase {
  const char* line;
  const char* expected; ///< behind `t.conf:LINE:`
};

void PrintTo(const ErrorCase& tested, std::ostream* out) { *out << tested.line; }

class MalformedLine : public testing::TestWithParam<ErrorCase> {};

TEST_P(MalformedLine, is_reported_with_its_place_and_costs_only_itself) {
  const Conf conf(std::string("typedef fwd = struct;\ntypedef known = int;\nint before();\n") +
                  GetParam().line + "\nint after();\n");

  EXPECT_EQ(conf.parsed.errors, (Strings{std::string("t.conf:4:") + GetParam().expected}));
  EXPECT_EQ(conf.names(), (Strings{"before", "after"}));
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, MalformedLine,
    testing::Values(
        ErrorCase{"int f(hex);", "7: error: unknown type `hex`"},
        ErrorCase{"int f(int", "10: error: `,` or `)` expected"},
        ErrorCase{"int f(int int)", "11: error: `,` or `)` expected"},
        ErrorCase{"int f(,)", "7: error: a type expected"},
        ErrorCase{"int f(int,)", "11: error: a type expected"},
        ErrorCase{"int f", "6: error: `(` expected"},
        ErrorCase{"int (int)", "5: error: the name of a function expected"},
        ErrorCase{"int", "4: error: the name of a function expected"},
        ErrorCase{"= int", "1: error: a type expected"},
        ErrorCase{"typedef x", "10: error: `=` expected"},
        ErrorCase{"typedef = int;", "9: error: a name expected behind typedef"},
        ErrorCase{"typedef x = ;", "13: error: a type expected"},
        ErrorCase{"typedef x = int y;", "17: error: `;` expected"},
        ErrorCase{"typedef x = int);", "16: error: `;` expected"},
        ErrorCase{"int f(+?!int*);", "9: error: a type expected"},
        ErrorCase{"int f(?int*);", "7: error: a type expected"},
        ErrorCase{"int f(int, unless[arg1] int);", "25: error: `(` expected"},
        ErrorCase{"int f(int, unless[arg1]() int);", "25: error: a name or a number expected"},
        ErrorCase{"int f(int, unless[arg1](1 int);", "27: error: `,` or `)` expected"},
        ErrorCase{"int f(int, unless[arg1](1));", "27: error: a type expected"},
        ErrorCase{"int f(int, unless[arg1(1) int);", "23: error: `]` expected"},
        ErrorCase{"typedef x = struct(int", "23: error: `,` or `)` expected"},
        ErrorCase{"import;", "7: error: a name in quotation marks expected behind import"},
        ErrorCase{"import \"x;", "8: error: a name in quotation marks expected behind import"},
        ErrorCase{"import \"x\";", "8: error: nothing can be imported here"},
        ErrorCase{"int f(enum());", "12: error: a name expected"},
        ErrorCase{"int f(enum(A=));", "14: error: a number expected"},
        ErrorCase{"int f(enum(A=0x));", "14: error: a number expected"},
        ErrorCase{"int f(enum(A=18446744073709551616));", "14: error: a number expected"},
        ErrorCase{"int f(enum(A=-9223372036854775809));", "14: error: a number expected"},
        ErrorCase{"int f(enum(A=9223372036854775807,B));", "35: error: value too large"},
        ErrorCase{"int f(enum(A", "13: error: `,` or `)` expected"},
        ErrorCase{"int f(flags(A));", "14: error: `=` and the flag's value expected"},
        ErrorCase{"int f(array(int));", "16: error: `,` expected"}));

INSTANTIATE_TEST_SUITE_P(
    Types, MalformedLine,
    testing::Values(
        ErrorCase{"int f(int, size_t);", "12: error: unknown type `size_t`"},
        ErrorCase{"const f(int);", "1: error: unknown type `const`"},
        ErrorCase{"int f(int, ...);", "12: error: unknown type `...`"},
        ErrorCase{"int f(int, void);", "12: error: void is no type of a parameter"},
        ErrorCase{"int f(+void);", "8: error: void is no type of a parameter"},
        ErrorCase{"int f(hex(void));", "16: error: void has no value to show"},
        ErrorCase{"int f(fwd);", "7: error: the struct is not defined yet"},
        ErrorCase{"typedef fwd = struct(fwd);", "22: error: the struct is not defined yet"},
        ErrorCase{"typedef fwd = struct(array(fwd, 2)*);",
                  "28: error: the struct is not defined yet"},
        ErrorCase{"typedef fwd = int;", "15: error: a struct expected, as which it was declared"},
        ErrorCase{"typedef fwd = struct(string[arg1]);",
                  "15: error: argN and retval can't be used in a struct that was declared "
                  "first"},
        ErrorCase{"typedef known = long;", "9: error: `known` is defined already"},
        ErrorCase{"typedef known = struct;", "9: error: `known` is defined already"},
        ErrorCase{"typedef int = long;", "9: error: `int` is defined already"},
        ErrorCase{"int f(struct(void));", "19: error: void is no type of an element"},
        ErrorCase{"int f(array(void, 3));", "21: error: an array can't be of void"},
        ErrorCase{"int f(enum[double](A));", "22: error: an integer type expected"}));

INSTANTIATE_TEST_SUITE_P(
    Lengths, MalformedLine,
    testing::Values(
        ErrorCase{"int f(string[n]);",
                  "14: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(string[arg]);",
                  "14: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(string[elt0]);",
                  "14: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(string[arg99999]);",
                  "14: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(string[-1]);", "14: error: a length of 0 to 1000000 expected"},
        ErrorCase{"int f(string[1000001]);", "14: error: a length of 0 to 1000000 expected"},
        ErrorCase{"int f(string[arg2]);", "20: error: arg2: there is no such parameter"},
        ErrorCase{"int f(string2);", "15: error: arg2: there is no such parameter"},
        ErrorCase{"string2 f(int);", "15: error: arg2: there is no such parameter"},
        ErrorCase{"int f(string99);", "7: error: unknown type `string99`"},
        ErrorCase{"int f(bytes[min(arg2, 1)]);", "27: error: arg2: there is no such parameter"},
        ErrorCase{"int f(bytes[2*arg2]);", "21: error: arg2: there is no such parameter"},
        ErrorCase{"void f(bytes[min(1, retval)]);",
                  "30: error: retval: the function returns nothing"},
        ErrorCase{"int f(bytes[min(zero, 1)]);",
                  "17: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(bytes[arg1*zero]);",
                  "18: error: a length expected: a number, argN, retval, eltN or zero"},
        ErrorCase{"int f(bytes[min(1)]);", "18: error: `,` expected"},
        ErrorCase{"int f(bytes[2*3*4]);", "16: error: `]` expected"},
        ErrorCase{"int f(bytes[1000*1001]);", "13: error: a length of 0 to 1000000 expected"},
        ErrorCase{"int f(struct(int, bytes[min(elt1, 4)]));",
                  "25: error: eltN can't be combined with another length"},
        ErrorCase{"int f(struct(int, bytes[2*elt1]));",
                  "25: error: eltN can't be combined with another length"},
        ErrorCase{"int f(bytes[arg2], double);", "27: error: arg2: a length must be an integer"},
        ErrorCase{"int f(bytes[min(arg2, arg3)], int, addr);",
                  "41: error: arg3: a length must be an integer"},
        ErrorCase{"int f(struct(struct(bytes[arg2]))*, struct(int));",
                  "49: error: arg2: a length must be an integer"},
        ErrorCase{"int f(struct(string, array(int, elt1)*));",
                  "40: error: elt1: a length must be an integer"},
        ErrorCase{"double f(+bytes[retval]);", "25: error: retval: a length must be an integer"},
        ErrorCase{"addr f(+?int*);", "15: error: `+?`: the function must return a signed integer"},
        ErrorCase{"int f(unless[arg1](1) int);", "14: error: argN expected, an earlier parameter"},
        ErrorCase{"int f(int, unless[arg2](1) int);",
                  "19: error: argN expected, an earlier parameter"},
        ErrorCase{"int f(int, unless[retval](1) int);",
                  "19: error: argN expected, an earlier parameter"},
        ErrorCase{"int f(addr, unless[arg1](1) int);", "20: error: arg1: an integer expected"},
        ErrorCase{"int f(enum(A), unless[arg1](B) int);",
                  "29: error: `B` is no name of a value of that parameter"},
        ErrorCase{"int f(int, unless[arg1](A) int);",
                  "25: error: `A` is no name of a value of that parameter"},
        ErrorCase{"int f(array(int, elt1)*);", "25: error: elt1: there is no struct around it"},
        ErrorCase{"int f(struct(int, array(int, elt3)));",
                  "36: error: elt3: the struct has only 2 elements"},
        ErrorCase{"void f(string0);", "16: error: retval: the function returns nothing"},
        ErrorCase{"int f(vaformat);", "16: error: vaformat: there is no parameter behind it"},
        ErrorCase{"int f(array(int, 250001)*);", "25: error: an array of more than 1000000 bytes"},
        ErrorCase{"int f(array(array(array(char, 1000000), 1000000), 1000000)*);",
                  "49: error: an array of more than 1000000 bytes"},
        ErrorCase{"int f(struct(array(char, 999999), int));", "39: error: a struct too large"}));

TEST(Conf, takes_the_whole_of_an_item_with_a_fault) {
  const Conf conf("typedef mode = flags(A=1,\n"
                  "  B,\n"
                  "  C=(4),\n"
                  "  D=5);\n"
                  "int f(int\n"
                  "\n"
                  "int g(int);\n");

  EXPECT_EQ(conf.parsed.errors, (Strings{"t.conf:2:4: error: `=` and the flag's value expected",
                                         "t.conf:5:10: error: `,` or `)` expected"}));
  EXPECT_EQ(conf.names(), (Strings{"g"}));
}

TEST(Conf, tells_a_hundred_errors_and_counts_the_others) {
  std::string text;
  for (int line = 0; line < 250; ++line)
    text += "nothing\n";

  const Conf conf(text);

  ASSERT_EQ(conf.parsed.errors.size(), 101u);
  EXPECT_EQ(conf.parsed.errors.back(), "t.conf: 150 more errors");
}

std::string repeated(int times, const std::string& what) {
  std::string text;
  for (int i = 0; i < times; ++i)
    text += what;
  return text;
}

TEST(Conf, bounds_what_a_text_can_cost) {
  for (const char* opening : {"hex(", "struct(", "array(", "enum[", "string(", "array(int, zero("})
    EXPECT_EQ(Conf("int f(" + repeated(100000, opening)).parsed.errors.size(), 1u) << opening;
  EXPECT_EQ(Conf("int f(int" + repeated(100000, "*") + ");").parsed.errors.size(), 1u);
  EXPECT_EQ(Conf("int f(string[" + repeated(100000, "zero(")).parsed.errors.size(), 1u);
  EXPECT_EQ(Conf("int f(" + repeated(33, "int,") + "int)").parsed.errors.size(), 1u);
  EXPECT_EQ(Conf("int f(struct(" + repeated(300, "int,") + "int))").parsed.errors.size(), 1u);
  EXPECT_EQ(Conf("int f(enum(" + repeated(5000, "A,") + "A))").parsed.errors.size(), 1u);
}

TEST(Conf, refuses_types_that_double_from_line_to_line) {
  for (const char* first : {"struct()", "array(char, arg1)", "int"}) {
    std::string text = std::string("typedef a0 = ") + first + ";\n";
    for (int line = 1; line < 60; ++line) {
      const std::string before = "a" + std::to_string(line - 1);
      text += "typedef a" + std::to_string(line) + " = struct(" + before + "," + before + ");\n";
    }
    EXPECT_FALSE(Conf(text).parsed.errors.empty()) << first;
  }
}

TEST(Conf, refuses_a_chain_of_types_without_end) {
  for (const char* link : {"struct(", "array(2, "}) {
    std::string text = "typedef a0 = int;\n";
    for (int line = 1; line < 20000; ++line) {
      const std::string before = "a" + std::to_string(line - 1);
      text += "typedef a" + std::to_string(line) + " = " +
              (link[0] == 's' ? "struct(" + before + ")" : before + "*") + ";\n";
    }
    EXPECT_FALSE(Conf(text + "int f(hex(a19));\n").parsed.errors.empty());
  }
}

TEST(Conf, takes_any_bytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    for (const Dialect dialect : {Dialect::Current, Dialect::Ltrace07}) {
      (void)Conf(text, dialect);
      (void)Conf("int f(" + text, dialect);
      (void)Conf("typedef x = enum[" + text, dialect);
    }
  }
}

struct OldCase {
  const char* line;
  bool is_known;
};

void PrintTo(const OldCase& tested, std::ostream* out) { *out << tested.line; }

class OldDialect : public testing::TestWithParam<OldCase> {};

TEST_P(OldDialect, knows_what_ltrace_0_7_3_knows) {
  const Conf conf(GetParam().line, Dialect::Ltrace07);

  EXPECT_EQ(conf.parsed.errors.empty(), GetParam().is_known);
}

INSTANTIATE_TEST_SUITE_P(
    Conf, OldDialect,
    testing::Values(OldCase{"int f(file, octal, string3)", true},
                    OldCase{"int f(bitvec(ulong))", true},
                    OldCase{"int f(enum[char](A=1, B))", true}, OldCase{"int f(int, void)", true},
                    OldCase{" \t", true}, OldCase{"; remark", true}, OldCase{"# remark", false},
                    OldCase{"int f(path)", false}, OldCase{"int f(bytes[arg1])", false},
                    OldCase{"int f(wstring)", false}, OldCase{"int f(uchar)", false},
                    OldCase{"int f(llong)", false}, OldCase{"int f(ldouble)", false},
                    OldCase{"int f(flags(A=1))", false}, OldCase{"int f(scanformat)", false},
                    OldCase{"int f(string[min(arg1, 3)])", false},
                    OldCase{"int f(string[arg1*3])", false}, OldCase{"int f(wformat)", false},
                    OldCase{"int f(+?int*)", false}, OldCase{"int f(+!int*)", false},
                    OldCase{"int f(int, unless[arg1](1) int)", false},
                    OldCase{"typedef x = int y;", true}, OldCase{"int f(string[arg2], addr)", true},
                    OldCase{"\xef\xbb\xbfint f()", false}, OldCase{"function int f()", false},
                    OldCase{"import \"x\"", false}, OldCase{"int f(int,\n  int)", false}));

TEST(OldDialect, hides_a_parameter_that_is_void) {
  const Conf conf("int f(int, void);", Dialect::Ltrace07);

  ASSERT_EQ(conf.only().parameters.size(), 2u);
  EXPECT_EQ(show(*conf.only().parameters[1].type), "hide:i4");
}

TEST(Conf, compiles_to_a_plan) {
  const Conf conf("typedef pp = struct(int, double, string(array(char, 6)));\n"
                  "long f(int, pp, +string1, array(int, arg1)*, format);\n");

  ASSERT_EQ(conf.parsed.errors, Strings{});
  const CallPlan plan = compile(conf.only(), {});

  EXPECT_EQ(plan.parameters.size(), 6u) << "the arguments of the format are one more";
  EXPECT_TRUE(plan.parameters[2].out);
  EXPECT_TRUE(plan.has_format);
  EXPECT_FALSE(plan.guessed);
}

TEST(Conf, shows_a_set_in_any_kind_of_memory) {
  const Conf conf("int f(bitvec(struct(int, char))*, bitvec(array(char, 4)), bitvec(ushort));\n");

  const CallPlan plan = compile(conf.only(), {});

  ASSERT_EQ(plan.entry_looks.size(), 5u);
  EXPECT_EQ(plan.entry_looks[1].look, Look::BitVector);
  EXPECT_EQ(plan.entry_looks[1].size, 8);
  EXPECT_EQ(plan.entry_looks[3].look, Look::BitVector);
  EXPECT_EQ(plan.entry_looks[3].size, 4);
  EXPECT_EQ(plan.entry_looks[4].look, Look::BitVector);
}

} // namespace
} // namespace sonictrace::proto
