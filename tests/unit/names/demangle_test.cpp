#include "sonictrace/names/demangle.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/compile.hpp"

namespace sonictrace {
namespace {

struct Case {
  const char* name;
  const char* mangled;
  const char* short_name;
  const char* full_name;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class Demangle : public testing::TestWithParam<Case> {};

TEST_P(Demangle, gives_the_short_and_the_full_name) {
  const Case& tested = GetParam();

  EXPECT_EQ(demangle(tested.mangled, DemangleStyle::Short), tested.short_name);
  EXPECT_EQ(demangle(tested.mangled, DemangleStyle::Full), tested.full_name);
  EXPECT_EQ(demangle(tested.mangled, DemangleStyle::None), tested.mangled);
}

constexpr const char* kString = "std::__cxx11::basic_string<char, std::char_traits<char>, "
                                "std::allocator<char> >";

const std::string kFullAppend = std::string(kString) + "::append(char const*)";
const std::string kFullHash =
    std::string("std::hash<") + kString + " >::operator()(" + kString + ") const";

INSTANTIATE_TEST_SUITE_P(
    Cxx, Demangle,
    testing::Values(
        Case{"plain_c", "malloc", "malloc", "malloc"},
        Case{"type_code", "i", "i", "i"}, // which the C++ runtime would call `int`
        Case{"function", "_ZN2at6native19upsample_bilinear2dERKNS_6TensorE",
             "at::native::upsample_bilinear2d",
             "at::native::upsample_bilinear2d(at::Tensor const&)"},
        Case{"template_with_result", "_Z3fooIiEvT_", "foo<int>", "void foo<int>(int)"},
        Case{"result_is_a_function_pointer", "_Z3fooIiEPFvT_Ei", "foo<int>",
             "void (*foo<int>(int))(int)"},
        Case{"parentheses_in_template_arguments", "_Z3fooISt8functionIFvidEEEvT_",
             "foo<std::function<void (int, double)> >",
             "void foo<std::function<void (int, double)> >(std::function<void (int, double)>)"},
        Case{"expression_in_result", "_Z3addIiiEDTplfp_fp0_ET_T0_", "add<int, int>",
             "decltype ({parm#1}+{parm#2}) add<int, int>(int, int)"},
        Case{"call_operator", "_ZNK1AclEi", "A::operator()", "A::operator()(int) const"},
        Case{"shift_operator", "_ZlsRSo1A", "operator<<", "operator<<(std::ostream&, A)"},
        Case{"template_less_operator", "_ZltI1AEbRKT_S3_", "operator< <A>",
             "bool operator< <A>(A const&, A const&)"},
        Case{"conversion", "_ZNK1AcvbEv", "A::operator bool", "A::operator bool() const"},
        Case{"conversion_to_pointer_to_function", "_ZN1AcvPFvvEEv", "A::operator void (*)()",
             "A::operator void (*)()()"},
        Case{"new_operator", "_Znwm", "operator new", "operator new(unsigned long)"},
        Case{"delete_array_operator", "_ZdaPv", "operator delete[]", "operator delete[](void*)"},
        Case{"literal_operator", "_Zli2_xy", "operator\"\" _x",
             "operator\"\" _x(unsigned long long)"},
        Case{"constructor", "_ZN3FooC1Ei", "Foo::Foo", "Foo::Foo(int)"},
        Case{"destructor", "_ZN3FooD0Ev", "Foo::~Foo", "Foo::~Foo()"},
        Case{"const_and_ref_qualified", "_ZNKR1A3getEv", "A::get", "A::get() const &"},
        Case{"lambda", "_ZZ3fooiENKUlvE_clEv", "foo(int)::{lambda()#1}::operator()",
             "foo(int)::{lambda()#1}::operator()() const"},
        Case{"static_in_function", "_ZZN1A3fooEvE7counter", "A::foo()::counter",
             "A::foo()::counter"},
        Case{"anonymous_namespace", "_ZN12_GLOBAL__N_13fooEv", "{anonymous}::foo",
             "(anonymous namespace)::foo()"},
        Case{"string_as_class", "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
             "std::string::append", kFullAppend.c_str()},
        Case{"string_as_argument",
             "_ZNKSt4hashINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEclES5_",
             "std::hash<std::string>::operator()", kFullHash.c_str()},
        Case{"string_of_libcxx",
             "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6appendEPKc",
             "std::string::append",
             "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> "
             ">::append(char const*)"},
        Case{"string_of_old_abi", "_ZNSs6appendEPKc", "std::string::append",
             "std::string::append(char const*)"},
        Case{"abi_tag", "_ZNKSt5ctypeIcE5valueB5cxx11Ev", "std::ctype<char>::value[abi:cxx11]",
             "std::ctype<char>::value[abi:cxx11]() const"},
        Case{"cold_clone", "_ZN1A3fooEv.cold", "A::foo [clone .cold]", "A::foo() [clone .cold]"},
        Case{"several_clones", "_ZN1A3fooEi.isra.0.part.1",
             "A::foo [clone .isra.0] [clone .part.1]",
             "A::foo(int) [clone .isra.0] [clone .part.1]"},
        Case{"numbered_clone", "_Z3foov.constprop.0.cold.12",
             "foo [clone .constprop.0] [clone .cold.12]",
             "foo() [clone .constprop.0] [clone .cold.12]"},
        Case{"thunk", "_ZThn8_N1B3fooEi", "non-virtual thunk to B::foo",
             "non-virtual thunk to B::foo(int)"},
        Case{"virtual_thunk", "_ZTv0_n24_NK1B3fooEv", "virtual thunk to B::foo",
             "virtual thunk to B::foo() const"},
        Case{"vtable", "_ZTV1A", "vtable for A", "vtable for A"},
        Case{"typeinfo", "_ZTIN1A1BE", "typeinfo for A::B", "typeinfo for A::B"},
        Case{"guard", "_ZGVZ3foovE1x", "guard variable for foo()::x",
             "guard variable for foo()::x"},
        Case{"internal_linkage", "_ZL3fooi", "foo", "foo(int)"},
        Case{"variable", "_ZSt4cout", "std::cout", "std::cout"},
        Case{"substitutions",
             "_ZNSt6vectorIN3foo3BarESaIS1_EE17_M_realloc_insertIJRKS1_EEEvN9__gnu_cxx17__normal_"
             "iteratorIPS1_S3_EEDpOT_",
             "std::vector<foo::Bar, std::allocator<foo::Bar> >::_M_realloc_insert<foo::Bar const&>",
             "void std::vector<foo::Bar, std::allocator<foo::Bar> >::_M_realloc_insert<foo::Bar "
             "const&>(__gnu_cxx::__normal_iterator<foo::Bar*, std::vector<foo::Bar, "
             "std::allocator<foo::Bar> > >, foo::Bar const&)"}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Rust, Demangle,
    testing::Values(
        Case{"legacy", "_ZN4core3fmt9Formatter3pad17h3b0e5d7c9a1f2e4bE",
             "core::fmt::Formatter::pad", "core::fmt::Formatter::pad"},
        Case{"legacy_escapes",
             "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789"
             "abcdefE",
             "<alloc::string::String as core::fmt::Display>::fmt",
             "<alloc::string::String as core::fmt::Display>::fmt"},
        Case{"legacy_copy", "_ZN3foo3bar17h0123456789abcdefE.llvm.1234567", "foo::bar", "foo::bar"},
        Case{"no_hash_is_cxx", "_ZN3foo17h0000000000000000E", "foo::h0000000000000000",
             "foo::h0000000000000000"},
        Case{"v0", "_RNvNtCs8NwYtU1Mohg_4core3ptr9drop_glue", "core::ptr::drop_glue",
             "core::ptr::drop_glue"},
        Case{"v0_generic_trait_method",
             "_RNvXs_Cs1234_3fooNtB4_3BarINtNtCs5678_4core7convert4FromRhE4from",
             "<foo::Bar as core::convert::From<&u8>>::from",
             "<foo::Bar as core::convert::From<&u8>>::from"},
        Case{"v0_closure", "_RNCNvCs1234_3foo3bars_0", "foo::bar::{closure#1}",
             "foo::bar::{closure#1}"},
        Case{
            "v0_types", "_RINvCs1_1f1gTjPmEAhj4_FUKCSbEuDNtC1t1TEL_RL_eE",
            "f::g::<(usize, *const u32), [u8; 4], unsafe extern \"C\" fn([bool]), dyn t::T, &str>",
            "f::g::<(usize, *const u32), [u8; 4], unsafe extern \"C\" fn([bool]), dyn t::T, &str>"},
        Case{"v0_bound_lifetimes", "_RINvC1f1gFG_RL0_hEuE", "f::g::<for<'a> fn(&'a u8)>",
             "f::g::<for<'a> fn(&'a u8)>"},
        Case{"v0_constants", "_RINvC1f1gKj10_Kin5_Kb1_Kc41_KpE", "f::g::<16, -5, true, 'A', _>",
             "f::g::<16, -5, true, 'A', _>"},
        Case{"v0_punycode", "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
             "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
             "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_"
             "\u10e1\u10d0\u10d3\u10d8\u10da\u10d8",
             "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
             "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_"
             "\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(DemangleMalformed, names_come_back_unchanged) {
  for (const char* const name : {"",
                                 "_",
                                 "_Z",
                                 "_Z3fo",
                                 "_ZN3foo",
                                 "_ZNE",
                                 "_Z99999999999999999999foo",
                                 "_ZS",
                                 "_ZSz",
                                 "_ZZ",
                                 "_ZT",
                                 "_Z3fooI",
                                 "_ZN4core3fmt17h",
                                 "_R",
                                 "_RN",
                                 "_RNvC",
                                 "_RNvB_",
                                 "_RNvNvB0_1a1b",
                                 "_RIC1aB_E",
                                 "_RNqC1au5_ZZZZZ",
                                 "_ZN3foo3bar17h0123456789abcdefX"}) {
    EXPECT_EQ(demangle(name, DemangleStyle::Short), name);
    EXPECT_EQ(demangle(name, DemangleStyle::Full), name);
  }
}

std::string repeated(std::string_view what, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += what;
  return text;
}

// Each argument is twice as long as the one before.
std::string doubling_itanium_name(int levels) {
  std::string name = "_Z1f1AIiiE";
  for (int level = 0; level < levels; ++level) {
    const char digit = static_cast<char>(level < 10 ? '0' + level : 'A' + level - 10);
    const std::string last = std::string("S") + digit + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

std::string doubling_rust_name(int levels) {
  std::string name = "_RINvC1a1bThhE";
  std::string last = "B7_"; // of the tuple
  for (int level = 0; level < levels; ++level) {
    const std::size_t at = name.size() - 2;
    name += "T" + last + last + "E";
    const std::string_view digits =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string number;
    for (std::size_t rest = at - 1;; rest /= 62) {
      number.insert(number.begin(), digits[rest % 62]);
      if (rest < 62) break;
    }
    last = "B" + number + "_";
  }
  return name + "E";
}

TEST(DemangleHostile, names_cost_bounded_time_and_give_bounded_text) {
  const std::vector<std::string> names = {
      doubling_itanium_name(26),
      doubling_rust_name(40),
      "_Z" + repeated("1a", 50'000),
      "_Z1f" + repeated("P", 100'000) + "v",
      "_Z1f" + repeated("P", 60'000) + "v",
      "_ZN" + repeated("1a", 30'000) + "E",
      "_Z1f" + repeated("1AI", 20'000) + repeated("E", 20'000),
      "_Z" + repeated("Z", 60'000),
      "_Z1fIX" + repeated("pl", 30'000),
      "_Z1fIL" + repeated("_Z1fIL", 9'000),
      "_R" + repeated("NvC1a", 10'000),
      "_R" + repeated("INvC1a1b", 8'000),
      "_RINvC1a1b" + repeated("R", 60'000),
      "_RINvC1a1bFG" + repeated("z", 10) + "_EuE",
      "_RNqC1au60000_" + repeated("9", 60'000),
      "_ZN" + repeated("1$", 30'000) + "17h0123456789abcdefE",
      std::string(100'000, '_'),
  };
  for (const std::string& name : names)
    for (const DemangleStyle style : {DemangleStyle::Short, DemangleStyle::Full})
      EXPECT_LE(demangle(name, style).size(), 300'000U) << name.substr(0, 40);
}

// Their first part alone keeps the C++ runtime busy for ever.
TEST(DemangleMalformed, names_with_bytes_that_no_name_has_come_back_unchanged) {
  std::string name = "_ZN4llvm4yaml7yamlizeISt6vectorINS0_5Hex64ESaIS3_EENS0_12EmptyContextEEENSt9"
                     "enable_ifIXsr18has_SequenceTrecINtNtNtNtCslwYoMsl7D92";
  EXPECT_EQ(demangle(name, DemangleStyle::Short), name);
  name += std::string("\v\0\0\0\0\0\0\0", 8) + "TreeT_EE5valueEvE4typeERNS0_2IOERS8_bRT0_";
  EXPECT_EQ(demangle(name, DemangleStyle::Short), name);
  EXPECT_EQ(demangle("_Z3f\no", DemangleStyle::Full), "_Z3f\no");
}

TEST(DemangleHostile, names_of_moderate_growth_are_still_demangled) {
  EXPECT_EQ(demangle(doubling_itanium_name(5), DemangleStyle::Short), "f");
  EXPECT_EQ(demangle(doubling_rust_name(2), DemangleStyle::Short),
            "a::b::<(u8, u8), ((u8, u8), (u8, u8)), "
            "(((u8, u8), (u8, u8)), ((u8, u8), (u8, u8)))>");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// What binutils says, put in our words: it writes streams and strings out.
std::string in_our_words(std::string text, bool is_short) {
  static const std::regex streams("std::basic_([io]|io)stream<char, std::char_traits<char> >");
  text = std::regex_replace(text, streams, "std::$1stream");
  if (!is_short) return text;
  text = test::replaced(std::move(text), "(anonymous namespace)", "{anonymous}");
  text = test::replaced(std::move(text), kString, "std::string");
  text = test::replaced(std::move(text),
                        "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                        "std::string");
  return test::replaced(std::move(text), "std::string >", "std::string>");
}

TEST(DemangleLibrary, names_of_libstdcxx_are_what_cxxfilt_says) {
  for (const char* const tool : {"c++filt", "nm"})
    if (!test::has_tool(tool)) GTEST_SKIP() << tool << " is not installed";
  const test::Compiled made =
      test::compile("", "nm -D --without-symbol-versions $(g++ -print-file-name=libstdc++.so.6) | "
                        "sed 's/.* //' | grep ^_Z | sort -u >{out} && c++filt -p <{out} >{dir}p");
  if (!made.succeeded) GTEST_SKIP() << made.messages;
  const auto mangled = lines_of(test::read_text(made.path));
  const auto expected = lines_of(test::read_text(made.directory / "p"));
  ASSERT_EQ(mangled.size(), expected.size());
  ASSERT_GT(mangled.size(), 1000U);

  for (std::size_t i = 0; i < mangled.size(); ++i) {
    const std::string actual = demangle(mangled[i], DemangleStyle::Short);
    EXPECT_NE(actual, mangled[i]);
    // Thunks and transaction clones: binutils keeps the parameters.
    const std::string_view kind = std::string_view(mangled[i]).substr(0, 4);
    if (kind == "_ZTh" || kind == "_ZTv" || kind == "_ZTc" || kind == "_ZGT") continue;
    EXPECT_EQ(in_our_words(actual, true), in_our_words(expected[i], true)) << mangled[i];
  }
}

} // namespace
} // namespace sonictrace
