#include <gtest/gtest.h>

#include "sonictrace/log/line.hpp"

namespace sonictrace::log {
namespace {

/// The way with eight readable bytes behind the line is another one than that without.
TEST(ParseLine, says_the_same_whatever_stands_behind_the_line) {
  const std::string_view lines[] = {
      "05:41:28.637712 strcmp(\"a\", \"b\")                 = -1 <0.000007>",
      "05:41:28.637712 f() = 1 <0.0000>",
      "05:41:28.637 f() = 1 <10.000007>",
      "a() = 1",
      "a",
      "malloc",
      "05:41:28",
      "05:41:28.63",
      "05:41:28.637712",
      "05:41:28.637712 ab(",
      "1796009218.757446 at::native::upsample_bilinear2d(1) = 2",
      "a_name_of_more_than_sixteen_bytes::and_more(1) = 2",
      "",
  };
  for (const auto line : lines)
    for (const std::string_view behind : {"aaaaaaaaaaaaaaaa", "(((((((((((((((("}) {
      const std::string all = std::string(line) + std::string(behind);
      Line fast;
      parse_line(std::string_view(all).substr(0, line.size()), 16, fast);
      const Line exact = parse_line(line);

      EXPECT_EQ(fast.kind, exact.kind) << line;
      EXPECT_EQ(fast.time_ns, exact.time_ns) << line;
      EXPECT_EQ(fast.duration_ns, exact.duration_ns) << line;
      EXPECT_EQ(fast.name(line), exact.name(line)) << line;
      EXPECT_EQ(fast.fraction_digits, exact.fraction_digits) << line;
      EXPECT_EQ(fast.tail, exact.tail) << line;
    }
}

} // namespace
} // namespace sonictrace::log
