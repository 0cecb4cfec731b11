#include "sonictrace/probe/selector.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace sonictrace {
namespace {

// A program with three libraries. Each letter is one call that it makes.
const ModuleName kApp{"app", "/opt/demo/bin/app", true};
const ModuleName kShape{"libshape.so.2", "/opt/demo/lib/libshape.so.2.1", false};
const ModuleName kGl{"libdraw+gl-x.so", "/opt/demo/lib/libdraw+gl-x.so", false};
const ModuleName kC{"libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", false};

struct Call {
  char letter;
  const ModuleName& caller;
  FunctionName function;
  const ModuleName& callee;
};

const Call kCalls[] = {
    {'m', kApp, {"malloc", "malloc"}, kC},
    {'f', kApp, {"free", "free"}, kC},
    {'a', kApp, {"_ZN5shape4areaEi", "shape::area"}, kShape},
    {'p', kApp, {"_ZN5shapeplERKS_", "shape::operator+"}, kShape},
    {'t', kApp, {"_ZN5shape3getISt4pairIiiEEEv", "shape::get<std::pair<int, int> >"}, kShape},
    {'d', kApp, {"draw", "draw"}, kGl},
    {'M', kShape, {"malloc", "malloc"}, kC},
    {'A', kShape, {"_ZN5shape4areaEi", "shape::area"}, kShape},
    {'q', kGl, {"_ZNK5shapeptEv", "shape::operator->"}, kShape},
    {'D', kGl, {"draw", "draw"}, kGl},
    {'c', kGl, {"app_callback", "app_callback"}, kApp},
};
constexpr const char* kEverything = "mfaptdMAqDc";

std::string selected(SelectorSet& set) {
  std::string letters;
  for (const Call& call : kCalls)
    if (set.selects_call(call.caller, call.function, &call.callee)) letters += call.letter;
  return letters;
}

SelectorSet parsed(const SelectorOptions& options) {
  auto set = SelectorSet::parse(options);
  EXPECT_TRUE(set) << set.error().message();
  return *std::move(set);
}

SelectorOptions calls(std::vector<std::string> filters) {
  SelectorOptions options;
  options.calls = std::move(filters);
  return options;
}

struct FilterCase {
  const char* filter;
  const char* expected;
};

TEST(Selector, selects_calls_by_name_and_by_the_library_that_has_the_function) {
  const FilterCase cases[] = {
      {"malloc", "mM"},
      {"m?lloc", "mM"},
      {"[lm]alloc", "mM"},
      {"[a-m]alloc", "mM"}, // a minus in brackets separates nothing
      {"Malloc", ""},
      {"mallo", ""},
      {"shape::*", "aptAq"},
      {"shape::area", "aA"},
      {"_ZN5shape4area*", "aA"},
      {"*@libshape.so.2", "aptAq"},
      {"@libshape*", "aptAq"},
      {"@libshape.so.2.1", "aptAq"}, // by the file's name
      {"@libshape", ""},
      {"*area@libshape*", "aA"},
      {"malloc@libshape*", ""},
      {"malloc@", "mM"},
      {"@", kEverything},
      {"*", kEverything},
      {"", kEverything},
      {"@/opt/demo/*", "aptdAqDc"},
      {"@*/lib/*", "mfaptdMAqD"},
      {"@/lib/x86_64-linux-gnu/*", "mfM"},
      {"@opt*", ""}, // without a slash it is no path
      {"@app", "c"},
  };
  for (const FilterCase& one : cases) {
    SelectorSet set = parsed(calls({one.filter}));
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, separates_rules_by_commas_and_by_signs_before_a_symbol) {
  const FilterCase cases[] = {
      {"malloc,free", "mfM"},
      {" malloc , free ", "mfM"},
      {"malloc+free", "mfM"},
      {"+malloc", "mM"},
      {"*-malloc", "faptdAqDc"},
      {"*,-malloc", "faptdAqDc"},
      {"*,-malloc,draw-draw", "faptAqc"},
      {"-malloc", "faptdAqDc"},
      {"!malloc", "faptdAqDc"},
      {" -malloc", "faptdAqDc"},
      {"-malloc-free", "aptdAqDc"},
      {"-malloc,free", "faptdAqDc"}, // a comma ends the subtraction
      {"-malloc+malloc", kEverything},
      {"malloc-malloc", ""},
      {"-*", ""},
      {"-@", ""},
      {"-*,draw", "dD"},
      {"-", kEverything},
      {"malloc,", "mM"},
      {",malloc", "mM"},
      {"malloc-", "mM"},
      {"malloc,,free", "mfM"},
      {"@libshape*,-*area", "ptq"},
      {"-@libshape*", "mfdMDc"},
      {"-@libshape*,-@libc*", "dDc"},
      {"m*+f*-free", "mM"},
  };
  for (const FilterCase& one : cases) {
    SelectorSet set = parsed(calls({one.filter}));
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, leaves_signs_and_commas_to_the_names_they_belong_to) {
  const FilterCase cases[] = {
      {"@libdraw+gl-x.so", "dD"},
      {"draw@libdraw+gl-x.so,malloc", "mdMD"},
      {"@libshape*-malloc", ""}, // behind @ all is the library's name
      {"shape::operator+", "p"},
      {"*operator+", "p"},
      {"shape::operator+,malloc", "mpM"},
      {"shape::operator++malloc", ""}, // operator++malloc: a comma is needed
      {"shape::operator->", "q"},
      {"shape::operator->@libshape*", "q"},
      {"*operator*", "pq"},
      {"*operator*-*operator+", "q"},
      {"*operator*,-*operator->", "p"},
      {"coperator-malloc", ""}, // not the word
      {"*,-coperator-malloc", "faptdAqDc"},
      {"shape::get<std::pair<int, int> >", "t"},
      {"shape::get<*, *>,draw", "tdD"},
      {"shape::get<*,draw", "tdD"}, // what is never closed is no bracket
      {"(malloc,free", "f"},
      {"(malloc,free)", ""},
      {"m\\alloc", "mM"},
      {"\\-malloc", ""},
  };
  for (const FilterCase& one : cases) {
    SelectorSet set = parsed(calls({one.filter}));
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, selects_by_the_caller) {
  const FilterCase cases[] = {
      {"MAIN->*", "mfaptd"},
      {"MAIN->", "mfaptd"},
      {"@MAIN", "mfaptd"},
      {"malloc@MAIN", "m"},
      {"*,-@MAIN", "MAqDc"},
      {"app->malloc", "m"},
      {"libshape*->malloc", "M"},
      {"libshape*->", "MA"},
      {"->malloc", "mM"},
      {"libdraw+gl-x.so->*", "qDc"},
      {"libdraw+gl-x.so->@libdraw+gl-x.so", "D"},
      {"/opt/demo/lib/*->*@libc*", "M"},
      {"libdraw*->*@MAIN", "c"}, // behind a caller MAIN is the module that has the function
      {"libdraw*->shape::operator->", "q"},
      {"libshape*->malloc,libdraw*->draw", "MD"},
      {"-libshape*->malloc", "mfaptdAqDc"},
      {"MAIN->m*-malloc", ""},
      {"MAIN->*-malloc+draw", "faptdD"},
      {"[M]AIN->*", ""},
  };
  for (const FilterCase& one : cases) {
    SelectorSet set = parsed(calls({one.filter}));
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, takes_anchored_basic_regular_expressions_between_slashes) {
  const FilterCase cases[] = {
      {"/mallo/", ""},
      {"/m.*c/", "mM"},
      {"/\\(malloc\\|free\\)/", "mfM"},
      {"/malloc\\|fre/", "mM"},
      {"/(malloc|free)/", ""},
      {"/[a-m]alloc/,draw", "mdMD"},
      {"/m.*/-draw", "mM"},
      {"/.*,.*/", "t"},
      {"@/libshape.*/", "aptAq"},
      {"@/.*\\/x86.*/", "mfM"},
      {"/.*area/@/libs.*/", "aA"},
      {"/.*area@libs.*/", "aA"},
      {"/lib.*/->/m.*/", "M"},
      {"/m.*/@libc*", "mM"},
  };
  for (const FilterCase& one : cases) {
    SelectorSet set = parsed(calls({one.filter}));
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, unites_several_filters) {
  SelectorOptions options = calls({"malloc", "draw", "-*"});
  options.libraries = {"libshape*"};
  SelectorSet set = parsed(options);
  EXPECT_EQ(selected(set), "maptdMAqD");
}

TEST(Selector, takes_a_library_option_as_a_filter_of_all_that_the_library_has) {
  const FilterCase cases[] = {
      {"libshape*", "aptAq"},         {"libdraw+gl-x.so", "dD"}, {"libdraw+gl-x.so,libc*", "mfdMD"},
      {"/opt/demo/lib/*", "aptdAqD"}, {"MAIN", "mfaptd"},        {"-libshape*", ""},
  };
  for (const FilterCase& one : cases) {
    SelectorOptions options;
    options.libraries = {one.filter};
    SelectorSet set = parsed(options);
    EXPECT_EQ(selected(set), one.expected) << one.filter;
  }
}

TEST(Selector, does_not_match_a_library_that_is_not_known_yet) {
  const FunctionName function{"malloc", "malloc"};

  EXPECT_FALSE(parsed(calls({"@libc*"})).selects_call(kApp, function, nullptr));
  EXPECT_FALSE(parsed(calls({"@/lib/*"})).selects_call(kApp, function, nullptr));
  EXPECT_TRUE(parsed(calls({"malloc"})).selects_call(kApp, function, nullptr));
  EXPECT_TRUE(parsed(calls({"@MAIN"})).selects_call(kApp, function, nullptr));
  EXPECT_TRUE(parsed(calls({"app->malloc@"})).selects_call(kApp, function, nullptr));
}

TEST(Selector, tells_which_kinds_of_rules_there_are) {
  SelectorOptions none;
  EXPECT_TRUE(parsed(none).uses_default());
  EXPECT_FALSE(parsed(none).has_call_rules());

  SelectorOptions entries;
  entries.entries = {"main"};
  EXPECT_TRUE(parsed(entries).uses_default());
  EXPECT_FALSE(parsed(entries).has_call_rules());
  EXPECT_TRUE(parsed(entries).has_entry_rules());

  SelectorOptions no_default;
  no_default.no_default = true;
  EXPECT_FALSE(parsed(no_default).uses_default());

  EXPECT_FALSE(parsed(calls({"-*"})).uses_default());
  EXPECT_TRUE(parsed(calls({"-*"})).has_call_rules());
  EXPECT_FALSE(parsed(calls({"-*"})).has_entry_rules());
}

TEST(Selector, shows_the_caller_when_a_rule_selects_by_it) {
  EXPECT_FALSE(parsed(calls({"malloc@libc*"})).shows_caller());
  EXPECT_FALSE(parsed(calls({"malloc@MAIN"})).shows_caller()); // one caller only
  EXPECT_FALSE(parsed(calls({"shape::operator->"})).shows_caller());
  EXPECT_TRUE(parsed(calls({"malloc,libshape*->free"})).shows_caller());
}

TEST(Selector, selects_entries_by_the_module_that_contains_them) {
  const auto letters = [](const char* filter) {
    SelectorOptions options;
    options.entries = {filter};
    SelectorSet set = parsed(options);
    std::string result;
    for (const Call& call : kCalls)
      if (set.selects_entry(call.callee, call.function)) result += call.letter;
    return result;
  };
  EXPECT_EQ(letters("malloc"), "mM");
  EXPECT_EQ(letters("@MAIN"), "c");
  EXPECT_EQ(letters("*@libshape*"), "aptAq");
  EXPECT_EQ(letters("-@libc*"), "aptdAqDc");
  EXPECT_EQ(letters("draw,app_*"), "dDc");
  EXPECT_EQ(letters("@/opt/demo/bin/*"), "c");
}

TEST(Selector, selects_what_is_called_after_its_place_only_by_rules_that_say_so) {
  const FunctionName one{"libdraw+gl-x.so+0x12f0", "libdraw+gl-x.so+0x12f0", true};
  const FunctionName two{"libshape.so.2+0x12f0", "libshape.so.2+0x12f0", true};
  const auto letters = [&](const char* filter) {
    SelectorOptions options;
    options.entries = {filter};
    SelectorSet set = parsed(options);
    std::string result;
    if (set.selects_entry(kGl, one)) result += '1';
    if (set.selects_entry(kShape, two)) result += '2';
    if (set.selects_entry(kGl, {"draw", "draw"})) result += 'd';
    if (set.selects_entry(kC, {"malloc", "malloc"})) result += 'm';
    EXPECT_TRUE(set.names_places() || result.find_first_of("12") == std::string::npos);
    return result;
  };
  EXPECT_EQ(letters("*"), "dm");
  EXPECT_EQ(letters("*@libdraw*"), "d");
  EXPECT_EQ(letters("-malloc"), "d");
  EXPECT_EQ(letters("lib*"), "");
  EXPECT_EQ(letters("libshape.so.2+0x12f0"), "2");
  EXPECT_EQ(letters("libdraw+gl-x.so+0x12f0"), "1");
  EXPECT_EQ(letters("libdraw+gl-x.so+0x12f0,malloc"), "1m");
  EXPECT_EQ(letters("malloc,libshape.so.2+0x12f0@libshape*"), "2m");
  EXPECT_EQ(letters("libshape.so.2+0x12f0+malloc"), "2m");
  EXPECT_EQ(letters("libshape.so.2+0x*"), "2");
  EXPECT_EQ(letters("*+0x*"), "12");
  EXPECT_EQ(letters("*+0x12??@libdraw*"), "1");
  EXPECT_EQ(letters("*+0x*,-*@libdraw*"), "2");
  EXPECT_EQ(letters("*,*+0x*"), "12dm");
  EXPECT_EQ(letters("libshape.so.2+0x12f"), "");
  EXPECT_EQ(letters("malloc+0xyz"), "m") << "is no number, and another name";
}

TEST(Selector, knows_without_a_function_where_nothing_can_match) {
  const auto may = [](const char* filter, const ModuleName& module) {
    return parsed(calls({filter})).may_select_calls_of(module);
  };
  EXPECT_TRUE(may("malloc", kShape));
  EXPECT_TRUE(may("@libc*", kShape));
  EXPECT_TRUE(may("MAIN->", kApp));
  EXPECT_FALSE(may("MAIN->", kShape));
  EXPECT_FALSE(may("@MAIN", kShape));
  EXPECT_TRUE(may("-malloc", kShape));
  EXPECT_TRUE(may("-@libc*", kShape));
  EXPECT_FALSE(may("-*", kShape));
  EXPECT_FALSE(may("*-libshape*->", kShape)); // the caller `*-libshape*` subtracts nothing
  EXPECT_FALSE(may("*,-libshape*->", kShape));
  EXPECT_TRUE(may("*,-libshape*->", kApp));
  EXPECT_TRUE(may("-*,draw", kShape));

  SelectorOptions options;
  EXPECT_FALSE(parsed(options).may_select_entries_of(kApp));
  options.entries = {"*@libshape*"};
  EXPECT_TRUE(parsed(options).may_select_entries_of(kShape));
  EXPECT_FALSE(parsed(options).may_select_entries_of(kApp));
  options.entries = {"-@libshape*"};
  EXPECT_FALSE(parsed(options).may_select_entries_of(kShape));
  EXPECT_TRUE(parsed(options).may_select_entries_of(kApp));
}

TEST(Selector, never_rules_out_a_module_from_which_it_selects_a_call) {
  for (const char* filter : {"*", "-*", "m*", "@libc*", "-@libc*", "MAIN->", "-MAIN->", "*,-@MAIN",
                             "*,-libshape*->malloc", "-malloc,-*,draw", "libdraw*->*@MAIN"}) {
    SelectorSet set = parsed(calls({filter}));
    for (const Call& call : kCalls)
      EXPECT_TRUE(!set.selects_call(call.caller, call.function, &call.callee) ||
                  set.may_select_calls_of(call.caller))
          << filter << " " << call.letter;
  }
}

TEST(Selector, names_the_patterns_that_matched_nothing) {
  SelectorOptions options = calls(
      {"malloc,mallox", "@libshape*-malloc", "libgl+x->draw", "area@libc*", "-*", "*,-nothing"});
  options.libraries = {"libnone.so"};
  options.entries = {"main"};
  SelectorSet set = parsed(options);
  selected(set);

  EXPECT_EQ(set.unmatched(),
            (std::vector<std::string>{
                "-e 'mallox': matched no function",
                "-e '@libshape*-malloc': no module is named libshape*-malloc; + and - belong to "
                "the name of a module: to begin another rule write a comma",
                "-e 'libgl+x->draw': no module is named libgl+x; + and - belong to the name of a "
                "module: to begin another rule write a comma",
                "-e 'area@libc*': matched no function",
                "-e 'nothing': matched no function",
                "-l 'libnone.so': no module is named libnone.so",
                "-x 'main': matched no function",
            }));
}

TEST(Selector, counts_a_pattern_as_matched_when_another_had_the_last_word) {
  SelectorSet set = parsed(calls({"m*,*alloc,malloc", "*,-*"}));
  selected(set);
  EXPECT_TRUE(set.unmatched().empty());
}

TEST(Selector, refuses_what_it_cannot_understand_in_one_line_that_names_it) {
  const FilterCase cases[] = {
      {"a,b[c", "-e 'a,b[c': Unmatched [, [^, [:, [., or [=; write \\[ for a bracket that is part "
                "of a name"},
      {"[[:foo:]]", "-e '[[:foo:]]': [[:foo:]]: Invalid character class name"},
      {"/a\\(/", "-e '/a\\(/': /a\\(/: Unmatched ( or \\("},
      {"/a\\{1,32767\\}/", "-e '/a\\{1,32767\\}/': /a\\{1,32767\\}/: Regular expression too big"},
      {"/\\(a\\{9\\}\\)\\{999\\}/",
       "-e '/\\(a\\{9\\}\\)\\{999\\}/': /\\(a\\{9\\}\\)\\{999\\}/: Regular expression too big"},
      {"/\\(a*\\)\\1/", "-e '/\\(a*\\)\\1/': /\\(a*\\)\\1/: Back references are not supported"},
      {"/abc", "-e '/abc': /abc: a regular expression ends with /, too"},
      {"memcpy@@GLIBC_2.14",
       "-e 'memcpy@@GLIBC_2.14': @@GLIBC_2.14: symbol versions can't be selected"},
      {"a->b->c", "-e 'a->b->c': a->b->c: more than one ->"},
  };
  for (const FilterCase& one : cases) {
    const auto set = SelectorSet::parse(calls({one.filter}));
    ASSERT_FALSE(set) << one.filter;
    EXPECT_EQ(set.error().message(), one.expected);
  }
  SelectorOptions options;
  options.entries = {"libc*->malloc"};
  const auto set = SelectorSet::parse(options);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message(),
            "-x 'libc*->malloc': -x watches functions, whoever calls them; give CALLER-> to -e");
}

TEST(Selector, knows_brackets_that_are_part_of_cxx_names) {
  const FunctionName functions[] = {{"_ZdaPv", "operator delete[]"},
                                    {"_ZN1aixEi", "a::operator[]"},
                                    {"_ZN1a4nameB5cxx11Ev", "a::name[abi:cxx11]"}};
  SelectorSet set = parsed(calls({"operator delete[],a::operator[],a::name[abi:cxx11]"}));
  for (const FunctionName& function : functions)
    EXPECT_TRUE(set.selects_call(kApp, function, nullptr)) << function.short_name;
  EXPECT_TRUE(set.unmatched().empty());
}

TEST(Selector, tells_modules_of_one_path_but_different_sonames_apart) {
  SelectorSet set = parsed(calls({"@libb*"}));
  const ModuleName first{"liba.so", "/tmp/x.so", false};
  const ModuleName second{"libb.so", "/tmp/x.so", false};
  const FunctionName function{"f", "f"};
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(set.selects_call(kApp, function, &first));
    EXPECT_TRUE(set.selects_call(kApp, function, &second));
  }
}

// 170,000 (module, import) pairs are a torch program; a filter may name some hundred functions.
TEST(Selector, answers_for_a_big_program_with_hundreds_of_rules_in_a_moment) {
  std::string filter;
  for (int i = 0; i < 300; ++i)
    filter += "at::native::function_" + std::to_string(i) + "@libshape*,";
  filter += "cv::*,*upsample*,torch::jit::*load*";
  SelectorSet set = parsed(calls({filter}));
  const auto begin = std::chrono::steady_clock::now();

  std::size_t found = 0;
  for (int i = 0; i < 170000; ++i) {
    const std::string name = "at::native::function_" + std::to_string(i);
    const std::string mangled = "_ZN2at6native11function_" + std::to_string(i) + "Ev";
    found += set.selects_call(kApp, {mangled, name}, &kShape) ? 1u : 0u;
  }

  EXPECT_EQ(found, 300u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Selector, takes_no_longer_than_a_moment_over_a_hostile_filter) {
  const auto repeated = [](const char* text) {
    std::string result;
    while (result.size() < 100000)
      result += text;
    return result;
  };
  const auto begin = std::chrono::steady_clock::now();

  for (const char* text : {"<",    ">", "<(", "<(>",      "a+",  "->",          "a->", "a+0x1+",
                           "a+0x", "@", ",",  "operator", "*a",  "?",           "[]",  "[abi:",
                           "\\",   "/", "/a", "(",        "[a]", "[[:alpha:]]", "<,>"}) {
    for (const bool ltrace : {false, true}) {
      SelectorOptions options = calls({repeated(text)});
      options.ltrace = ltrace;
      auto set = SelectorSet::parse(options);
      if (set) set->selects_call(kApp, {"malloc", "malloc"}, &kC);
    }
  }

  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

} // namespace
} // namespace sonictrace
