#include "sonictrace/decode/digits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace sonictrace {
namespace {

template <class Integer>
std::string decimal(Integer value) {
  std::string out;
  append_decimal(out, value);
  return out;
}

std::string hex(std::uint64_t value) {
  std::string out;
  append_hex(out, value);
  return out;
}

std::string padded(std::uint64_t value, unsigned width) {
  std::string out;
  append_padded(out, value, width);
  return out;
}

TEST(Digits, of_any_number_are_those_of_the_library) {
  for (const std::int64_t value :
       {0l, 1l, 9l, 10l, 11l, 99l, 100l, 101l, 999l, 1000l, 9999l, 10000l, 100000l, 1000000007l,
        std::numeric_limits<long>::max()}) {
    EXPECT_EQ(decimal(value), std::to_string(value));
    EXPECT_EQ(decimal(-value), std::to_string(-value));
    EXPECT_EQ(decimal(static_cast<std::uint64_t>(-value)),
              std::to_string(static_cast<std::uint64_t>(-value)));
  }
  EXPECT_EQ(decimal(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(decimal(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(decimal(std::numeric_limits<std::int16_t>::min()), "-32768");
  std::mt19937_64 random(1);
  for (int round = 0; round < 10000; ++round) {
    const auto value = static_cast<std::int64_t>(random()) >> random() % 64;
    ASSERT_EQ(decimal(value), std::to_string(value));
  }
}

TEST(Digits, of_hex_numbers_have_no_zeros_in_front) {
  EXPECT_EQ(hex(0), "0x0");
  EXPECT_EQ(hex(0xf), "0xf");
  EXPECT_EQ(hex(0x7f0012345678), "0x7f0012345678");
  EXPECT_EQ(hex(~0ull), "0xffffffffffffffff");
}

TEST(Digits, that_are_padded_are_as_many_as_asked_for) {
  EXPECT_EQ(padded(0, 6), "000000");
  EXPECT_EQ(padded(1234, 6), "001234");
  EXPECT_EQ(padded(1234567, 6), "234567");
  EXPECT_EQ(padded(123456789, 9), "123456789");
  EXPECT_EQ(padded(7, 1), "7");
  EXPECT_EQ(padded(17, 1), "7");
  EXPECT_EQ(padded(5, 0), "");
  EXPECT_EQ(padded(~0ull, 20), "18446744073709551615");
}

} // namespace
} // namespace sonictrace
