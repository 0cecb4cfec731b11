#include "engine/inline/areas.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "engine/inline/big_room.hpp"
#include "unit/engine/own_process_mapper.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

AddressRange range(std::uint64_t begin, std::uint64_t end) {
  return *AddressRange::make(TraceeAddress(begin), TraceeAddress(end));
}

Mapping mapping(std::uint64_t begin, std::uint64_t end, std::string path = {}) {
  return {range(begin, end), 0, 0, 0, false, false, std::move(path)};
}

struct RoomCase {
  const char* name;
  std::vector<Mapping> mappings;
  AddressRange near;
  std::uint64_t size;
  std::uint64_t heap;
  std::uint64_t expected; ///< 0: none
};

void PrintTo(const RoomCase& tested, std::ostream* out) { *out << tested.name; }

class RoomNear : public testing::TestWithParam<RoomCase> {};

TEST_P(RoomNear, is_where_it_does_no_harm) {
  const RoomCase& tested = GetParam();

  const auto found = find_room_near(tested.mappings, tested.near, tested.size,
                                    TraceeAddress(tested.heap), TraceeAddress(0x10000));

  EXPECT_EQ(found ? found->value() : 0, tested.expected);
}

constexpr std::uint64_t kPie = 0x5555'5555'4000;
constexpr std::uint64_t kLibrary = 0x7fff'f7dd'0000;

INSTANTIATE_TEST_SUITE_P(
    Areas, RoomNear,
    testing::Values(
        RoomCase{"a_page_below_a_position_independent_program",
                 {mapping(kPie, kPie + 0x5000, "/p")},
                 range(kPie, kPie + 0x5000),
                 0x4000,
                 kPie + 0x9000,
                 kPie - 0x5000},
        RoomCase{"below_a_program_at_fixed_low_addresses",
                 {mapping(0x400000, 0x405000, "/p"), mapping(0x1000000, 0x1021000, "[heap]")},
                 range(0x401000, 0x402000),
                 0x3800,
                 0x1000000,
                 0x400000 - 0x5000},
        RoomCase{"between_it_and_its_heap_where_there_is_no_room_below",
                 {mapping(0x400000, 0x405000, "/p"), mapping(0x1000000, 0x1021000, "[heap]")},
                 range(0x401000, 0x402000),
                 8 * kMegabyte,
                 0x1000000,
                 0x406000},
        RoomCase{"away_from_a_heap_that_is_not_there_yet",
                 {mapping(0x400000, 0x405000, "/p")},
                 range(0x401000, 0x402000),
                 16 * kMegabyte,
                 0x406000,
                 0x406000 + kGigabyte + 0x1000},
        RoomCase{"above_it_and_away_from_its_heap_where_there_is_no_room_below",
                 {mapping(0x400000, 0x405000, "/p"), mapping(0x1000000, 0x1021000, "[heap]")},
                 range(0x401000, 0x402000),
                 16 * kMegabyte,
                 0x1000000,
                 0x1021000 + kGigabyte + 0x1000},
        RoomCase{"in_the_nearest_gap_below_that_is_large_enough",
                 {mapping(kLibrary - 0x200000, kLibrary - 0x100000),
                  mapping(kLibrary - 0x4000, kLibrary - 0x1000),
                  mapping(kLibrary, kLibrary + 0x10000, "/l")},
                 range(kLibrary, kLibrary + 0x10000),
                 0x8000,
                 0,
                 kLibrary - 0x4000 - 0x9000},
        RoomCase{"above_where_nothing_below_is_within_reach",
                 {mapping(kLibrary - 3 * kGigabyte, kLibrary - 0x1000),
                  mapping(kLibrary, kLibrary + 0x10000, "/l")},
                 range(kLibrary, kLibrary + 0x10000),
                 0x8000,
                 0,
                 kLibrary + 0x11000},
        RoomCase{"not_where_the_stack_may_grow",
                 {mapping(kLibrary - 3 * kGigabyte, kLibrary - 0x1000),
                  mapping(kLibrary, kLibrary + 0x10000, "/l"),
                  mapping(kLibrary + 0x100'0000, kLibrary + 0x110'0000, "[stack]"),
                  mapping(kLibrary + 0x110'0000, 0x7fff'ffff'f000)},
                 range(kLibrary, kLibrary + 0x10000),
                 0x8000,
                 0,
                 0},
        RoomCase{"nowhere_for_what_is_too_far_apart",
                 {mapping(0x10'0000'0000, 0x10'0000'1000)},
                 range(0x10'0000'0000, 0x10'8000'0000),
                 0x1000,
                 0,
                 0}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(BigRoom, leaves_room_for_libraries_that_come_later) {
  const std::vector<Mapping> mappings = {
      mapping(kPie, kPie + 0x5000, "/p"), mapping(kPie + 0x8000, kPie + 0x29000, "[heap]"),
      mapping(kLibrary, kLibrary + 0x10000, "/l"), mapping(kLibrary + 0x20000, kLibrary + 0x30000),
      mapping(0x7fff'fff0'0000, 0x7fff'fff2'0000, "[stack]")};

  const auto room = find_big_room(mappings, 56 * kGigabyte);

  ASSERT_TRUE(room);
  EXPECT_EQ(room->value(), kLibrary - (64 + 56) * kGigabyte);
}

TEST(BigRoom, is_none_where_the_address_space_is_full) {
  EXPECT_FALSE(
      find_big_room({mapping(kPie, kPie + 0x5000), mapping(kPie + 0x8000, kLibrary)}, kGigabyte));
}

class OwnAreas : public testing::Test {
protected:
  static Areas::Routines routines() {
    return {TraceeAddress(0x1111), TraceeAddress(0x2222), TraceeAddress(0x3333),
            TraceeAddress(0x4444)};
  }
  test::OwnProcessMapper mapper_;
  std::shared_ptr<AddressSpace> space_ = *AddressSpace::open(::getpid());
  Areas areas_{space_, routines()};
  // Somewhere in this program.
  AddressRange near_ = range(reinterpret_cast<std::uint64_t>(&PrintTo),
                             reinterpret_cast<std::uint64_t>(&PrintTo) + 64);
};

TEST_F(OwnAreas, of_an_earlier_session_lead_to_the_routines_of_this_one) {
  std::vector<std::uint64_t> stubs(512, 7);
  wire::AreaList list = {};
  const wire::AreaRecord record = {reinterpret_cast<std::uint64_t>(stubs.data()), 4096,
                                   static_cast<std::uint32_t>(AreaKind::Stubs), 0};

  areas_.adopt(std::span(&record, 1),
               AreaDirectory(space_, TraceeAddress(reinterpret_cast<std::uint64_t>(&list))));

  for (std::size_t i = 0; i < kAgentRoutines; ++i)
    EXPECT_EQ(TraceeAddress(stubs[i]), routines()[i]);
  EXPECT_EQ(stubs[kAgentRoutines], 7u);
}

TEST_F(OwnAreas, give_cells_that_a_displacement_reaches) {
  const auto taken = areas_.take(AreaKind::Cells, 3, near_, mapper_);

  ASSERT_TRUE(taken) << taken.error().message();
  ASSERT_EQ(taken->size(), 1u);
  EXPECT_EQ(taken->front().count, 3u);
  const std::int64_t distance = taken->front().at - near_.begin();
  EXPECT_EQ(distance, static_cast<std::int32_t>(distance));
}

TEST_F(OwnAreas, share_one_mapping_between_small_modules) {
  ASSERT_TRUE(areas_.take(AreaKind::Cells, 3, near_, mapper_));
  ASSERT_TRUE(areas_.take(AreaKind::Cells, 500, near_, mapper_));

  EXPECT_EQ(mapper_.count(), 1u);
}

TEST_F(OwnAreas, have_the_routines_addresses_at_the_begin_of_code) {
  const auto taken = areas_.take(AreaKind::Stubs, 2, std::nullopt, mapper_);

  ASSERT_TRUE(taken);
  const TraceeAddress area = taken->front().area;
  EXPECT_EQ(space_->memory().read_word(area + 8).operator*(), 0x2222u);
  EXPECT_GE(taken->front().at - area, 32);
}

TEST_F(OwnAreas, give_units_again_but_not_at_once) {
  const auto first = areas_.take(AreaKind::Stubs, 1, std::nullopt, mapper_);
  const auto second = areas_.take(AreaKind::Stubs, 1, std::nullopt, mapper_);
  ASSERT_TRUE(first && second);

  areas_.give_back(AreaKind::Stubs, {first->front().at});
  const auto third = areas_.take(AreaKind::Stubs, 1, std::nullopt, mapper_);
  areas_.give_back(AreaKind::Stubs, {second->front().at});
  const auto fourth = areas_.take(AreaKind::Stubs, 1, std::nullopt, mapper_);

  ASSERT_TRUE(third && fourth);
  EXPECT_NE(third->front().at, first->front().at);
  EXPECT_EQ(fourth->front().at, first->front().at);
}

TEST_F(OwnAreas, stay_the_same_in_size_however_often_a_module_comes_and_goes) {
  constexpr std::size_t kStubs = 5000;
  std::uint64_t after_three = 0;
  for (int round = 0; round < 20; ++round) {
    const auto taken = areas_.take(AreaKind::Stubs, kStubs, std::nullopt, mapper_);
    ASSERT_TRUE(taken);
    std::vector<TraceeAddress> units;
    for (const UnitRun& run : *taken)
      for (std::size_t i = 0; i < run.count; ++i)
        units.push_back(run.at + static_cast<std::int64_t>(i * sizeof(wire::SiteStub)));
    ASSERT_EQ(units.size(), kStubs);
    areas_.give_back(AreaKind::Stubs, units);
    if (round == 3) after_three = areas_.mapped();
  }

  EXPECT_EQ(areas_.mapped(), after_three);
}

TEST_F(OwnAreas, are_taken_for_none_of_the_others) {
  const auto stubs = areas_.take(AreaKind::Stubs, 1, std::nullopt, mapper_);
  const auto entries = areas_.take(AreaKind::Entries, 1, near_, mapper_);
  ASSERT_TRUE(stubs && entries);

  EXPECT_EQ(areas_.at(stubs->front().at)->kind, AreaKind::Stubs);
  EXPECT_EQ(areas_.at(entries->front().at)->kind, AreaKind::Entries);
  EXPECT_FALSE(areas_.at(TraceeAddress(0x1000)));
}

} // namespace
} // namespace sonictrace
