#include "engine/frame_ids.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sonictrace {
namespace {

UnwoundFrame at(std::uint64_t address, bool interrupted = false) {
  return {TraceeAddress(address), interrupted};
}

TEST(FrameIds, tell_places_apart_and_whether_they_were_interrupted) {
  FrameIdPool pool;
  FrameIds ids(pool);
  const auto a = ids.add(at(0x1000));
  const auto b = ids.add(at(0x1000, true));

  EXPECT_NE(a, b);
  EXPECT_EQ(ids.find(at(0x1000)), a);
  EXPECT_EQ(ids.find(at(0x1000, true)), b);
  EXPECT_EQ(ids.find(at(0x1001)), std::nullopt);
}

TEST(FrameIds, of_a_process_that_has_ended_are_used_again) {
  FrameIdPool pool;
  FrameIds lives(pool);
  const auto kept = lives.add(at(0x1000));
  for (int process = 0; process < 100; ++process) {
    FrameIds ids(pool);
    for (std::uint64_t place = 0; place < 10; ++place)
      EXPECT_NE(ids.add(at(place)), kept);
    EXPECT_EQ(pool.handed_out(), 11u);
  }
  EXPECT_EQ(pool.handed_out(), 1u);
}

TEST(FrameIds, of_a_copy_live_as_long_as_one_of_the_two) {
  FrameIdPool pool;
  auto parent = std::make_unique<FrameIds>(pool);
  const auto id = parent->add(at(0x1000));
  auto child = std::make_unique<FrameIds>(*parent);
  EXPECT_EQ(child->find(at(0x1000)), id);

  parent.reset();
  EXPECT_NE(child->add(at(0x2000)), id);
  EXPECT_EQ(pool.handed_out(), 2u);
  child.reset();
  EXPECT_EQ(pool.handed_out(), 0u);
}

TEST(FrameIds, of_what_was_unmapped_are_not_found_and_not_given_to_another_place) {
  FrameIdPool pool;
  FrameIds ids(pool);
  const auto stays = ids.add(at(0x1000));
  const auto gone = ids.add(at(0x2000));
  const auto range = *AddressRange::make(TraceeAddress(0x2000), TraceeAddress(0x3000));
  ASSERT_TRUE(ids.has_any_in(range));

  ids.forget(range);
  EXPECT_FALSE(ids.has_any_in(range));
  EXPECT_EQ(ids.find(at(0x1000)), stays);
  EXPECT_EQ(ids.find(at(0x2000)), std::nullopt);
  EXPECT_NE(ids.add(at(0x2000)), gone); // an open call may still name it
}

} // namespace
} // namespace sonictrace
