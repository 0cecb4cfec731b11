#include "sonictrace/decode/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/captured_call.hpp"

namespace sonictrace {
namespace {

/// The arguments; a JSON reader other than ours takes them.
std::string arguments(CapturedCall& call, const ValueStyle& style = {}) {
  const std::string json = call.arguments_as_json(style);
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
  return json;
}

std::string argument(const std::string& type, std::uint64_t word) {
  CapturedCall call("void f(" + type + ");");
  call.integers({word});
  return arguments(call);
}

std::string text(const std::string& type, std::string_view content) {
  CapturedCall call("void f(" + type + ");");
  call.integers({call.memory.text(content), content.size()});
  return arguments(call);
}

TEST(JsonNumbers, are_whole_whatever_their_size) {
  EXPECT_EQ(argument("int", 0xffffffff), "[-1]");
  EXPECT_EQ(argument("ulong", ~0ull), "[18446744073709551615]");
  EXPECT_EQ(argument("hex(int)", 255), "[255]");
  EXPECT_EQ(argument("octal", 8), "[8]");
  EXPECT_EQ(argument("guess(long)", 10000), "[10000]");
  EXPECT_EQ(argument("guess(long)", 10001), R"(["0x2711"])");
}

TEST(JsonNumbers, are_floating_where_there_is_a_number_for_it) {
  CapturedCall call("void f(double, hex(double), double);");
  call.vector(0, 2.5).vector(1, 1e100).vector(2, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(arguments(call), R"([2.5,1e+100,"-inf"])");
}

TEST(JsonNumbers, that_no_double_holds_are_strings) {
  CapturedCall call("ldouble f();");
  const std::uint64_t largest[2] = {~0ull, 0x7ffe};
  std::memcpy(&call.leave[wire::kResultX87At / 8], largest, sizeof largest);
  EXPECT_EQ(call.result_as_json(), R"("1.189731495357231765e+4932")");

  // A double that came back in st0, as on i386.
  call.plan.return_looks.at(0).size = 8;
  EXPECT_EQ(call.result_as_json(), R"("inf")");
  EXPECT_EQ(call.result(), "inf");
}

TEST(JsonValues, that_have_names_are_strings) {
  EXPECT_EQ(argument("enum(RED, GREEN)", 1), R"(["GREEN"])");
  EXPECT_EQ(argument("enum(RED, GREEN)", 2), "[2]");
  EXPECT_EQ(argument("flags(A=1,B=2)", 7), R"(["A|B|0x4"])");
  EXPECT_EQ(argument("bitvec(int)", 6), R"(["<1-2>"])");
  EXPECT_EQ(argument("bool(int)", 6), "[true]");
}

TEST(JsonPointers, are_strings_or_null) {
  EXPECT_EQ(argument("addr", 0x7f12), R"(["0x7f12"])");
  EXPECT_EQ(argument("addr", 0), "[null]");
  EXPECT_EQ(argument("string", 8), R"(["0x8"])");
}

TEST(JsonTexts, that_are_utf8_are_strings) {
  EXPECT_EQ(text("string", "plain"), R"(["plain"])");
  EXPECT_EQ(text("string", "\"\\\n\t\x01\x7f"), R"(["\"\\\n\t\u0001\u007f"])");
  EXPECT_EQ(text("string", "\xc3\xa9\xe2\x82\xac"), "[\"\xc3\xa9\xe2\x82\xac\"]");
  EXPECT_EQ(text("bytes[arg2], hide(int)", std::string_view("a\0b", 3)), R"(["a\u0000b"])");
  EXPECT_EQ(argument("char", 'x'), R"(["x"])");
}

TEST(JsonTexts, that_are_not_utf8_are_bytes_in_hex) {
  EXPECT_EQ(text("string", "a\xe9z"), R"([{"bytes":"61e97a"}])");
  EXPECT_EQ(text("string", "\xed\xa0\x80"), R"([{"bytes":"eda080"}])"); // a surrogate
  EXPECT_EQ(text("string", "\xc0\x80"), R"([{"bytes":"c080"}])");       // too long a form
  EXPECT_EQ(text("string", "a\xe2\x82"), R"([{"bytes":"61e282"}])");
  EXPECT_EQ(argument("char", 0xe9), R"([{"bytes":"e9"}])");
}

TEST(JsonTexts, that_are_cut_say_so) {
  const std::string long_text(40, 'x');
  EXPECT_EQ(text("string", long_text),
            "[{\"text\":\"" + long_text.substr(0, 32) + "\",\"cut\":true}]");
  // In the middle of a character.
  EXPECT_EQ(text("string", long_text.substr(0, 31) + "\xe2\x82\xac"),
            "[{\"text\":\"" + long_text.substr(0, 31) + "\",\"cut\":true}]");
  EXPECT_EQ(
      text("string", "\xff" + long_text), "[{\"bytes\":\"ff" + [] {
        std::string hex;
        for (int at = 0; at < 31; ++at)
          hex += "78";
        return hex;
      }() + "\",\"cut\":true}]");
}

TEST(JsonTexts, that_are_wide_are_utf8) {
  CapturedCall call("void f(wstring, wchar);");
  const char32_t content[] = {'a', 0xe9, 0x4e2d, 0x1f600, 0xd800, 0x110000, '"', 0};
  call.memory.map(0x1000, {reinterpret_cast<const char*>(content), sizeof content});
  call.integers({0x1000, 0xe9});
  EXPECT_EQ(arguments(call),
            "[\"a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\\\"\","
            "\"\xc3\xa9\"]");
}

TEST(JsonStructs, and_arrays_are_arrays) {
  CapturedCall call("void f(struct(int, struct())*, array(int, 6)*, array(int, 2)*, hide(int));");
  const int numbers[] = {1, 2, 3, 4, 5, 6};
  call.memory.map(0x1000, {reinterpret_cast<const char*>(numbers), sizeof numbers});
  call.integers({0x1000, 0x1000, 0x1000, 7});
  EXPECT_EQ(arguments(call), R"([[1,[]],[1,2,3,4,{"cut":true}],[1,2]])");
}

TEST(JsonStructs, that_hold_themselves_say_how_far_out) {
  CapturedCall call("typedef li = struct;\ntypedef li = struct(li*, int);\nvoid f(li*);");
  const std::uint64_t nodes[] = {0x1010, 1, 0x1000, 2};
  call.memory.map(0x1000, {reinterpret_cast<const char*>(nodes), sizeof nodes});
  call.integers({0x1000});
  EXPECT_EQ(arguments(call), R"([[[{"recurse":1},2],1]])");
}

TEST(JsonArrays, of_which_nothing_is_shown_are_cut) {
  proto::PlanOptions options;
  options.array_limit = 0;
  CapturedCall call("void f(array(int, 6)*, struct(int)*);", options);
  call.memory.map(0x1000, std::string(24, 'x'));
  call.integers({0x1000, 0x1000});
  EXPECT_EQ(arguments(call), R"([[{"cut":true}],{"elided":true}])");
}

TEST(JsonFields, that_are_missing_say_so) {
  CapturedCall call("int f(int, string);");
  std::string out;
  json_arguments(out, call.plan, {}, std::nullopt, {});
  json_result(out, call.plan, {}, {});
  EXPECT_EQ(out, R"([{"missing":true},{"missing":true}]{"missing":true})");
}

TEST(JsonResults, are_null_where_there_is_none) {
  EXPECT_EQ(CapturedCall("void f();").result_as_json(), "null");
  EXPECT_EQ(CapturedCall("hide(int) f();").result_as_json(), "null");
  EXPECT_EQ(CapturedCall("int f();").returns(7).result_as_json(), "7");
  EXPECT_FALSE(has_result(CapturedCall("void f();").plan));
  EXPECT_TRUE(has_result(CapturedCall("int f();").plan));
}

} // namespace
} // namespace sonictrace
