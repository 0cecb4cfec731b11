#include "sonictrace/report/balance.hpp"

#include <gtest/gtest.h>

#include "unit/log/read_text.hpp"

namespace sonictrace::report {
namespace {

using log::test::TextFile;

struct Balanced {
  std::vector<BalanceRow> rows;
  BalanceSum sum;
  std::vector<Unmatched> oldest;

  std::uint64_t unmatched(std::string_view function) const {
    std::uint64_t count = 0;
    for (const auto& row : rows)
      if (row.function == function) count += row.unmatched();
    return count;
  }
};

Balanced balance(std::string_view text, std::string_view pair = "malloc:free",
                 std::size_t most_live = Balance::kMostLive) {
  const TextFile file(text);
  log::ReaderOptions options;
  options.keep_arguments = true;
  auto reader = log::LogReader::open(file.path(), options);
  const std::vector<BalancePair> pairs = {*parse_balance_pair(pair)};
  Balance counted(pairs, nullptr, reader->functions(), most_live);
  EXPECT_TRUE(reader->pump(counted));
  return {counted.rows(), counted.sum(0), counted.oldest(10)};
}

TEST(Balance, matches_by_the_pointer_that_was_returned) {
  const auto result = balance("malloc(10) = 0x1000\n"
                              "malloc(20) = 0x2000\n"
                              "malloc(30) = 0x3000\n"
                              "free(0x2000) = <void>\n");

  EXPECT_EQ(result.sum.taken, 3U);
  EXPECT_EQ(result.sum.unmatched, 2U);
  EXPECT_EQ(result.sum.unmatched_bytes, 40U);
  EXPECT_EQ(result.sum.peak, 3U);
  EXPECT_EQ(result.sum.peak_bytes, 60U);
  EXPECT_EQ(result.sum.peak_line, 3U);
  ASSERT_EQ(result.oldest.size(), 2U);
  EXPECT_EQ(result.oldest[0].value, 0x1000U);
  EXPECT_EQ(result.oldest[0].line, 1U);
  EXPECT_EQ(result.oldest[1].value, 0x3000U);
}

TEST(Balance, knows_calloc_and_realloc) {
  const auto result = balance("calloc(4, 8) = 0x1000\n"
                              "realloc(0x1000, 100) = 0x2000\n"
                              "realloc(0x2000, 200) = 0x2000\n"
                              "realloc(nil, 7) = 0x3000\n"
                              "free(0x2000) = <void>\n");

  EXPECT_EQ(result.unmatched("calloc"), 0U);
  EXPECT_EQ(result.unmatched("realloc"), 1U);
  EXPECT_EQ(result.sum.unmatched_bytes, 7U);
}

TEST(Balance, keeps_what_a_failed_realloc_leaves) {
  const auto result = balance("malloc(8) = 0x1000\nrealloc(0x1000, 100) = nil\n");

  EXPECT_EQ(result.unmatched("malloc"), 1U);
  EXPECT_EQ(result.sum.unmatched, 1U);
}

TEST(Balance, knows_that_realloc_to_nothing_frees) {
  EXPECT_EQ(balance("malloc(8) = 0x1000\nrealloc(0x1000, 0) = nil\n").sum.unmatched, 0U);
}

TEST(Balance, counts_apart_what_it_did_not_see) {
  const auto result = balance("free(0x1000) = <void>\n"
                              "free(nil) = <void>\n"
                              "malloc(99999999999) = nil\n"
                              "malloc(1) = 0x2000\n"
                              "malloc(2) = 0x2000\n");

  EXPECT_EQ(result.sum.unknown, 1U);
  EXPECT_EQ(result.sum.nothing, 1U);
  EXPECT_EQ(result.rows[0].failed, 1U);
  EXPECT_EQ(result.rows[0].reused, 1U);
  EXPECT_EQ(result.sum.unmatched, 1U);
  EXPECT_EQ(result.sum.unmatched_bytes, 2U);
}

TEST(Balance, is_not_misled_by_a_free_whose_line_comes_behind_the_next_malloc) {
  const auto result = balance("1 10:00:00.000001 malloc(8) = 0x1000 <0.000001>\n"
                              "2 10:00:00.000012 malloc(16) = 0x1000 <0.000001>\n"
                              "1 10:00:00.000010 free(0x1000) = <void> <0.000005>\n");

  EXPECT_EQ(result.rows[0].given, 1U);
  EXPECT_EQ(result.rows[0].reused, 0U);
  EXPECT_EQ(result.sum.unmatched, 1U);
  EXPECT_EQ(result.sum.unmatched_bytes, 16U);
  EXPECT_EQ(result.sum.unknown, 0U);
}

TEST(Balance, reads_split_lines) {
  const auto result = balance("1 malloc(8 <unfinished ...>\n"
                              "2 malloc(16) = 0x2000\n"
                              "1 <... malloc resumed> ) = 0x1000\n"
                              "1 free(0x1000 <unfinished ...>\n"
                              "2 puts(\"x\") = 2\n"
                              "1 <... free resumed> ) = <void>\n");

  EXPECT_EQ(result.sum.unmatched, 1U);
  EXPECT_EQ(result.sum.unmatched_bytes, 16U);
}

TEST(Balance, counts_each_caller_apart) {
  const auto result =
      balance("a.so->malloc(8) = 0x1000\nb.so->malloc(8) = 0x2000\nb.so->free(0x1000) = <void>\n");

  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].caller, "a.so");
  EXPECT_EQ(result.rows[0].unmatched(), 0U);
  EXPECT_EQ(result.rows[1].unmatched(), 1U);
}

TEST(Balance, takes_descriptors_from_0_on) {
  const auto result = balance("open(\"/a\", 0) = 0\n"
                              "open(\"/b\", 0) = -1\n"
                              "openat(-100, \"/c\", 0) = 3\n"
                              "close(0) = 0\n",
                              "open,openat:close");

  EXPECT_EQ(result.unmatched("open"), 0U);
  EXPECT_EQ(result.unmatched("openat"), 1U);
}

TEST(Balance, matches_system_calls_apart_from_the_library_calls_that_make_them) {
  const auto result = balance("openat@SYS(AT_FDCWD, \"/a\", O_RDONLY) = 3\n"
                              "open(\"/a\", 0) = 3\n"
                              "close@SYS(3) = 0\n"
                              "close(3) = 0\n"
                              "openat@SYS(AT_FDCWD, \"/b\", O_RDONLY) = 3\n",
                              "open,openat:close");

  EXPECT_EQ(result.unmatched("open"), 0U);
  EXPECT_EQ(result.unmatched("openat"), 1U);
  EXPECT_EQ(result.sum.unknown, 0U);
  EXPECT_EQ(result.rows[0].reused, 0U);
}

TEST(Balance, says_how_many_it_does_not_follow) {
  const auto result =
      balance("malloc(1) = 0x1000\nmalloc(1) = 0x2000\nmalloc(1) = 0x3000\n", "malloc:free", 2);

  EXPECT_EQ(result.rows[0].not_followed, 1U);
  EXPECT_EQ(result.sum.unmatched, 2U);
}

TEST(BalancePair, is_split_at_a_single_colon) {
  const auto pair = parse_balance_pair("ns::take,other:ns::give");

  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->takers, (std::vector<std::string>{"ns::take", "other"}));
  EXPECT_EQ(pair->givers, (std::vector<std::string>{"ns::give"}));
  EXPECT_FALSE(parse_balance_pair("malloc"));
  EXPECT_FALSE(parse_balance_pair("malloc:"));
  EXPECT_FALSE(parse_balance_pair("a::b"));
}

} // namespace
} // namespace sonictrace::report
