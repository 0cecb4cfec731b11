#include "sonictrace/base/glob.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace sonictrace {
namespace {

struct MatchCase {
  const char* pattern;
  const char* text;
  bool expected;
};

TEST(Glob, matches_the_whole_text) {
  const MatchCase cases[] = {
      {"", "", true},
      {"", "a", false},
      {"abc", "abc", true},
      {"abc", "abcd", false},
      {"abc", "ab", false},
      {"*", "", true},
      {"*", "anything", true},
      {"**", "anything", true},
      {"a*", "a", true},
      {"a*", "ba", false},
      {"*a", "banana", true},
      {"*a", "ban", false},
      {"a*a", "a", false}, // head and tail must not overlap
      {"a*a", "aa", true},
      {"*an*an*", "banana", true},
      {"*an*an*an*", "banana", false},
      {"b*na", "banana", true},
      {"?", "", false},
      {"?", "x", true},
      {"??", "x", false},
      {"*?", "", false},
      {"*?x*", "ax", true},
      {"*?x*", "x", false},
      {"?*?", "a", false},
      {"?*?", "ab", true},
      {"[ab]c", "bc", true},
      {"[ab]c", "cc", false},
      {"[!ab]c", "cc", true},
      {"[^ab]c", "ac", false},
      {"[a-f]", "e", true},
      {"[a-f]", "g", false},
      {"[a-]", "-", true},
      {"[-a]", "-", true},
      {"[]a]", "]", true},
      {"[!]a]", "]", false},
      {"[!]a]", "b", true},
      {"[[]", "[", true},
      {"[\\]", "\\", true}, // no escapes inside brackets
      {"[[:digit:]_]x", "7x", true},
      {"[[:digit:]_]x", "_x", true},
      {"[[:digit:]_]x", "ax", false},
      {"[[:alpha:]-z]", "-", true},
      {"[[=a=]]", "a", true},
      {"[[.-.]]", "-", true},
      {"a\\*", "a*", true},
      {"a\\*", "ab", false},
      {"a\\", "a\\", true},
      {"\\?x", "?x", true},
      {"x]", "x]", true},
      {"*[0-9]", "libav60", true},
      {"*[0-9]*[0-9]", "a1", false},
      {"*[0-9]*[0-9]", "a1b2", true},
      {"at::native::*", "at::native::add", true},
      {"lib*.so.?", "libmid.so.1", true},
  };
  for (const MatchCase& one : cases) {
    const auto glob = Glob::compile(one.pattern);
    ASSERT_TRUE(glob) << one.pattern;
    EXPECT_EQ(glob->matches(one.text), one.expected) << one.pattern << " on " << one.text;
  }
}

TEST(Glob, matches_bytes_above_127_and_zero_bytes) {
  const auto glob = Glob::compile("[\x80-\xff]?");
  ASSERT_TRUE(glob);
  EXPECT_TRUE(glob->matches(std::string("\xc3\0", 2)));
  EXPECT_FALSE(glob->matches("ab"));
}

TEST(Glob, says_what_is_wrong_with_a_bracket_expression) {
  const std::pair<const char*, const char*> cases[] = {
      {"[", "Unmatched [, [^, [:, [., or [="},
      {"a[b", "Unmatched [, [^, [:, [., or [="},
      {"[]", "Unmatched [, [^, [:, [., or [="},
      {"[!]", "Unmatched [, [^, [:, [., or [="},
      {"[[:alpha:]", "Unmatched [, [^, [:, [., or [="},
      {"[[:alpha]", "Unmatched [, [^, [:, [., or [="},
      {"[[:foo:]]", "Invalid character class name"},
      {"[[.ab.]]", "Invalid collation character"},
      {"[z-a]", "Invalid range end"},
  };
  for (const auto& [pattern, expected] : cases) {
    const auto glob = Glob::compile(pattern);
    ASSERT_FALSE(glob) << pattern;
    EXPECT_EQ(glob.error().message(), expected) << pattern;
  }
}

TEST(Glob, knows_when_it_matches_everything_or_one_text_only) {
  EXPECT_TRUE(Glob().is_everything());
  EXPECT_TRUE(Glob().matches("x"));
  EXPECT_TRUE(Glob::compile("***")->is_everything());
  EXPECT_FALSE(Glob::compile("*?")->is_everything());
  EXPECT_FALSE(Glob::compile("")->is_everything());
  ASSERT_NE(Glob::compile("a\\*b")->literal(), nullptr);
  EXPECT_EQ(*Glob::compile("a\\*b")->literal(), "a*b");
  EXPECT_EQ(Glob::compile("a*")->literal(), nullptr);
  EXPECT_EQ(Glob::compile("a?")->literal(), nullptr);
}

// A matcher that backtracks would need 2^30 steps for the first of these.
TEST(Glob, takes_no_longer_than_length_times_length) {
  std::string many_stars;
  for (int i = 0; i < 30; ++i)
    many_stars += "*a";
  const std::string text(20000, 'a');
  const auto begin = std::chrono::steady_clock::now();

  EXPECT_FALSE(Glob::compile(many_stars + "*b")->matches(text));
  EXPECT_FALSE(Glob::compile("*a?a?a?a?a?a?b*")->matches(text));
  EXPECT_TRUE(Glob::compile(std::string(20000, '*'))->matches(text));

  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

} // namespace
} // namespace sonictrace
