#include "sonictrace/base/json_string.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sonictrace {
namespace {

TEST(JsonString, escapes_what_json_does_not_allow_and_what_steers_terminals) {
  EXPECT_EQ(json_string("operator\"\" _x"), R"("operator\"\" _x")");
  EXPECT_EQ(json_string("a\\b\b\t\n\f\r\x01\x1f\x7f"), R"("a\\b\b\t\n\f\r\u0001\u001f\u007f")");
  EXPECT_EQ(json_string(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json_string(""), "\"\"");
}

TEST(JsonString, has_a_character_in_place_of_each_byte_that_is_none) {
  EXPECT_EQ(json_string("a\xff\xe2\x82z"), "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); // a surrogate
  EXPECT_EQ(json_string("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(json_string("\xf0\x9f\x98"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); // cut
}

TEST(JsonString, of_all_pairs_of_bytes_is_read_back_by_others) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const auto read = nlohmann::json::parse(json_string(text), nullptr, false);

      ASSERT_TRUE(read.is_string()) << first << " " << second;
      if (first < 0x80 && second < 0x80) { EXPECT_EQ(read.get<std::string>(), text); }
    }
}

} // namespace
} // namespace sonictrace
