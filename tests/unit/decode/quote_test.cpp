#include "sonictrace/decode/quote.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sonictrace {
namespace {

std::string quoted(std::string_view text, Quoting quoting = Quoting::Readable) {
  std::string out;
  append_quoted(out, text, quoting);
  return out;
}

std::string quoted_char(char c, Quoting quoting = Quoting::Readable) {
  std::string out;
  append_quoted_char(out, c, quoting);
  return out;
}

// The expected texts are those of golden/strings.
TEST(Quote, escapes_as_ltrace_does) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("plain"), R"("plain")");
  EXPECT_EQ(quoted("tab\tnl\ncr\rbs\bff\fvt\vbel\a"), R"("tab\tnl\ncr\rbs\bff\fvt\vbel\a")");
  EXPECT_EQ(quoted("\001\033[0m\177\200\377"), R"("\001\033[0m\177\200\377")");
  EXPECT_EQ(quoted("utf8 \xc3\xa9\xe2\x82\xac"), R"("utf8 \303\251\342\202\254")");
  EXPECT_EQ(quoted("quote\" back\\ apos' ", Quoting::Ltrace), R"("quote" back\\ apos' ")");
}

TEST(Quote, escapes_the_quote_so_that_it_can_be_read_back) {
  EXPECT_EQ(quoted("a\"b"), R"("a\"b")");
  EXPECT_EQ(quoted("a'b"), R"("a'b")");
  EXPECT_EQ(quoted(std::string_view("a\0001", 3)), R"("a\0001")");
}

TEST(Quote, shows_a_character_as_ltrace_does) {
  EXPECT_EQ(quoted_char('a'), "'a'");
  EXPECT_EQ(quoted_char('\0'), "'\\0'");
  EXPECT_EQ(quoted_char('\n'), "'\\n'");
  EXPECT_EQ(quoted_char('\\'), "'\\\\'");
  EXPECT_EQ(quoted_char('\310'), "'\\310'");
  EXPECT_EQ(quoted_char('\'', Quoting::Ltrace), "'''");
  EXPECT_EQ(quoted_char('\''), "'\\''");
  EXPECT_EQ(quoted_char('"'), "'\"'");
}

TEST(Quote, lets_no_byte_outside_of_printable_ascii_through) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  std::string out;
  append_quoted(out, all, Quoting::Ltrace);
  append_sanitized(out, all);
  for (const char c : all)
    append_quoted_char(out, c, Quoting::Ltrace);

  for (const char c : out) {
    EXPECT_GE(c, ' ');
    EXPECT_LE(c, '~');
  }
}

TEST(Sanitize, leaves_a_name_as_it_is) {
  std::string out;
  append_sanitized(out, "std::map<int, char*>::operator[] \\ \"x\"");
  EXPECT_EQ(out, "std::map<int, char*>::operator[] \\ \"x\"");
}

TEST(Sanitize, makes_a_line_break_in_a_name_visible) {
  std::string out;
  append_sanitized(out, "a\n+++ exited +++\x1b[2J");
  EXPECT_EQ(out, "a\\012+++ exited +++\\033[2J");
}

} // namespace
} // namespace sonictrace
