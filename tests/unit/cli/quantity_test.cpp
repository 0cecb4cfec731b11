#include "cli/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sonictrace {
namespace {

using namespace std::chrono_literals;

TEST(Quantity, reads_whole_numbers_in_c_notation) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("0x10"), 16);
  EXPECT_EQ(parse_integer("010"), 8);
  EXPECT_EQ(parse_integer(" 5"), 5); // as ltrace
  EXPECT_EQ(parse_integer("99999999999999999999"), std::numeric_limits<std::int64_t>::max());
  for (const char* wrong : {"", " ", "x", "5x", "5 ", "08", "1.5", "0x", "--1"})
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << wrong;
}

TEST(Quantity, reads_durations_with_their_unit) {
  EXPECT_EQ(parse_duration("0"), 0ns);
  EXPECT_EQ(parse_duration("100ns"), 100ns);
  EXPECT_EQ(parse_duration("10us"), 10us);
  EXPECT_EQ(parse_duration("1ms"), 1ms);
  EXPECT_EQ(parse_duration("0.5s"), 500ms);
  EXPECT_EQ(parse_duration("1.25ms"), 1250us);
  EXPECT_EQ(parse_duration("0.1s"), 100ms); // no rounding error
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("99999999999999999999h"), std::chrono::nanoseconds::max());
  for (const char* wrong : {"", "1", "s", "1 s", "-1s", "1x", "1S", ".5s", "1.s", "1.5.5s", "1e3s",
                            "infs", "nan", "0x1s", "1ss"})
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
}

TEST(Quantity, reads_sizes_in_powers_of_1024) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("100"), 100u);
  EXPECT_EQ(parse_size("64K"), 65536u);
  EXPECT_EQ(parse_size("1M"), 1048576u);
  EXPECT_EQ(parse_size("2G"), 2147483648u);
  EXPECT_EQ(parse_size("1T"), 1099511627776u);
  EXPECT_EQ(parse_size("99999999999G"), std::numeric_limits<std::uint64_t>::max());
  for (const char* wrong : {"", "K", "-1", " 1", "1k", "1KB", "1.5M", "1 M", "x"})
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
}

} // namespace
} // namespace sonictrace
