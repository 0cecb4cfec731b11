// Every expectation here was seen with ltrace 0.7.3, on a program with these calls.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonictrace/probe/selector.hpp"

namespace sonictrace {
namespace {

const ModuleName kProgram{"prog", "/tmp/demo/prog", true};
const ModuleName kMid{"libmid.so", "/tmp/demo/libmid.so", false};
const ModuleName kLow{"liblow.so.1", "/tmp/demo/liblow.so.1", false};
const ModuleName kC{"libc.so.6", "/lib/libc.so.6", false};

struct Call {
  char letter;
  const ModuleName& caller;
  const char* name;
  const ModuleName& callee;
};

// Capitals are those made by libraries.
const Call kCalls[] = {
    {'i', kProgram, "atoi", kC},      {'s', kProgram, "strlen", kC},
    {'l', kProgram, "mid_len", kMid}, {'u', kProgram, "mid_sum", kMid},
    {'a', kProgram, "low_add", kLow}, {'A', kMid, "low_add", kLow},
    {'T', kMid, "low_twice", kLow},   {'D', kLow, "low_add", kLow},
};
constexpr const char* kEverything = "isluaATD";

struct FilterCase {
  const char* filter;
  const char* selected;
  const char* warnings = "";
};

const char* kUnmatchedBracket = "Unmatched [, [^, [:, [., or [=.";

std::string selected(SelectorSet& set) {
  std::string letters;
  for (const Call& call : kCalls)
    if (set.selects_call(call.caller, {call.name, "not::matched"}, &call.callee))
      letters += call.letter;
  return letters;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (text.empty() ? "" : " ") + line;
  return text;
}

SelectorSet parsed(SelectorOptions options) {
  options.ltrace = true;
  auto set = SelectorSet::parse(options);
  EXPECT_TRUE(set);
  return *std::move(set);
}

SelectorOptions calls(std::vector<std::string> filters) {
  SelectorOptions options;
  options.calls = std::move(filters);
  return options;
}

void expect(const FilterCase& one) {
  SelectorSet set = parsed(calls({one.filter}));
  EXPECT_EQ(selected(set), one.selected) << one.filter;
  EXPECT_EQ(joined(set.warnings()), one.warnings) << one.filter;
}

TEST(LtraceSelector, knows_signs_as_ltrace_does) {
  const FilterCase cases[] = {
      {"", ""},
      {"-", kEverything},
      {"+", kEverything},
      {"!", kEverything},
      {"-*", ""},
      {"mid*@+", kEverything}, // between an @ and a sign, too
      {"mid*@-atoi", "sluaATD"},
      {"atoi-mid*@+low_add", "aAD"},
      {"x+mid_len@", "l"},
      {"mid*", "lu"},
      {"+mid*", kEverything}, // odd, but so it is
      {"!mid*", "isaATD"},
      {"a!b", ""},
      {"a*+mid*", "ilu"},
      {"+mid*-mid_len", "isuaATD"},
      {"mid*-", "lu"},
      {"mid*+", "lu"},
      {"mid*--mid_len", ""}, // nothing between two signs is everything
      {"mid*-+mid_len", "l"},
      {"!-mid_len", ""},
      {"-!mid_len", kEverything},
      {"--mid_len", ""},
      {"+-mid_len", "isuaATD"},
      {"-mid_len+mid_len", kEverything},
      {"mid_len,mid_sum", ""},
      {"mid_len mid_sum", ""},
      {" mid_len", ""},
  };
  for (const FilterCase& one : cases)
    expect(one);
}

TEST(LtraceSelector, compares_the_library_with_the_callers_soname) {
  const FilterCase cases[] = {
      {"@", kEverything},
      {"mid_len@", "l"},
      {"@libmid.so", "AT"},
      {"@libmid*", "AT"},
      {"@MAIN", "islua"},
      {"@M*N", ""},
      {"@[M]AIN", ""},
      {"@prog", "islua"},
      {"@./prog", ""},
      {"@/tmp/demo/prog", ""}, // never matches
      {"@/tmp*", ""},
      {"a@b@c", ""},
      {"mid_len@@prog", ""},
      {"mid_len@prog-mid_len", ""},
      {"*@libmid.so+mid_len", "lAT"},
      {"-atoi@MAIN", "sluaATD"},
  };
  for (const FilterCase& one : cases)
    expect(one);
}

TEST(LtraceSelector, takes_globs_as_ltrace_does) {
  const std::string bracket_near_m =
      std::string("Rule near 'z]id*' will be ignored: ") + kUnmatchedBracket;
  const std::string bracket = std::string("Rule near '' will be ignored: ") + kUnmatchedBracket;
  const FilterCase cases[] = {
      {"[!a]*", "sluaATD"},
      {"[^a]*", "sluaATD"},
      {"[a-z]id*", "", bracket_near_m.c_str()}, // the minus separates
      {"mid\\*", ""},
      {"mid\\_len", "l"},
      {"mid_l\\en", "l"},
      {"mid[_]len", "l"},
      {"mid[]_]len", "l"},
      {"mid_[!l]*", "u"},
      {"mid_[\\l]*", "l"},
      {"mid_[l\\]*", "l"},
      {"mid_[!]s]*", "l"},
      {"mid_[[=l=]]en", "l"},
      {"mid_[[.l.]]en", "l"},
      {"[[:alpha:]]id_len", "l"},
      {"mid_le]n", ""},
      {"mid.len", ""},
      {"mid_len$", ""},
      {"^mid_len", ""},
      {"mid_len\\", ""},
      {"mid\\|x", "lu"}, // `^mid\|x$`
      {"[", "", bracket.c_str()},
      {"mid_[]", "", bracket.c_str()},
      {"[!]", "", bracket.c_str()},
      {"mid_[[:foo:]]en", "", "Rule near '' will be ignored: Invalid character class name."},
  };
  for (const FilterCase& one : cases)
    expect(one);
}

TEST(LtraceSelector, takes_regular_expressions_as_ltrace_does) {
  const FilterCase cases[] = {
      {"/mid/", ""},
      {"/mid.*/", "lu"},
      {"/mid_\\(len\\|sum\\)/", "lu"},
      {"/mid_(len|sum)/", ""},
      {"/mid\\|xxx/", "lu"},
      {"/xxx\\|len/", "sl"},
      {"/mid_len\\|xxx/", "l"},
      {"/^mid_len$/", ""},
      {"/mid.*/@prog", "lu"},
      {"mid*@/pro.*/", "lu"},
      {"/mid.*@prog/", "lu"},
      {"/mid_len@/prog/", ""},
      {"/mid_len@/", ""},
      {"/mid_len/@/prog/", "l"},
      {"*@/libmid.so/", "AT"},
      {"//", ""},
      {"@///", ""},
      {"mid/", ""},
      {"mid_len/@prog", ""},
      {"mid_len@/prog", ""},
      {"/mid", "", "Unmatched '/' in symbol name."},
      {"/mid_len", "", "Unmatched '/' in symbol name."},
      {"/", "", "Unmatched '/' in symbol name."},
      {"/mid_len@*", "", "Unmatched '/' in symbol name."},
      {"/mid_len/x", "", "Unmatched '/' in symbol name."},
      {"/mid_le.@prog", "l", "Unmatched '/' in symbol name."},
      {"-/mid_len@MAIN", "isuaATD", "Unmatched '/' in symbol name."},
      {"mid_len@pro./", "l", "Unmatched '/' in library name."},
      {"mid_len@pro?/", "", "Unmatched '/' in library name."},
      {"mid_le?@prog/", "l", "Unmatched '/' in library name."},
      {"/mid_len/@pro./", "l", "Unmatched '/' in library name."},
      {"@/", "", "Unmatched '/' in library name."},
      {"@//", "", "Unmatched '/' in library name."},
      {"/\\(mid/", "", "Rule near '' will be ignored: Unmatched ( or \\(."},
      {"/a**/", "", "Rule near '' will be ignored: Invalid preceding regular expression."},
      {"/\\1/", "", "Rule near '' will be ignored: Invalid back reference."},
  };
  for (const FilterCase& one : cases)
    expect(one);
}

TEST(LtraceSelector, leaves_a_bad_rule_out_and_goes_on) {
  const std::string near_mid =
      std::string("Rule near 'mid*' will be ignored: ") + kUnmatchedBracket;
  const std::string both = std::string("Rule near 'mid_len-[' will be ignored: ") +
                           kUnmatchedBracket +
                           " Rule near '' will be ignored: " + kUnmatchedBracket;
  const std::string before_sign =
      std::string("Rule near '-x' will be ignored: ") + kUnmatchedBracket;
  const FilterCase cases[] = {
      {"[@-x", kEverything, before_sign.c_str()},
      {"/mid+mid*", "lu", "Unmatched '/' in symbol name."},
      {"[+mid*", "lu", near_mid.c_str()},
      {"-[+mid_len-[", kEverything, both.c_str()},
  };
  for (const FilterCase& one : cases)
    expect(one);

  SelectorSet set = parsed(calls({"[", "mid*"}));
  EXPECT_EQ(selected(set), "lu");
}

TEST(LtraceSelector, selects_by_the_library_that_has_the_symbol_with_l) {
  const FilterCase cases[] = {
      {"liblow*", "aATD"}, {"liblow.so.1", "aATD"}, {"/liblow.*/", "aATD"},
      {"MAIN", ""},        {"-liblow*", ""},        {"+liblow*", ""},
      {"@liblow*", ""},    {"low_add@liblow*", ""}, {"liblow*+libmid*", ""},
      {"/tmp*", ""},       {"", kEverything},       {"*", kEverything},
  };
  for (const FilterCase& one : cases) {
    SelectorOptions options;
    options.libraries = {one.filter};
    SelectorSet set = parsed(options);
    EXPECT_EQ(selected(set), one.selected) << one.filter;
    EXPECT_TRUE(set.warnings().empty()) << one.filter;
  }
}

TEST(LtraceSelector, selects_entries_by_the_module_that_contains_them) {
  const auto entry = [](const char* filter, const ModuleName& module, const char* name) {
    SelectorOptions options;
    options.entries = {filter};
    return parsed(options).selects_entry(module, {name, name});
  };
  EXPECT_TRUE(entry("low_*", kLow, "low_add"));
  EXPECT_TRUE(entry("low_add@liblow*", kLow, "low_add"));
  EXPECT_FALSE(entry("mid*@MAIN", kMid, "mid_len"));
  EXPECT_TRUE(entry("@prog", kProgram, "main"));
  EXPECT_TRUE(entry("@MAIN", kProgram, "main"));
  EXPECT_TRUE(entry("/low_a.*/", kLow, "low_add"));
  EXPECT_FALSE(entry("-*", kLow, "low_add"));
}

TEST(LtraceSelector, unites_filters_and_shows_the_caller_whenever_there_is_one) {
  SelectorSet set = parsed(calls({"mid*", "atoi"}));
  EXPECT_EQ(selected(set), "ilu");
  EXPECT_TRUE(set.shows_caller());

  SelectorOptions entries;
  entries.entries = {"low_*"};
  EXPECT_FALSE(parsed(entries).shows_caller());
  EXPECT_TRUE(parsed(entries).uses_default());

  SelectorOptions empty = calls({""});
  EXPECT_TRUE(parsed(empty).shows_caller());
  EXPECT_FALSE(parsed(empty).uses_default());
}

TEST(LtraceSelector, says_nothing_of_patterns_that_matched_nothing) {
  SelectorSet set = parsed(calls({"nothing"}));
  selected(set);
  EXPECT_TRUE(set.unmatched().empty());
}

} // namespace
} // namespace sonictrace
