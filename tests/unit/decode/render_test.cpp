#include "sonictrace/decode/render.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "sonictrace/proto/capture_plan.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "support/fake_memory.hpp"

namespace sonictrace {
namespace {

constexpr ValueStyle kOurs = {32, false};
constexpr ValueStyle kLtrace = {32, true};

std::shared_ptr<const proto::Prototype> prototype(const std::string& conf) {
  proto::PrototypeLibrary library;
  EXPECT_EQ(library.add(conf, "test.conf"), std::vector<std::string>{});
  return library.find("f");
}

using Words = std::vector<std::uint64_t>;

/// The arguments of a call of `void f(TYPES)`, captured and rendered.
std::string arguments(const std::string& types, Words words, FakeMemory& memory,
                      const ValueStyle& style) {
  const auto f = prototype("void f(" + types + ");");
  const auto plan = proto::compile(*f, style.string_limit);
  words.resize(words.size() + 6);
  std::vector<std::byte> room(plan.entry_room);
  room.resize(wire::run_capture(plan.at_entry.data(), plan.at_entry.size(), words.data(), memory,
                                room.data(), room.size()));
  std::string out;
  append_arguments(out, *f, room, style);
  return out;
}

std::string arguments(const std::string& types, Words words, const ValueStyle& style = kOurs) {
  FakeMemory memory;
  return arguments(types, std::move(words), memory, style);
}

std::string text(const std::string& type, std::string_view content,
                 const ValueStyle& style = kOurs) {
  FakeMemory memory;
  const auto address = memory.text(content);
  return arguments(type, {address}, memory, style);
}

std::string result(const proto::Prototype& f, std::uint64_t word, FakeMemory& memory) {
  const auto plan = proto::compile(f, 32);
  std::vector<std::byte> room(plan.return_room);
  room.resize(wire::run_capture(plan.at_return.data(), plan.at_return.size(), &word, memory,
                                room.data(), room.size()));
  std::string out;
  append_result(out, f, room, kOurs);
  return out;
}

std::string result(const std::string& type, std::uint64_t word) {
  FakeMemory memory;
  return result(*prototype(type + " f();"), word, memory);
}

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
  EXPECT_EQ(arguments(GetParam().type, {GetParam().word}), GetParam().expected);
  EXPECT_EQ(result(GetParam().type, GetParam().word), GetParam().expected);
}

// The upper half of a register says nothing about a narrow value (psABI 3.2.3).
INSTANTIATE_TEST_SUITE_P(
    Values, WordValue,
    testing::Values(WordCase{"int", 0xffffffff, "-1"}, WordCase{"int", 0xdead00000007, "7"},
                    WordCase{"uint", 0xdeadee6b2800, "4000000000"}, WordCase{"short", 0xfffe, "-2"},
                    WordCase{"ushort", 0xaffff, "65535"}, WordCase{"long", ~0ull - 2, "-3"},
                    WordCase{"ulong", ~0ull, "18446744073709551615"}, WordCase{"char", 'g', "'g'"},
                    WordCase{"char", 0xff00, "'\\0'"}, WordCase{"hex(int)", ~0ull, "0xffffffff"},
                    WordCase{"hex(char)", 0x1ff, "0xff"},
                    WordCase{"hex(long)", ~0ull, "0xffffffffffffffff"},
                    WordCase{"hex(int)", 0xff00000000, "0"}, WordCase{"octal", 8, "010"},
                    WordCase{"octal", 0, "00"}, WordCase{"octal", 0x1ffffff80, "037777777600"},
                    WordCase{"bool(int)", 0x100000000, "false"}, WordCase{"bool(int)", 4, "true"},
                    WordCase{"addr", 0x7f12, "0x7f12"}, WordCase{"addr", 0, "nil"},
                    WordCase{"void*", 0, "nil"}));

TEST(Arguments, are_guessed_without_a_prototype) {
  FakeMemory memory;
  const auto guess = proto::Prototype::unknown();
  const auto plan = proto::compile(*guess, 32);
  const std::uint64_t words[] = {10000, 10001, static_cast<std::uint64_t>(-10000),
                                 static_cast<std::uint64_t>(-10001)};
  std::vector<std::byte> room(plan.entry_room);
  wire::run_capture(plan.at_entry.data(), 4, words, memory, room.data(), room.size());

  std::string out;
  append_arguments(out, *guess, room, kOurs);

  EXPECT_EQ(out, "10000, 0x2711, -10000, 0xffffffffffffd8ef");
  EXPECT_EQ(result(*guess, 0xffffffff, memory), "0xffffffff");
}

TEST(Arguments, leave_hidden_ones_out_with_their_comma) {
  EXPECT_EQ(arguments("int, hide(int), int", {1, 2, 3}), "1, 3");
  EXPECT_EQ(arguments("hide(int), int", {1, 2}), "2");
  EXPECT_EQ(arguments("", {}), "");
}

TEST(Result, of_a_void_or_hidden_type) {
  EXPECT_EQ(result("void", 7), "<void>");
  EXPECT_EQ(result("hide(int)", 7), "");
}

TEST(Result, of_a_text_is_shown_as_text) {
  FakeMemory memory;
  const auto f = prototype("string f();");

  EXPECT_EQ(result(*f, memory.text("returned"), memory), "\"returned\"");
  EXPECT_EQ(result(*f, 0, memory), "nil");
  EXPECT_EQ(result(*f, 0xdead, memory), "0xdead");
}

const std::string k31 = "1234567890123456789012345678901";
const std::string k32 = k31 + "2";
const std::string k33 = k32 + "3";

TEST(Strings, are_followed_by_dots_when_they_are_cut_and_only_then) {
  EXPECT_EQ(text("string", k31), "\"" + k31 + "\"");
  EXPECT_EQ(text("string", k32), "\"" + k32 + "\"");
  EXPECT_EQ(text("string", k33), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", "", {0, false}), "\"\"");
  EXPECT_EQ(text("string", "x", {0, false}), "\"\"...");
}

TEST(Strings, of_exactly_the_limit_have_dots_in_ltraces_way) {
  EXPECT_EQ(text("string", k31, kLtrace), "\"" + k31 + "\"");
  EXPECT_EQ(text("string", k32, kLtrace), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", k33, kLtrace), "\"" + k32 + "\"...");
  EXPECT_EQ(text("string", "", {0, true}), "\"\"...");
  EXPECT_EQ(text("string", "tab\tnl\ncr", {8, true}), "\"tab\\tnl\\nc\"...");
}

TEST(Strings, escape_their_quotes_but_in_ltraces_way) {
  EXPECT_EQ(text("string", "a\"b'"), R"("a\"b'")");
  EXPECT_EQ(text("string", "a\"b'", kLtrace), R"("a"b'")");
}

TEST(Strings, that_are_file_names_are_shown_whole_but_in_ltraces_way) {
  EXPECT_EQ(text("path", "/usr/lib/" + k33), "\"/usr/lib/" + k33 + "\"");
  EXPECT_EQ(text("path", k33, kLtrace), "\"" + k32 + "\"...");
}

TEST(Strings, that_cannot_be_read_are_shown_by_their_pointer) {
  EXPECT_EQ(arguments("string", {8}), "0x8");
  EXPECT_EQ(arguments("path", {0xdead0000}), "0xdead0000");
  EXPECT_EQ(arguments("string", {8}, kLtrace), "0x8");
}

TEST(Strings, whose_end_cannot_be_read_are_cut) {
  FakeMemory memory;
  memory.map(0x1000, "abc");
  EXPECT_EQ(arguments("string", {0x1000}, memory, kOurs), "\"abc\"...");
}

TEST(Strings, stop_at_a_given_length_or_before) {
  FakeMemory memory;
  const auto address = memory.text("hello");
  EXPECT_EQ(arguments("string[arg2], int", {address, 3}, memory, kOurs), "\"hel\", 3");
  EXPECT_EQ(arguments("string[arg2], int", {address, 6}, memory, kOurs), "\"hello\", 6");
}

TEST(Bytes, are_shown_with_their_nuls_but_in_ltraces_way) {
  FakeMemory memory;
  memory.map(0x1000, std::string_view("bin\0ary\n", 8));
  EXPECT_EQ(arguments("bytes[arg2], int", {0x1000, 8}, memory, kOurs), R"("bin\000ary\n", 8)");
  EXPECT_EQ(arguments("bytes[arg2], int", {0x1000, 8}, memory, kLtrace), R"("bin", 8)");
  EXPECT_EQ(arguments("bytes[arg2], int", {0x1000, 0}, memory, kOurs), R"("", 0)");
}

TEST(Nulls, are_nil_but_for_addr_in_ltraces_way) {
  EXPECT_EQ(arguments("string, path, addr, void*", {0, 0, 0, 0}), "nil, nil, nil, nil");
  EXPECT_EQ(arguments("string, path, addr, void*", {0, 0, 0, 0}, kLtrace), "nil, nil, 0, nil");
}

TEST(Fields, that_are_missing_show_as_a_question_mark) {
  const auto f = prototype("int f(int, string);");
  std::string out;
  append_arguments(out, *f, {}, kOurs);
  out += '=';
  append_result(out, *f, {}, kOurs);
  EXPECT_EQ(out, "?, ?=?");
}

TEST(Fields, of_random_bytes_do_no_harm) {
  const auto f = prototype("string f(int, string, path, bytes[arg1], string[arg1], char);");
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes(random() % 120);
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random() % 3 == 0 ? random() % 20 : random() % 2);
    std::string out;
    append_arguments(out, *f, bytes, round % 2 == 0 ? kOurs : kLtrace);
    append_result(out, *f, bytes, kOurs);
    for (const char c : out)
      ASSERT_TRUE(c >= ' ' && c <= '~');
  }
}

} // namespace
} // namespace sonictrace
