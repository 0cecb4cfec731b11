// What is shown of calls of functions of which only the mangled name is known.
// Objects are real ones where this program's library has the layout, else they
// are laid out by hand.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/named_call.hpp"

namespace sonictrace {
namespace {

#define GNU_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define LLVM_STRING "NSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE"

/// Of a function with one argument, by the type's mangled name.
std::string argument(const std::string& type, std::uint64_t word) {
  return NamedCall("_Z1f" + type).word(word).arguments();
}
template <class Object>
std::string argument_of(const std::string& type, const Object& object) {
  return argument(type, reinterpret_cast<std::uint64_t>(&object));
}

TEST(Names, tell_plain_types) {
  EXPECT_EQ(argument("i", 0xffffffff), "-1");
  EXPECT_EQ(argument("j", 0xffffffff), "4294967295");
  EXPECT_EQ(argument("s", 0xfffe), "-2");
  EXPECT_EQ(argument("l", ~0ull), "-1");
  EXPECT_EQ(argument("m", 5), "5");
  EXPECT_EQ(argument("a", 0xff), "-1");
  EXPECT_EQ(argument("h", 0xff), "255");
  EXPECT_EQ(argument("c", 'x'), "'x'");
  EXPECT_EQ(argument("b", 1), "true");
  EXPECT_EQ(argument("Pi", 0x1234), "0x1234");
  EXPECT_EQ(argument("P1A", 0), "nil");
  EXPECT_EQ(argument("Dn", 0), "nil");
  EXPECT_EQ(argument("PFvvE", 0x1234), "0x1234");
}

TEST(Names, tell_where_real_numbers_are) {
  EXPECT_EQ(NamedCall("_Z1fdif").real(1.5).word(7).real(0.25f).arguments(), "1.5, 7, 0.25");
  EXPECT_EQ(NamedCall("_ZN1A1fEdf").real(1.5).real(2.5f).arguments(), "1.5, 2.5");
}

TEST(Names, of_functions_without_parameters_show_nothing) {
  EXPECT_EQ(NamedCall("_Z1fv").arguments(), "");
  EXPECT_EQ(NamedCall("_ZN1A1fEv").arguments(), "");
}

TEST(Names, tell_text_behind_const_pointers) {
  const char text[] = "text";
  EXPECT_EQ(argument("PKc", reinterpret_cast<std::uint64_t>(text)), "\"text\"");
  EXPECT_EQ(argument("Pc", std::uint64_t{0x1234}), "0x1234");
  const wchar_t wide[] = L"wide";
  EXPECT_EQ(argument("PKw", reinterpret_cast<std::uint64_t>(wide)), "L\"wide\"");
}

TEST(Names, tell_strings_of_libstdcxx) {
  const std::string empty, small = "small", large(40, 'x'), nuls("a\0b", 3), full(15, 'f');
  EXPECT_EQ(argument_of("RK" GNU_STRING, empty), "\"\"");
  EXPECT_EQ(argument_of("RK" GNU_STRING, small), "\"small\"");
  EXPECT_EQ(argument_of("RK" GNU_STRING, full), "\"fffffffffffffff\"");
  EXPECT_EQ(argument_of("RK" GNU_STRING, large), "\"" + std::string(32, 'x') + "\"...");
  EXPECT_EQ(argument_of("RK" GNU_STRING, nuls), "\"a\\000b\"");
  EXPECT_EQ(argument_of("R" GNU_STRING, small), "\"small\"");
  EXPECT_EQ(argument_of("O" GNU_STRING, small), "\"small\"");
  EXPECT_EQ(argument_of(GNU_STRING, small), "\"small\"") << "by value: a reference to a copy";
  std::string moved = large;
  const std::string taken = std::move(moved);
  EXPECT_EQ(argument_of("RK" GNU_STRING, moved), "\"\"");
  EXPECT_EQ(NamedCall("_Z1fRK" GNU_STRING).word(&small).json(), R"(["small"])");
}

/// As libstdc++ had it before GCC 5.
struct OldString {
  std::uint64_t size, capacity;
  std::int64_t owners;
  char text[24];
};

TEST(Names, tell_strings_of_the_old_abi) {
  OldString body{5, 20, 0, "small"};
  const char* string = body.text;
  EXPECT_EQ(argument_of("RKSs", string), "\"small\"");
  EXPECT_EQ(argument_of("Ss", string), "\"small\"");
  body.owners = -1; // it may not be shared
  EXPECT_EQ(argument_of("RKSs", string), "\"small\"");
  body.size = 21; // more than there is room for: no string
  EXPECT_EQ(argument_of("RKSs", string).substr(0, 2), "0x");
}

TEST(Names, tell_strings_of_libcxx) {
  std::array<char, 24> small{};
  small[0] = 5 << 1;
  std::memcpy(&small[1], "small", 5);
  EXPECT_EQ(argument_of("RK" LLVM_STRING, small), "\"small\"");
  const std::string text(40, 'y');
  const std::array<std::uint64_t, 3> large{48 | 1, 40,
                                           reinterpret_cast<std::uint64_t>(text.c_str())};
  EXPECT_EQ(argument_of("RK" LLVM_STRING, large), "\"" + std::string(32, 'y') + "\"...");
  small[6] = 'x'; // does not end where it says
  EXPECT_EQ(argument_of("RK" LLVM_STRING, small).substr(0, 2), "0x");
}

TEST(Names, tell_string_views_of_either_order) {
  const std::string_view view = "a view";
  const auto data = reinterpret_cast<std::uint64_t>(view.data());
  EXPECT_EQ(NamedCall("_Z1fSt17basic_string_viewIcSt11char_traitsIcEEi")
                .word(view.size())
                .word(data)
                .word(7)
                .arguments(),
            "\"a view\", 7");
  EXPECT_EQ(NamedCall("_Z1fNSt3__117basic_string_viewIcNS_11char_traitsIcEEEEi")
                .word(data)
                .word(view.size())
                .word(7)
                .arguments(),
            "\"a view\", 7");
  EXPECT_EQ(argument_of("RKSt17basic_string_viewIcSt11char_traitsIcEE", view), "\"a view\"");
}

TEST(Names, tell_vectors) {
  const std::vector<int> numbers = {1, -2, 3}, none, many = {1, 2, 3, 4, 5};
  EXPECT_EQ(argument_of("RKSt6vectorIiSaIiEE", numbers), "[1, -2, 3]");
  EXPECT_EQ(argument_of("RKSt6vectorIiSaIiEE", none), "[]");
  EXPECT_EQ(argument_of("RKSt6vectorIiSaIiEE", many), "[1, 2, 3, 4, ...]");
  EXPECT_EQ(argument_of("St6vectorIiSaIiEE", numbers), "[1, -2, 3]");
  const std::vector<double> reals = {0.5, 2};
  EXPECT_EQ(argument_of("RKSt6vectorIdSaIdEE", reals), "[0.5, 2.0]");
  const std::vector<std::string> strings = {"a", std::string(20, 'b')};
  EXPECT_EQ(argument_of("RKSt6vectorI" GNU_STRING "SaIS5_EE", strings),
            "[\"a\", \"bbbbbbbbbbbbbbbbbbbb\"]");
  const std::vector<std::vector<int>> nested = {{1}, {2, 3}};
  EXPECT_EQ(argument_of("RKSt6vectorIS_IiSaIiEESaIS1_EE", nested), "[[1], [2, 3]]");
  const std::vector<bool> bits = {true};
  EXPECT_EQ(argument_of("RKSt6vectorIbSaIbEE", bits).substr(0, 2), "0x");
  const std::vector<std::pair<int, char>> pairs = {{1, 'a'}};
  EXPECT_EQ(argument_of("RKSt6vectorISt4pairIicESaIS1_EE", pairs), "[{ 1, 'a' }]");
}

TEST(Names, tell_views_of_elements) {
  const std::vector<long> shape = {1, 3, 256, 256};
  const auto data = reinterpret_cast<std::uint64_t>(shape.data());
  for (const char* type : {"N3c108ArrayRefIlEE", "N3c108ArrayRefINS_6SymIntEEE",
                           "St16initializer_listIlE", "St4spanIlLm18446744073709551615EE"})
    EXPECT_EQ(NamedCall(std::string("_Z1f") + type + "i").word(data).word(4).word(9).arguments(),
              "[1, 3, 256, 256], 9")
        << type;
}

TEST(Names, tell_times) {
  const std::string seconds = "NSt6chrono8durationIlSt5ratioILl1ELl1EEEE";
  EXPECT_EQ(argument(seconds, 250), "250");
  EXPECT_EQ(
      argument("NSt6chrono10time_pointINS_3_V212system_clockENS_8durationIlSt5ratioILl1ELl1EEEEEE",
               7),
      "7");
}

TEST(Names, tell_that_more_may_follow) {
  EXPECT_EQ(NamedCall("_Z1fiz").word(1).word(2).arguments(), "1, ...");
}

TEST(Names, tell_optional_values) {
  const std::optional<int> seven = 7, none;
  EXPECT_EQ(argument_of("RKSt8optionalIiE", seven), "7");
  EXPECT_EQ(argument_of("RKSt8optionalIiE", none), "nullopt");
  EXPECT_EQ(argument("St8optionalIiE", 7 | 1ull << 32), "7");
  EXPECT_EQ(argument("St8optionalIiE", 7), "nullopt");
  EXPECT_EQ(NamedCall("_Z1fSt8optionalIdEi").real(0.5).word(1).word(3).arguments(), "0.5, 3");
  EXPECT_EQ(NamedCall("_Z1fSt8optionalIdEi").real(0.5).word(0).word(3).arguments(), "nullopt, 3");
  // That of libc++ has the value in a union with a character: it is in general registers.
  const std::uint64_t half = std::bit_cast<std::uint64_t>(0.5);
  EXPECT_EQ(NamedCall("_Z1fNSt3__18optionalIdEEi").real(2.5).word(half).word(1).word(3).arguments(),
            "0.5, 3");
  const std::optional<std::string> text = "text";
  EXPECT_EQ(argument_of("RKSt8optionalI" GNU_STRING "E", text), "\"text\"");
  EXPECT_EQ(argument_of("St8optionalI" GNU_STRING "E", text), "\"text\"");
}

TEST(Names, tell_optional_values_of_torch) {
  // The flag is in front.
  // The value shares its place with a character, so that it is in a general register.
  constexpr std::uint64_t kHalf = 0x3fe0000000000000;
  EXPECT_EQ(NamedCall("_Z1fN3c108optionalIdEEi").word(1).word(kHalf).word(3).arguments(), "0.5, 3");
  EXPECT_EQ(NamedCall("_Z1fN3c108optionalIlEEi").word(1).word(42).word(3).arguments(), "42, 3");
  EXPECT_EQ(
      NamedCall("_Z1fN3c108optionalIlEEi").word(std::uint64_t{0}).word(42).word(3).arguments(),
      "nullopt, 3");
  // An assignment of its own, of the view, makes a copy constructor of its own.
  const std::string_view text = "text";
  const std::uint64_t view[] = {1, reinterpret_cast<std::uint64_t>(text.data()), text.size()};
  EXPECT_EQ(
      NamedCall("_Z1fN3c108optionalINS_17basic_string_viewIcEEEEi").word(view).word(3).arguments(),
      "\"text\", 3");
  const long sizes[] = {2, 3};
  const std::string type = "_Z1fN3c108optionalINS_8ArrayRefIlEEEEi";
  EXPECT_EQ(NamedCall(type).word(sizes).word(2).word(3).arguments(), "[2, 3], 3");
  EXPECT_EQ(NamedCall(type).word(std::uint64_t{0}).word(1).word(3).arguments(), "nullopt, 3");
}

TEST(Names, tell_small_structs) {
  EXPECT_EQ(argument("St4pairIiiE", 1 | 2ull << 32), "{ 1, 2 }");
  EXPECT_EQ(argument("N2cv5Size_IiEE", 640 | 480ull << 32), "{ 640, 480 }");
  EXPECT_EQ(NamedCall("_Z1fSt7complexIdE").real(1.0).real(-0.5).arguments(), "{ 1.0, -0.5 }");
  EXPECT_EQ(NamedCall("_Z1fSt4pairIidE").word(1).real(0.5).arguments(), "{ 1, 0.5 }");
  EXPECT_EQ(argument("St5arrayIsLm3EE", 1 | 2 << 16 | 3ull << 32), "[ 1, 2, 3 ]");
}

TEST(Names, tell_what_smart_pointers_hold) {
  const auto shared = std::make_shared<int>(3);
  const auto unique = std::make_unique<int>(3);
  const std::shared_ptr<int> none;
  EXPECT_EQ(argument_of("RKSt10shared_ptrIiE", shared),
            argument("Pi", reinterpret_cast<std::uint64_t>(shared.get())));
  EXPECT_EQ(argument_of("St10shared_ptrIiE", none), "nil");
  EXPECT_EQ(argument_of("St10unique_ptrIiSt14default_deleteIiEE", unique),
            argument("Pi", reinterpret_cast<std::uint64_t>(unique.get())));
}

TEST(Names, tell_what_const_references_lead_to) {
  const int number = 7;
  EXPECT_EQ(argument_of("RKi", number), "7");
  EXPECT_EQ(argument_of("Oi", number), "7");
  EXPECT_EQ(argument_of("Ri", number).substr(0, 2), "0x") << "it may be for what comes out";
  const char* text = "text";
  EXPECT_EQ(argument_of("RKPKc", text), "\"text\"");
  EXPECT_EQ(argument_of("RK1A", number).substr(0, 2), "0x");
}

/// As opencv2/core/mat.hpp has them.
struct Matrix {
  std::int32_t flags, dimensions, rows, columns;
  void* data;
};
struct InputArray {
  std::int32_t flags;
  const void* object;
  std::int32_t size[2];
};

TEST(Names, tell_type_and_size_of_matrices) {
  Matrix matrix{0x42ff4010, 2, 480, 640, nullptr};
  EXPECT_EQ(argument_of("RKN2cv3MatE", matrix), "CV_8UC3 640x480");
  EXPECT_EQ(argument_of("N2cv3MatE", matrix), "CV_8UC3 640x480");
  InputArray input{0x01010000, &matrix, {}};
  EXPECT_EQ(argument_of("RKN2cv11_InputArrayE", input), "CV_8UC3 640x480");
  EXPECT_EQ(NamedCall("_Z1fRKN2cv3MatE").word(&matrix).json(), R"(["CV_8UC3 640x480"])");
  input.flags = 0x3 << 16; // a vector
  EXPECT_EQ(argument_of("RKN2cv11_InputArrayE", input).substr(0, 2), "0x");
  EXPECT_EQ(argument_of("RKN2cv11_InputArrayE", input).find(','), std::string::npos);
  matrix.dimensions = 3;
  EXPECT_EQ(argument_of("RKN2cv3MatE", matrix), "CV_8UC3 3D");
  matrix.flags = 0;
  EXPECT_EQ(argument_of("RKN2cv3MatE", matrix).substr(0, 2), "0x");
}

TEST(Names, tell_the_sizes_of_tensors) {
  struct {
    std::uint64_t head[9];
    std::uint64_t count, sizes[10], offset, elements;
  } body{{}, 3, {3, 256, 255}, 0, 3 * 256 * 255};
  const void* tensor = &body;
  EXPECT_EQ(argument_of("RKN2at6TensorE", tensor), "[3, 256, 255]");
  EXPECT_EQ(argument_of("N2at6TensorE", tensor), "[3, 256, 255]");
  const std::uint64_t many[] = {1, 2, 3, 4, 5, 6};
  body.count = 6;
  body.sizes[0] = reinterpret_cast<std::uint64_t>(many);
  body.elements = 720;
  EXPECT_EQ(argument_of("RKN2at6TensorE", tensor), "[1, 2, 3, 4, ...]");
  body.elements = 719; // another layout
  EXPECT_EQ(argument_of("RKN2at6TensorE", tensor).substr(0, 2), "0x");
}

// ---- what the name does not tell
// --------------------------------------------------------------

TEST(HiddenWords, are_found_by_what_can_only_be_a_string) {
  const std::string text = "text";
  const std::uint64_t object[2] = {};
  for (const std::size_t shift : {0u, 1u, 2u}) {
    NamedCall call("_ZN1a1b1fERK" GNU_STRING "i");
    for (std::size_t at = 0; at < shift; ++at)
      call.word(object);
    EXPECT_EQ(call.word(&text).word(5).returns(reinterpret_cast<std::uint64_t>(object)).arguments(),
              "\"text\", 5")
        << shift;
  }
}

TEST(HiddenWords, are_not_guessed_where_two_readings_are_possible) {
  const std::string text = "text", other = "other";
  NamedCall call("_ZN1a1b1fERK" GNU_STRING);
  call.word(&text).word(&other).returns(reinterpret_cast<std::uint64_t>(&text));
  const std::string shown = call.arguments();
  EXPECT_EQ(shown.find('"'), std::string::npos) << shown;
  EXPECT_EQ(shown.substr(0, 2), "0x");
}

TEST(HiddenWords, do_not_matter_where_all_readings_show_the_same) {
  const std::string text = "text";
  NamedCall call("_ZN1a1b1fERK" GNU_STRING);
  call.word(&text).word(&text).returns(reinterpret_cast<std::uint64_t>(&text));
  EXPECT_EQ(call.arguments(), "\"text\"");
}

TEST(HiddenWords, are_none_where_a_number_would_be_a_pointer) {
  const char text[] = "text";
  EXPECT_EQ(NamedCall("_ZN1a1fEPKci").word(text).word(1).arguments(), "\"text\", 1");
}

TEST(HiddenWords, are_no_this_in_namespaces_that_are_known) {
  const int object = 1;
  const auto pointer = argument_of("Ri", object);
  EXPECT_EQ(NamedCall("_ZN2cv1fERi").word(&object).word(&object).returns(5).arguments(), pointer);
  EXPECT_NE(NamedCall("_ZN2cx1fERii").word(&object).word(&object).returns(5).arguments(), pointer);
}

TEST(HiddenWords, that_one_call_has_ruled_out_stay_so) {
  const std::string text = "text", other = "other";
  NamedCall call("_ZN1a1b1fERK" GNU_STRING);
  EXPECT_EQ(call.word(&text).arguments(), "\"text\"");
  EXPECT_EQ(call.reset().word(&text).word(&other).arguments(), "\"text\"");
}

TEST(HiddenWords, hold_no_result_where_rax_is_another_address) {
  NamedCall call("_Z1fiRK1A");
  const int object = 3, other = 4;
  call.word(&object).word(&other).word(&object);
  EXPECT_EQ(call.open_arguments().substr(0, 2), "0x");
  const auto low = static_cast<std::int32_t>(reinterpret_cast<std::uint64_t>(&object));
  EXPECT_EQ(call.returns(5).arguments().substr(0, std::to_string(low).size()), std::to_string(low));
}

TEST(HiddenWords, are_none_where_the_first_word_leads_nowhere) {
  EXPECT_EQ(NamedCall("_ZN1a1fEi").word(5).open_arguments(), "5");
}

TEST(HiddenWords, of_const_members_are_this) {
  const std::string text = "text";
  const int object = 0;
  const std::string shown =
      NamedCall("_ZNK1A1fERK" GNU_STRING).word(&object).word(&text).arguments();
  EXPECT_EQ(shown.substr(0, 2), "0x");
  EXPECT_EQ(shown.substr(shown.find(',')), ", \"text\"");
}

TEST(HiddenWords, of_constructors_are_this_and_maybe_a_table) {
  const std::string text = "text";
  const std::uint64_t object = 0;
  const std::uint64_t table[] = {1, 2, 3, 4}; // no string, whatever lies behind it
  const auto pointer = argument("Pi", reinterpret_cast<std::uint64_t>(&object));
  EXPECT_EQ(NamedCall("_ZN1AC1ERK" GNU_STRING).word(&object).word(&text).arguments(),
            pointer + ", \"text\"");
  EXPECT_EQ(NamedCall("_ZN1AC1ERK" GNU_STRING).result(), "<void>");
  EXPECT_EQ(NamedCall("_ZN1AC2ERK" GNU_STRING).word(&object).word(&text).arguments(),
            pointer + ", \"text\"");
  EXPECT_EQ(NamedCall("_ZN1AC2ERK" GNU_STRING).word(&object).word(&table).word(&text).arguments(),
            pointer + ", \"text\"");
}

TEST(HiddenWords, of_templates_are_told_by_the_result) {
  const std::string text = "text";
  const std::string made = "made";
  NamedCall call("_Z1fIiE" GNU_STRING "RKS5_T_");
  call.word(&made).word(&text).word(3).returns(reinterpret_cast<std::uint64_t>(&made));
  EXPECT_EQ(call.open_arguments(), "\"text\", 3");
  EXPECT_EQ(call.result(), "\"made\"");
}

TEST(UnknownClasses, hide_where_the_rest_is) {
  EXPECT_EQ(NamedCall("_Z1f5Coloril").word(2).word(5).word(7).returns(1).arguments(), "2, ...");
}

TEST(UnknownClasses, are_measured_by_the_strings_behind_them) {
  const std::string text = "text";
  NamedCall call("_Z1f5ColorRK" GNU_STRING "i");
  EXPECT_EQ(call.word(2).word(&text).word(7).arguments(), "2, \"text\", 7");
  NamedCall large("_Z1f5LargeRK" GNU_STRING "i");
  EXPECT_EQ(large.word(&text).word(7).arguments(), "..., \"text\", 7");
  NamedCall wide("_Z1f4WideRK" GNU_STRING "i");
  EXPECT_EQ(wide.word(1).word(2).word(&text).word(7).arguments(), "..., \"text\", 7");
}

TEST(Names, show_pointers_where_objects_are_no_objects) {
  const std::uint64_t garbage[4] = {1, 2, 3, 4};
  for (const char* type : {"RK" GNU_STRING, "RK" LLVM_STRING, "RKSs", "RKSt6vectorIiSaIiEE"}) {
    const std::string shown = NamedCall(std::string("_Z1fIiEv") + type).word(garbage).arguments();
    EXPECT_EQ(shown.substr(0, 2), "0x") << type << ": " << shown;
  }
  EXPECT_EQ(NamedCall("_Z1fIiEvRK" GNU_STRING).word(std::uint64_t{0}).arguments(), "nil");
}

TEST(Names, that_tell_nothing_leave_what_ltrace_assumes) {
  EXPECT_FALSE(NamedCall("malloc").is_known);
  EXPECT_FALSE(NamedCall("_ZTV1A").is_known);
  EXPECT_TRUE(NamedCall("_Z1fi").is_known);
}

TEST(Names, never_need_more_room_than_they_say) {
  const std::string text(100, 'x');
  NamedCall call("_ZN1a1b1fERK" GNU_STRING "S7_S7_");
  call.word(&text).word(&text).word(&text).word(&text).word(&text);
  const auto whole = call.captured_entry();
  EXPECT_LE(whole.size(), call.plan().entry_room);
  for (std::size_t room = 0; room <= whole.size(); room += 7) {
    std::string out;
    append_arguments(out, call.plan(), call.captured_entry(room), std::nullopt, ArgumentPart::All,
                     {});
  }
}

} // namespace
} // namespace sonictrace
