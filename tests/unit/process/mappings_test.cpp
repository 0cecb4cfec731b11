#include "sonictrace/process/mappings.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sonictrace {
namespace {

Mapping mapping(std::uint64_t begin, std::uint64_t end, const char* path = "") {
  Mapping made{*AddressRange::make(TraceeAddress(begin), TraceeAddress(end)), 0, 0, 0, false, false,
               path};
  return made;
}

constexpr std::uint64_t kReach = std::uint64_t{1} << 30;

TEST(FindGap, takes_the_room_nearest_to_the_code) {
  const std::vector<Mapping> mappings = {mapping(0x40'0000, 0x50'0000), mapping(0x51'0000, 0x60'0000)};

  EXPECT_EQ(find_gap(mappings, TraceeAddress(0x50'8000), 0x1'0000, kReach),
            TraceeAddress(0x50'0000));
  // Too small for two pages of 64 KB: below the first mapping.
  EXPECT_EQ(find_gap(mappings, TraceeAddress(0x42'0000), 0x2'0000, kReach),
            TraceeAddress(0x3e'0000));
}

TEST(FindGap, stays_within_reach) {
  const std::vector<Mapping> mappings = {mapping(0x1'0000, 0x8000'0000)};

  EXPECT_FALSE(find_gap(mappings, TraceeAddress(0x10'0000), 0x1000, 0x100'0000));
}

TEST(FindGap, keeps_off_the_heap_and_the_stack_which_grow) {
  const std::vector<Mapping> mappings = {mapping(0x1'0000, 0x50'0000), mapping(0x50'0000, 0x51'0000, "[heap]"),
                                         mapping(0x5000'0000, 0x5001'0000, "[stack]")};

  const auto gap = find_gap(mappings, TraceeAddress(0x51'0000), 0x1000, std::uint64_t{1} << 40);
  ASSERT_TRUE(gap);
  EXPECT_GE(gap->value(), 0x5001'0000u);
}

TEST(MappingAt, finds_this_very_code_and_says_where_it_comes_from) {
  const auto maps = open_mappings(getpid());
  ASSERT_TRUE(maps);
  const auto here = mapping_at(*maps, getpid(),
                               TraceeAddress(reinterpret_cast<std::uint64_t>(&mapping)));
  ASSERT_TRUE(here);
  EXPECT_TRUE(here->executable);
  EXPECT_FALSE(here->writable);
  EXPECT_NE(here->inode, 0u);
  EXPECT_NE(here->path.find("unit_process"), std::string::npos);
}

TEST(MappingAt, agrees_with_the_maps_file) {
  const auto maps = open_mappings(getpid());
  const auto all = read_mappings(getpid());
  ASSERT_TRUE(maps && all);
  int compared = 0;
  for (const auto& expected : *all) {
    if (expected.path.empty() || expected.path == "[vsyscall]" || expected.path == "[heap]") continue;
    const auto actual = mapping_at(*maps, getpid(), expected.range.begin());
    ASSERT_TRUE(actual) << expected.path;
    EXPECT_EQ(actual->range, expected.range) << expected.path;
    EXPECT_EQ(actual->path, expected.path);
    EXPECT_EQ(actual->inode, expected.inode);
    EXPECT_EQ(actual->device, expected.device) << expected.path;
    EXPECT_EQ(actual->offset, expected.offset);
    ++compared;
  }
  EXPECT_GT(compared, 3);
}

TEST(MappingAt, has_nothing_where_nothing_is_mapped) {
  const auto maps = open_mappings(getpid());
  ASSERT_TRUE(maps);
  EXPECT_FALSE(mapping_at(*maps, getpid(), TraceeAddress(0x10)));
}

} // namespace
} // namespace sonictrace
