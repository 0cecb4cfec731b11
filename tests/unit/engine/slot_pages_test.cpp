#include "engine/breakpoint/slot_pages.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sonictrace {
namespace {

TEST(SlotPages, has_nothing_to_give_before_an_area_is_added) {
  SlotPages pages;
  EXPECT_FALSE(pages.take(std::nullopt));
}

TEST(SlotPages, gives_each_slot_once_until_the_area_is_full) {
  SlotPages pages;
  pages.add_area(TraceeAddress(0x10000));

  std::set<std::uint64_t> given;
  while (const auto slot = pages.take(std::nullopt))
    EXPECT_TRUE(given.insert(slot->value()).second);

  EXPECT_EQ(given.size(), SlotPages::kAreaSize / 32 - 1); // without the head's place
  EXPECT_EQ(*given.begin(), 0x10020u);
}

TEST(SlotPages, gives_only_slots_within_two_gigabytes) {
  SlotPages pages;
  pages.add_area(TraceeAddress(0x10000));

  EXPECT_FALSE(pages.take(TraceeAddress(0x7fff'0000'0000)));
  EXPECT_TRUE(pages.take(TraceeAddress(0x4000'0000)));
}

TEST(SlotPages, finds_the_slot_of_any_address_in_it) {
  SlotPages pages;
  pages.add_area(TraceeAddress(0x10000));
  const auto first = *pages.take(std::nullopt);
  const auto second = *pages.take(std::nullopt);
  pages.note({first, TraceeAddress(0x400), 3});
  pages.note({second, TraceeAddress(0x500), 7});

  ASSERT_NE(pages.slot_at(second + 5), nullptr);
  EXPECT_EQ(pages.slot_at(second + 5)->original, TraceeAddress(0x500));
  EXPECT_EQ(pages.slot_at(first)->copy_size, 3u);
  EXPECT_EQ(pages.slot_at(TraceeAddress(0x400)), nullptr);
  EXPECT_EQ(pages.slot_at(TraceeAddress(0x0ffff)), nullptr);
  EXPECT_EQ(pages.slot_at(TraceeAddress(0x10000)), nullptr) << "the head is no slot";
}

TEST(SlotPages, takes_an_area_that_was_left_only_where_it_says_so_of_its_own_place) {
  const TraceeAddress here(0x10000);
  const auto head = [here](SlotAreaHead::State state) {
    return SlotAreaHead{SlotAreaHead::kMagic, here, state, 0};
  };

  EXPECT_TRUE(head(SlotAreaHead::State::Free).is_free_at(here));
  EXPECT_FALSE(head(SlotAreaHead::State::Taken).is_free_at(here)) << "its tracer was killed";
  EXPECT_FALSE(head(SlotAreaHead::State::Free).is_free_at(here + 4096)) << "a copy of it";
}

} // namespace
} // namespace sonictrace
