#include "sonictrace/decode/render.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/captured_call.hpp"

namespace sonictrace {
namespace {

using proto::PlanOptions;

/// One argument of a type, as it is shown.
std::string argument(const std::string& type, std::uint64_t word, const ValueStyle& style = {}) {
  return CapturedCall("void f(" + type + ");").integers({word}).arguments(style);
}

std::string result(const std::string& type, std::uint64_t word, const ValueStyle& style = {}) {
  return CapturedCall(type + " f();").returns(word).result(style);
}

// ---- whole numbers ---------------------------------------------------------------------------

struct WordCase {
  const char* type;
  std::uint64_t word;
  const char* expected;
};

void PrintTo(const WordCase& tested, std::ostream* out) {
  *out << tested.type << " " << tested.expected;
}

class WordValue : public testing::TestWithParam<WordCase> {};

TEST_P(WordValue, is_shown_as_ltrace_shows_it) {
  for (const ValueStyle& style : {ValueStyle{}, kLtraceStyle}) {
    EXPECT_EQ(argument(GetParam().type, GetParam().word, style), GetParam().expected);
    EXPECT_EQ(result(GetParam().type, GetParam().word, style), GetParam().expected);
  }
}

constexpr std::uint64_t kMinus = ~0ull;
constexpr const char* kColours = "enum(RED, GREEN, BLUE=7, NEXT)";

// The upper half of a register says nothing about a narrow value (psABI 3.2.3). The expected texts
// are ltrace 0.7.3's.
INSTANTIATE_TEST_SUITE_P(
    Values, WordValue,
    testing::Values(
        WordCase{"int", 0xffffffff, "-1"}, WordCase{"int", 0xdead00000007, "7"},
        WordCase{"uint", 0xdeadee6b2800, "4000000000"}, WordCase{"short", 0xfffe, "-2"},
        WordCase{"ushort", 0xaffff, "65535"}, WordCase{"long", kMinus - 2, "-3"},
        WordCase{"ulong", kMinus, "18446744073709551615"}, WordCase{"schar", 0x1ff, "-1"},
        WordCase{"uchar", 0x1ff, "255"}, WordCase{"llong", kMinus, "-1"},
        WordCase{"char", 'g', "'g'"}, WordCase{"char", 0xff00, "'\\0'"},
        WordCase{"char", 200, "'\\310'"}, WordCase{"char", '\\', "'\\\\'"},
        WordCase{"hex(int)", kMinus, "0xffffffff"}, WordCase{"hex(char)", 0x1ff, "0xff"},
        WordCase{"hex(long)", kMinus, "0xffffffffffffffff"},
        WordCase{"hex(int)", 0xff00000000, "0"}, WordCase{"octal", 8, "010"},
        WordCase{"octal", 0, "00"}, WordCase{"octal", 0x1ffffff80, "037777777600"},
        WordCase{"oct(short)", kMinus, "0177777"},
        WordCase{"oct(long)", kMinus, "01777777777777777777777"},
        WordCase{"bool(int)", 0x100000000, "false"}, WordCase{"bool(int)", 4, "true"},
        WordCase{"guess(long)", 10000, "10000"}, WordCase{"guess(long)", 10001, "0x2711"},
        WordCase{"guess(int)", 0xdeadffffd8f0, "-10000"}, WordCase{"addr", 0x7f12, "0x7f12"},
        WordCase{"void*", 0, "nil"}, WordCase{"bitvec(uint)", 0, "<>"},
        WordCase{"bitvec(uint)", 0xb8, "<3-5,7>"}, WordCase{"bitvec(uint)", 0xfffffffe, "~<0>"},
        WordCase{"bitvec(ushort)", 0x102, "<1,8>"}, WordCase{"bitvec(ushort)", 0xff, "<0-7>"},
        WordCase{"bitvec(ulong)", kMinus, "~<>"}, WordCase{kColours, 0, "RED"},
        WordCase{kColours, 8, "NEXT"}, WordCase{kColours, 77, "77"},
        WordCase{kColours, 0xfffffffe, "-2"}, WordCase{"enum[char](A, B, C)", 0xff02, "C"},
        WordCase{"enum(MINUS=-1)", 0xffffffff, "MINUS"}));

TEST(Guesses, keep_all_64_bits_of_a_word_of_which_nothing_is_known) {
  PlanOptions options;
  const auto plan = proto::compile(proto::Prototype::unknown(), options);
  ASSERT_EQ(plan.parameters.size(), 4u);
  const std::uint64_t words[14] = {10000, 10001, static_cast<std::uint64_t>(-10000),
                                   static_cast<std::uint64_t>(-10001)};
  FakeMemory memory;
  std::vector<std::byte> room(plan.entry_room);
  room.resize(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(),
                                {words, sizeof words, wire::kStackWordsAt, 0}, memory, room.data(),
                                room.size()));

  std::string out;
  append_arguments(out, plan, room, std::nullopt, ArgumentPart::All, {});

  EXPECT_EQ(out, "10000, 0x2711, -10000, 0xffffffffffffd8ef");
}

// ---- flags -----------------------------------------------------------------------------------

struct FlagCase {
  const char* table;
  std::uint64_t value;
  const char* expected;
};

void PrintTo(const FlagCase& tested, std::ostream* out) { *out << tested.expected; }

class Flags : public testing::TestWithParam<FlagCase> {};

TEST_P(Flags, are_named_bit_by_bit) {
  EXPECT_EQ(argument(std::string("flags(") + GetParam().table + ")", GetParam().value),
            GetParam().expected);
}

constexpr const char* kOpen =
    "O_RDONLY=0,O_WRONLY=1,O_RDWR=2,O_ACCMODE=3,O_CREAT=0100,O_DSYNC=010000,"
    "O_DIRECTORY=0200000,O_SYNC=04010000,O_TMPFILE=020200000";
constexpr const char* kProtection = "PROT_NONE=0,PROT_READ=1,PROT_WRITE=2,PROT_EXEC=4";

INSTANTIATE_TEST_SUITE_P(
    Flags, Flags,
    testing::Values(
        FlagCase{kOpen, 0, "O_RDONLY"}, FlagCase{kOpen, 1, "O_WRONLY"},
        FlagCase{kOpen, 3, "O_ACCMODE"}, FlagCase{kOpen, 0102, "O_RDWR|O_CREAT"},
        FlagCase{kOpen, 0100, "O_RDONLY|O_CREAT"}, FlagCase{kOpen, 04010001, "O_WRONLY|O_SYNC"},
        FlagCase{kOpen, 010001, "O_WRONLY|O_DSYNC"}, FlagCase{kOpen, 020200002, "O_RDWR|O_TMPFILE"},
        FlagCase{kOpen, 020000002, "O_RDWR|0x400000"},
        FlagCase{kOpen, 0x40000041, "O_WRONLY|O_CREAT|0x40000000"},
        FlagCase{kProtection, 0, "PROT_NONE"}, FlagCase{kProtection, 3, "PROT_READ|PROT_WRITE"},
        FlagCase{kProtection, 8, "0x8"}, FlagCase{"A=1", 0, "0"},
        FlagCase{"A=1", 0xff00000000, "0"}, FlagCase{"A=1", 0xff00000001, "A"},
        FlagCase{"A=1", 6, "0x6"}));

TEST(FlagsOfAWideType, reach_the_highest_bit) {
  EXPECT_EQ(argument("flags[ulong](TOP=-9223372036854775807)", kMinus), "TOP|0x7ffffffffffffffe");
  EXPECT_EQ(argument("flags[uint](TOP=0x80000000)", 0x80000000), "TOP");
}

TEST(FlagsOfAHugeTable, that_are_behind_its_256th_name_show_as_a_number) {
  std::string table = "flags(A=1";
  for (int at = 0; at < 300; ++at)
    table += ",N" + std::to_string(at) + "=2";
  table += ",LATE=4)";
  EXPECT_EQ(argument(table, 7), "A|N0|0x4");
}

// ---- floating point --------------------------------------------------------------------------

std::string floating(const std::string& type, double value, const ValueStyle& style = {}) {
  CapturedCall call("void f(" + type + ");");
  const auto narrow = static_cast<float>(value);
  if (type.find("double") != std::string::npos)
    call.vector(0, value);
  else
    call.vector(0, &narrow, sizeof narrow);
  return call.arguments(style);
}

struct FloatCase {
  const char* type;
  double value;
  const char* ours;
  const char* ltraces;
};

void PrintTo(const FloatCase& tested, std::ostream* out) { *out << tested.ours; }

class FloatValue : public testing::TestWithParam<FloatCase> {};

TEST_P(FloatValue, is_shown_so_that_it_can_be_read_back_or_as_ltrace_does) {
  const FloatCase& tested = GetParam();
  EXPECT_EQ(floating(tested.type, tested.value), tested.ours);
  EXPECT_EQ(floating(tested.type, tested.value, kLtraceStyle), tested.ltraces);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Values, FloatValue,
    testing::Values(
        FloatCase{"double", 0, "0.0", "0.000000"}, FloatCase{"double", -0.0, "-0.0", "-0.000000"},
        FloatCase{"double", 1, "1.0", "1.000000"}, FloatCase{"double", -0.1, "-0.1", "-0.100000"},
        FloatCase{"double", 2.25, "2.25", "2.250000"}, FloatCase{"float", 0.1, "0.1", "0.100000"},
        FloatCase{"float", 1e10, "10000000000.0", "10000000000.000000"},
        FloatCase{"double", 123456789, "123456789.0", "123456789.000000"},
        FloatCase{"double", 1e15, "1000000000000000.0", "1000000000000000.000000"},
        FloatCase{"double", 1e16, "1e+16", "10000000000000000.000000"},
        FloatCase{"double", 1e-4, "0.0001", "0.000100"},
        FloatCase{"double", 1e-7, "1e-07", "0.000000"},
        FloatCase{
            "double", 1e100, "1e+100",
            "1000000000000000015902891109759918046836080856394528138978132755774783877217038106"
            "0813469985856815104.000000"},
        FloatCase{"double", kInfinity, "inf", "inf"},
        FloatCase{"double", -kInfinity, "-inf", "-inf"},
        FloatCase{"hex(double)", 1, "0x1p+0", "0x1p+0"},
        FloatCase{"hex(float)", -0.5, "-0x1p-1", "-0x1p-1"},
        FloatCase{"hex(double)", 0.1, "0x1.999999999999ap-4", "0x1.999999999999ap-4"},
        FloatCase{"hex(double)", 0, "0x0p+0", "0x0p+0"},
        FloatCase{"hex(double)", 5e-324, "0x1p-1074", "0x1p-1074"},
        FloatCase{"hex(double)", kInfinity, "inf", "inf"}));

TEST(FloatValue, is_not_a_number) {
  EXPECT_EQ(floating("double", std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(floating("double", -std::numeric_limits<double>::quiet_NaN(), kLtraceStyle), "-nan");
}

std::string long_double(std::uint64_t mantissa, std::uint16_t head, const ValueStyle& style = {}) {
  CapturedCall call("ldouble f();");
  EXPECT_TRUE(call.plan.x87_at_return);
  std::memcpy(&call.leave[wire::kResultX87At / 8], &mantissa, sizeof mantissa);
  std::memcpy(&call.leave[wire::kResultX87At / 8 + 1], &head, sizeof head);
  return call.result(style);
}

TEST(LongDoubles, are_shown_with_all_their_digits) {
  EXPECT_EQ(long_double(0xd000000000000000, 0x4000), "3.25");
  EXPECT_EQ(long_double(0xd000000000000000, 0xc000, kLtraceStyle), "-3.250000");
  EXPECT_EQ(long_double(0xcccccccccccccccd, 0x3ffb), "0.1");
  EXPECT_EQ(long_double(~0ull, 0x7ffe), "1.189731495357231765e+4932");
  EXPECT_EQ(long_double(1, 0), "4e-4951");
  EXPECT_EQ(long_double(0, 0x8000), "-0.0");
}

TEST(LongDoubles, in_hex_have_a_1_in_front_of_the_point) {
  CapturedCall call("hex(ldouble) f();");
  const std::uint64_t tenth[2] = {0xcccccccccccccccd, 0x3ffb};
  std::memcpy(&call.leave[wire::kResultX87At / 8], tenth, sizeof tenth);
  EXPECT_EQ(call.result(), "0x1.999999999999999ap-4");
}

TEST(LongDoubles, of_bytes_that_are_none_are_not_numbers) {
  EXPECT_EQ(long_double(0x8000000000000000, 0x7fff), "inf");
  EXPECT_EQ(long_double(0xc000000000000000, 0x7fff), "nan");
  EXPECT_EQ(long_double(0, 0x7fff), "nan"); // a pseudo-infinity
  EXPECT_EQ(long_double(1, 0x4000), "nan"); // an unnormal
}

TEST(Results, that_are_float_come_back_in_xmm0) {
  CapturedCall call("double f();");
  EXPECT_TRUE(call.plan.vectors_at_return);
  const double value = 2.5;
  std::memcpy(&call.leave[wire::kResultVectorAt / 8], &value, sizeof value);
  EXPECT_EQ(call.result(), "2.5");
  EXPECT_EQ(call.result(kLtraceStyle), "2.500000");
}

// ---- text ------------------------------------------------------------------------------------

std::string text(const std::string& type, std::string_view content, const ValueStyle& style = {}) {
  PlanOptions options;
  options.string_limit = style.string_limit;
  CapturedCall call("void f(" + type + ");", options);
  return call.integers({call.memory.text(content)}).arguments(style);
}

const std::string k31 = "1234567890123456789012345678901";
const std::string k32 = k31 + "2";
const std::string k33 = k32 + "3";

TEST(Strings, are_followed_by_dots_when_they_are_cut_and_only_then) {
  EXPECT_EQ(text("string", k31), "\"" + k31 + "\"");
  EXPECT_EQ(text("string", k32), "\"" + k32 + "\"");
  EXPECT_EQ(text("string", k33), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", "", {0}), "\"\"");
  EXPECT_EQ(text("string", "x", {0}), "\"\"...");
}

TEST(Strings, of_exactly_the_limit_have_dots_in_ltraces_way) {
  EXPECT_EQ(text("string", k31, kLtraceStyle), "\"" + k31 + "\"");
  EXPECT_EQ(text("string", k32, kLtraceStyle), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", k33, kLtraceStyle), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", "", {0, true}), "\"\"...");
  EXPECT_EQ(text("string", "tab\tnl\ncr", {8, true}), "\"tab\\tnl\\nc\"...");
}

TEST(Strings, escape_their_quotes_but_in_ltraces_way) {
  EXPECT_EQ(text("string", "a\"b'"), R"("a\"b'")");
  EXPECT_EQ(text("string", "a\"b'", kLtraceStyle), R"("a"b'")");
}

TEST(Strings, that_are_file_names_are_shown_whole_but_in_ltraces_way) {
  EXPECT_EQ(text("path", "/usr/lib/" + k33), "\"/usr/lib/" + k33 + "\"");
  EXPECT_EQ(text("path", k33, {32, false, false}), "\"" + k32 + "\"...");
  EXPECT_EQ(text("path", k33, kLtraceStyle), "\"" + k32 + "\"...");
}

TEST(Strings, that_cannot_be_read_are_shown_by_their_pointer) {
  EXPECT_EQ(argument("string", 8), "0x8");
  EXPECT_EQ(argument("path", 0xdead0000), "0xdead0000");
  EXPECT_EQ(argument("string", 8, kLtraceStyle), "0x8");
}

TEST(Strings, whose_end_cannot_be_read_are_cut) {
  CapturedCall call("string f(string);");
  call.memory.map(0x1000, "abc");
  EXPECT_EQ(call.integers({0x1000}).arguments(), "\"abc\"...");
}

TEST(Strings, stop_at_a_given_length_or_before) {
  CapturedCall call("void f(string[arg2], int);");
  const auto address = call.memory.text("hello");
  EXPECT_EQ(call.integers({address, 3}).arguments(), "\"hel\", 3");
  EXPECT_EQ(call.integers({address, 6}).arguments(), "\"hello\", 6");
  EXPECT_EQ(call.integers({address, 0}).arguments(), "\"\", 0");
}

TEST(Strings, of_a_negative_length_are_shown_by_their_pointer) {
  CapturedCall call("void f(string[arg2], int);");
  call.memory.map(0x1000, "hello");
  EXPECT_EQ(call.integers({0x1000, 0xffffffff}).arguments(), "0x1000, -1");
}

TEST(Strings, as_long_as_the_result_says_are_pointers_until_it_is_known) {
  CapturedCall call("int f(string[retval], +string[retval]);");
  call.memory.map(0x1000, "hello");
  call.integers({0x1000, 0x1000}).returns(2);
  EXPECT_EQ(call.arguments(), "0x1000, \"he\"");
  EXPECT_EQ(call.open_arguments(), "0x1000, 0x1000");
}

TEST(Bytes, are_shown_with_their_nuls_but_in_ltraces_way) {
  CapturedCall call("void f(bytes[arg2], int);");
  call.memory.map(0x1000, std::string_view("bin\0ary\n", 8));
  EXPECT_EQ(call.integers({0x1000, 8}).arguments(), R"("bin\000ary\n", 8)");
  EXPECT_EQ(call.arguments(kLtraceStyle), R"("bin", 8)");
  EXPECT_EQ(call.integers({0x1000, 0}).arguments(), R"("", 0)");
}

TEST(CharacterArrays, are_shown_with_their_nuls_in_ltraces_way_too) {
  CapturedCall call("void f(string(array(char, 6)*));");
  call.memory.map(0x1000, std::string_view("hello\0", 6));
  EXPECT_EQ(call.integers({0x1000}).arguments(), R"("hello\000")");
  EXPECT_EQ(call.arguments(kLtraceStyle), R"("hello\0")");
}

TEST(WideText, is_ascii_in_the_log) {
  CapturedCall call("void f(wstring, wchar, wchar, wchar);");
  const char32_t text[] = U"a\u00e9\u4e2d\U0001f600\n\"\u0001";
  call.memory.map(0x1000, std::string_view(reinterpret_cast<const char*>(text), sizeof text));
  call.integers({0x1000, 0xe9, 'x', 0});
  const std::string expected = R"(L"a\u00e9\u4e2d\U0001f600\n\"\001", L'\u00e9', L'x', L'\0')";
  EXPECT_EQ(call.arguments(), expected);
  EXPECT_EQ(call.arguments(kLtraceStyle), expected);
}

TEST(WideText, is_cut_by_characters) {
  PlanOptions options;
  options.string_limit = 2;
  CapturedCall call("void f(wstring);", options);
  const char32_t text[] = U"abc";
  call.memory.map(0x1000, std::string_view(reinterpret_cast<const char*>(text), sizeof text));
  EXPECT_EQ(call.integers({0x1000}).arguments({2}), R"(L"ab"...)");
}

// ---- pointers, structs, arrays ---------------------------------------------------------------

std::string_view bytes_of(const auto& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

TEST(Pointers, that_are_null_are_nil_but_for_addr_in_ltraces_way) {
  CapturedCall call("void f(string, path, addr, void*, int*);");
  EXPECT_EQ(call.arguments(), "nil, nil, nil, nil, nil");
  EXPECT_EQ(call.arguments(kLtraceStyle), "nil, nil, 0, nil, nil");
}

TEST(Pointers, show_what_they_lead_to) {
  CapturedCall call("void f(int*, char*, int**, void*, int*, string*);");
  call.memory.map(0x1000, bytes_of(7));
  call.memory.map(0x2000, "k");
  call.memory.map(0x3000, bytes_of(std::uint64_t{0x1000}));
  call.memory.map(0x4000, bytes_of(std::uint64_t{0x5000}));
  call.memory.map(0x5000, std::string_view("x\0", 2));
  call.integers({0x1000, 0x2000, 0x3000, 0x1000, 8, 0x4000});
  EXPECT_EQ(call.arguments(), R"(7, 'k', 7, 0x1000, 0x8, "x")");
}

TEST(Pointers, to_what_ends_with_the_mapping_show_a_question_mark) {
  CapturedCall call("void f(int*, struct(char, int)*);");
  call.memory.map(0x1000, "ab");
  EXPECT_EQ(call.integers({0x1000, 0x1000}).arguments(), "?, { 'a', ? }");
}

struct Person {
  int age;
  double size;
  char name[6];
};

TEST(Structs, show_their_elements) {
  CapturedCall call("void f(struct(int, double, string(array(char, 6)))*, struct()*);");
  call.memory.map(0x1000, bytes_of(Person{3, 2.25, {'h', 'e', 'l', 'l', 'o', 0}}));
  call.integers({0x1000, 0x1000});
  EXPECT_EQ(call.arguments(), R"({ 3, 2.25, "hello\000" }, {  })");
  EXPECT_EQ(call.arguments(kLtraceStyle), R"({ 3, 2.250000, "hello\0" }, {  })");
}

TEST(Structs, leave_out_hidden_elements_but_not_their_place) {
  CapturedCall call("void f(struct(char, hide(int), char)*);");
  call.memory.map(0x1000, std::string_view("a...iiiib...", 12));
  EXPECT_EQ(call.integers({0x1000}).arguments(), "{ 'a', 'b' }");
}

TEST(Arrays, show_as_many_elements_as_asked_for) {
  const int numbers[] = {1, 2, 3, 4, 5, 0, 7};
  CapturedCall call("void f(array(int, arg2)*, int, array(int, 12)*, array(int, zero)*);");
  call.memory.map(0x1000, bytes_of(numbers));
  call.memory.map(0x2000, bytes_of(numbers).substr(12));
  EXPECT_EQ(call.integers({0x1000, 3, 0x1000, 0x1000}).arguments(),
            "[ 1, 2, 3 ], 3, [ 1, 2, 3, 4... ], [ 1, 2, 3, 4... ]");
  EXPECT_EQ(call.integers({0x1000, 4, 0x1000, 0x2000}).arguments(),
            "[ 1, 2, 3, 4 ], 4, [ 1, 2, 3, 4... ], [ 4, 5 ]");
  EXPECT_EQ(call.integers({0x1000, 0, 0, 8}).arguments(), "[  ], 0, nil, 0x8");
  EXPECT_EQ(call.integers({0x1000, 0xffffffff, 0, 0}).arguments(), "0x1000, -1, nil, nil");
}

TEST(Arrays, that_end_with_the_mapping_show_what_is_there) {
  CapturedCall call("void f(array(int, zero)*, array(int, 3)*);");
  const int numbers[] = {1, 2};
  call.memory.map(0x1000, bytes_of(numbers));
  EXPECT_EQ(call.integers({0x1000, 0x1000}).arguments(), "[ 1, 2... ], [ 1, 2, ? ]");
}

TEST(Arrays, of_strings_end_at_a_null) {
  CapturedCall call("void f(array(string, zero)*);");
  const std::uint64_t pointers[] = {call.memory.text("ab"), call.memory.text("c"), 0, 1};
  call.memory.map(0x1000, bytes_of(pointers));
  EXPECT_EQ(call.integers({0x1000}).arguments(), R"([ "ab", "c" ])");
}

TEST(Arrays, in_structs_are_as_long_as_another_element_says) {
  CapturedCall call("void f(struct(long, array(int, elt1))*);");
  struct {
    long count = 3;
    int numbers[4] = {7, 8, 9, 10};
  } counted;
  call.memory.map(0x1000, bytes_of(counted));
  EXPECT_EQ(call.integers({0x1000}).arguments(), "{ 3, [ 7, 8, 9 ] }");
}

TEST(Arrays, of_bits_are_one_set) {
  CapturedCall call("void f(bitvec(array(char, 4)*));");
  call.memory.map(0x1000, std::string_view("\1\2\0\x80", 4));
  EXPECT_EQ(call.integers({0x1000}).arguments(), "<0,9,31>");
}

TEST(Arrays, and_levels_are_cut_at_a_limit_of_their_own) {
  struct Node {
    std::uint64_t value, next;
  };
  const Node nodes[] = {{0, 0x1010}, {1, 0x1020}, {2, 0x1030}, {3, 0x1040}, {4, 0}};
  const auto shown = [&](std::uint32_t limit) {
    PlanOptions options;
    options.array_limit = limit;
    CapturedCall call("typedef li = struct;\ntypedef li = struct(int, li*);\n"
                      "void f(li*, array(int, 2)*);",
                      options);
    call.memory.map(0x1000, bytes_of(nodes));
    return call.integers({0x1000, 0x1000}).arguments();
  };
  // ltrace 0.7.3's.
  EXPECT_EQ(shown(0), "..., [ ... ]");
  EXPECT_EQ(shown(1), "{ 0, ... }, [ 0... ]");
  EXPECT_EQ(shown(2), "{ 0, { 1, ... } }, [ 0, 0 ]");
  EXPECT_EQ(shown(4), "{ 0, { 1, { 2, { 3, ... } } } }, [ 0, 0 ]");
  EXPECT_EQ(shown(8), "{ 0, { 1, { 2, { 3, { 4, nil } } } } }, [ 0, 0 ]");
}

TEST(Recursion, says_how_far_out_it_leads) {
  struct Node {
    std::uint64_t value, next, previous;
  };
  const Node nodes[] = {{1, 0x1018, 0}, {2, 0x1030, 0x1000}, {3, 0, 0x1018}, {4, 0x1048, 0x1048}};
  CapturedCall call("typedef dl = struct;\ntypedef dl = struct(int, dl*, dl*);\nvoid f(dl*);");
  call.memory.map(0x1000, bytes_of(nodes));
  EXPECT_EQ(call.integers({0x1000}).arguments(),
            "{ 1, { 2, { 3, nil, recurse^ }, recurse^ }, nil }");
  EXPECT_EQ(call.integers({0x1048}).arguments(), "{ 4, recurse, recurse }");
}

TEST(DeepTypes, end_in_dots) {
  PlanOptions options;
  options.array_limit = 1000;
  CapturedCall call("typedef li = struct;\ntypedef li = struct(li*, li**, li***);\nvoid f(li*);",
                    options);
  std::string memory(1 << 16, '\0');
  for (std::uint64_t at = 0; at + 8 <= memory.size(); at += 8) {
    const std::uint64_t pointer = 0x100000 + (at * 24 + 24) % memory.size();
    std::memcpy(memory.data() + at, &pointer, sizeof pointer);
  }
  call.memory.map(0x100000, memory);
  EXPECT_LT(call.plan.at_entry.size(), 5000u);
  EXPECT_NE(call.integers({0x100000}).arguments().find("..."), std::string::npos);
}

// ---- whole argument lists --------------------------------------------------------------------

TEST(Arguments, leave_hidden_ones_out_with_their_comma) {
  EXPECT_EQ(CapturedCall("void f(int, hide(int), int);").integers({1, 2, 3}).arguments(), "1, 3");
  EXPECT_EQ(CapturedCall("void f(hide(int), int);").integers({1, 2}).arguments(), "2");
  EXPECT_EQ(CapturedCall("void f();").arguments(), "");
}

TEST(Results, of_a_void_or_hidden_type) {
  EXPECT_EQ(result("void", 7), "<void>");
  EXPECT_EQ(result("hide(int)", 7), "");
}

TEST(OutParameters, are_shown_as_they_are_at_the_return) {
  CapturedCall call("int f(int, +int*, string, +string);");
  call.memory.map(0x1000, bytes_of(99));
  call.integers({1, 0x1000, call.memory.text("in"), call.memory.text("out")});
  EXPECT_TRUE(has_rest(call.plan));

  EXPECT_EQ(call.arguments(), R"(1, 99, "in", "out")");
  EXPECT_EQ(call.arguments({}, ArgumentPart::Entry), "1");
  EXPECT_EQ(call.arguments({}, ArgumentPart::Rest), R"(, 99, "in", "out")");
}

TEST(OutParameters, of_a_call_that_never_returns_are_pointers) {
  CapturedCall call("int f(+int*, string, +string);");
  call.memory.map(0x1000, bytes_of(99));
  call.integers({0x1000, call.memory.text("in"), 0});

  EXPECT_EQ(call.open_arguments(), R"(0x1000, "in", nil)");
  EXPECT_EQ(call.open_arguments({}, ArgumentPart::Entry), "");
  EXPECT_EQ(call.open_arguments({}, ArgumentPart::Rest), R"(0x1000, "in", nil)");
  std::string out;
  append_arguments(out, call.plan, call.captured_entry(), std::span<const std::byte>(),
                   ArgumentPart::All, {});
  EXPECT_EQ(out, R"(0x1000, "in", nil)");
}

TEST(OutParameters, are_found_behind_a_result_of_any_shape) {
  for (const char* type : {"void", "int", "string", "struct(int, string, array(int, 3))",
                           "struct(long, long, long)", "double", "hide(int)"}) {
    CapturedCall call(std::string(type) + " f(+int*);");
    call.memory.map(0x1000, bytes_of(99));
    call.integers({0x1000, 0x1000}).returns(0x1000);
    EXPECT_EQ(call.arguments(), "99") << type;
  }
}

TEST(ArgumentParts, are_all_of_a_call_without_out_parameters) {
  CapturedCall call("int f(int, hide(int), int);");
  call.integers({1, 2, 3});
  EXPECT_FALSE(has_rest(call.plan));
  EXPECT_EQ(call.arguments({}, ArgumentPart::Entry), "1, 3");
  EXPECT_EQ(call.arguments({}, ArgumentPart::Rest), "");
}

TEST(ArgumentParts, have_no_separator_behind_hidden_ones) {
  CapturedCall call("int f(hide(int), +int*);");
  call.memory.map(0x1000, bytes_of(99));
  call.integers({1, 0x1000});
  EXPECT_EQ(call.arguments({}, ArgumentPart::Rest), "99");
}

TEST(Fields, that_are_missing_show_as_a_question_mark) {
  CapturedCall call("int f(int, string, struct(int, int)*, array(int, 3)*, +int*);");
  std::string out;
  append_arguments(out, call.plan, {}, std::nullopt, ArgumentPart::All, {});
  out += '=';
  append_result(out, call.plan, {}, {});
  EXPECT_EQ(out, "?, ?, ?, ?, ?=?");
}

TEST(Fields, of_a_size_that_no_float_has_show_as_a_question_mark) {
  CapturedCall call("void f(float);");
  for (std::uint16_t size = 1; size < 20; ++size) {
    const wire::FieldHeader header{size, wire::FieldState::Whole, 0};
    std::vector<std::byte> captured(sizeof header + size);
    std::memcpy(captured.data(), &header, sizeof header);
    std::string out;
    append_arguments(out, call.plan, captured, std::nullopt, ArgumentPart::All, {});
    const bool is_float = size == 4 || size == 8 || (size >= 10 && size <= 16);
    EXPECT_EQ(out, is_float ? "0.0" : "?") << size;
  }
}

} // namespace
} // namespace sonictrace
