// What is read of a pack, and what becomes of names by it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proto/cpp_pack.hpp"
#include "proto/cpp_prototype.hpp"
#include "sonictrace/proto/print.hpp"
#include "sonictrace/proto/prototype_library.hpp"

namespace sonictrace::proto {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kPack = R"(# A library 1.2.
# Made by hand.
library liba.so.1
library liba_extra.so.1
enum a::Mode i1 Off On=5 Auto
enum a::Wide u8 None Most=18446744073709551615
flags a::Access u4 READ=1 WRITE EXECUTE=4
class a::Handle R
class a::Nothing 0
class a::Pair ii
class a::Vague *2
class a::Wrong *x
result v
result i
result N1a6HandleE
result N1a4ModeE
result PKc
scope - n s
 free_one 1
scope a n s
 get#d5c1b3a6 1
 make 2
 mode 3
 open 1 2=a::Access
scope a::Base v m
 act 0
scope a::Mixed c
 run m0
 stop s1
scope a::Tools c s4
)";

std::string read(const char* name, const CppPack* pack) {
  TypeArena arena;
  const auto prototype = prototype_of_name(name, arena, pack);
  return prototype ? print(*prototype, "f") : "nothing";
}

std::string read(const char* name) {
  const CppPack pack(kPack);
  return read(name, &pack);
}

TEST(CppPack, is_about_the_libraries_that_it_names) {
  EXPECT_EQ(CppPack::libraries_of(kPack),
            (std::vector<std::string_view>{"liba.so.1", "liba_extra.so.1"}));
  EXPECT_TRUE(CppPack::libraries_of("").empty());
  EXPECT_TRUE(CppPack::libraries_of("scope a n s\nlibrary late.so\n").empty());
}

TEST(CppPack, names_the_values_of_enumerations) {
  const CppPack pack(kPack);

  const auto mode = pack.enumeration("a::Mode");
  ASSERT_TRUE(mode);
  EXPECT_EQ(mode->kind, TypeKind::Signed);
  EXPECT_EQ(mode->size, 1);
  EXPECT_FALSE(mode->is_flags);
  EXPECT_EQ(*mode->names, (NameTable{{"Off", 0}, {"On", 5}, {"Auto", 6}}));

  const auto access = pack.enumeration("a::Access");
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->is_flags);
  EXPECT_EQ(*access->names, (NameTable{{"READ", 1}, {"WRITE", 2}, {"EXECUTE", 4}}));

  const auto wide = pack.enumeration("a::Wide");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->kind, TypeKind::Unsigned);
  EXPECT_EQ(*wide->names, (NameTable{{"None", 0}, {"Most", -1}}));

  EXPECT_FALSE(pack.enumeration("a::Other"));
  EXPECT_FALSE(pack.enumeration(""));
}

TEST(CppPack, tells_members_from_functions_without_an_object) {
  EXPECT_EQ(read("_ZN1a5Mixed3runEi"), "void f(addr&, int);");
  EXPECT_EQ(read("_ZN1a5Mixed4stopEi"), "int f(int);");
  EXPECT_EQ(read("_ZN1a5Tools4nameEi"), "string f(int);"); // the same for all of them
  EXPECT_EQ(read("_ZN1a5Tools4nameEi", nullptr), "guess(long) f(int); # of 3 readings");
}

TEST(CppPack, tells_results_that_are_in_memory) {
  EXPECT_EQ(read("_ZN1a4makeEi"), "addr& f(hide(void&), int);");
}

TEST(CppPack, says_nothing_of_the_result_of_a_function_that_it_does_not_have) {
  EXPECT_EQ(read("_ZN1a5otherEi"), "guess(long) f(int); # of 2 readings");
  EXPECT_EQ(read("_ZN1b5otherEi"), "guess(long) f(int); # of 3 readings");
}

TEST(CppPack, tells_overloads_apart) { EXPECT_EQ(read("_ZN1a3getEd"), "guess(long) f(double);"); }

TEST(CppPack, names_arguments_and_results_that_are_enumerations) {
  EXPECT_EQ(read("_ZN1a4modeENS_4ModeE"),
            "enum[schar](Off=0, On=5, Auto=6) f(enum[schar](Off=0, On=5, Auto=6));");
  EXPECT_EQ(read("_ZN1a4openEPKci"), "int f(string, flags[int](READ=1, WRITE=2, EXECUTE=4));");
}

TEST(CppPack, knows_how_classes_are_passed) {
  EXPECT_EQ(read("_Z8free_oneN1a6HandleEi"), "int f(addr&, int);");
  EXPECT_EQ(read("_Z8free_oneN1a4PairEi"), "int f(struct(int, int), int);");
  EXPECT_EQ(read("_Z8free_oneN1a7NothingEi"), "int f(hide(...), int);");
  EXPECT_EQ(read("_Z8free_oneN1a5VagueEi"), "int f(..., int);");
}

TEST(CppPack, knows_which_base_constructors_get_a_table) {
  EXPECT_EQ(read("_ZN1a5MixedC2Ei"), "void f(addr&, int);");
  EXPECT_EQ(read("_ZN1a4BaseC2Ei"), "void f(addr&, int); # of 2 readings");
  EXPECT_EQ(read("_ZN1a4BaseC1Ei"), "void f(addr&, int);");
}

TEST(CppPack, that_is_cut_off_or_wrong_says_less) {
  for (std::size_t size = 0; size < kPack.size(); ++size) {
    const CppPack pack(kPack.substr(0, size));
    (void)pack.list();
    EXPECT_NE(read("_ZN1a5Mixed3runEi", &pack), "nothing");
  }
  const CppPack wrong(
      "enum\nenum a\nenum a::E i3 X\nclass a::C *999\nclass a::D zz\nscope\nscope a\n"
      " \n f\n f m99999999999\n f 7 x=y 1= =\n");
  EXPECT_FALSE(wrong.enumeration("a::E"));
  EXPECT_EQ(read("_ZN1a1fENS_1CE", &wrong), "guess(long) f(addr&, guess(long)); # of 2 readings");
}

TEST(CppPack, lists_what_it_says_of_functions) {
  const Strings lines = CppPack(kPack).list();

  EXPECT_EQ(lines, (Strings{"int free_one(...);", "int a::get(...);", "a::Handle a::make(...);",
                            "a::Mode a::mode(...);", "int a::open(...);", "void a::Base::act(...);",
                            "void a::Mixed::run(...);", "static int a::Mixed::stop(...);",
                            "static char const* a::Tools::*(...);"}));
}

TEST(PrototypeLibrary, knows_more_of_the_libraries_that_a_pack_is_about) {
  PrototypeLibrary library = PrototypeLibrary::built_in();
  library.read_names();
  const char* const resize =
      "_ZN2cv6resizeERKNS_11_InputArrayERKNS_12_OutputArrayENS_5Size_IiEEddi";

  EXPECT_TRUE(library.find(resize, "libopencv_imgproc.so.406")->readings.empty());
  EXPECT_TRUE(library.find(resize, "libopencv_imgproc-0a1b2c3d.so.406")->readings.empty());
  EXPECT_EQ(library.find(resize, "libopencv_imgproc.so.410")->result->lens, Lens::Guess);
  EXPECT_EQ(library.find(resize, "")->result->lens, Lens::Guess);
  EXPECT_EQ(library.origin_of(resize, "libopencv_imgproc.so.406"),
            "built in: opencv.pack, and the mangled name");
  EXPECT_EQ(library.origin_of(resize, "libother.so"), "the mangled name");
  EXPECT_EQ(library.origin_of("malloc", "libc.so.6"), "built in: libc.conf");
}

TEST(PrototypeLibrary, lists_what_is_known_of_a_library) {
  PrototypeLibrary library;
  (void)library.add("int mine(int);\n", "my.conf", "libmy.so");
  (void)library.add("int any(int);\n", "any.conf");
  library.add_built_in();
  const auto origins = [&](const char* of) {
    Strings all;
    for (const auto& listed : library.list(of))
      all.push_back(listed.origin);
    return all;
  };

  EXPECT_EQ(origins("libmy.so.3"), (Strings{"my.conf"}));
  EXPECT_EQ(library.list("libmy.so").front().lines, (Strings{"int mine(int);"}));
  EXPECT_EQ(origins("libswscale.so.6"), (Strings{"built in: libswscale.conf"}));
  EXPECT_EQ(origins("libsw*"),
            (Strings{"built in: libswresample.conf", "built in: libswscale.conf"}));
  EXPECT_EQ(origins("libopencv_core.so.406"), (Strings{"built in: opencv.pack"}));
  EXPECT_EQ(origins("libnone.so"), Strings());
  EXPECT_GT(origins("").size(), 20U);
  EXPECT_EQ(origins("")[1], "any.conf");
}

} // namespace
} // namespace sonictrace::proto
