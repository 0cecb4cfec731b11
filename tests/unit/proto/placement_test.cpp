// Where values lie among a call's words. What compilers do is compared in
// decode/calling_convention_test.cpp; here are the corners, and i386.
#include "sonictrace/proto/placement.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sonictrace::proto {
namespace {

using Convention = CallingConvention;
using Places = std::vector<std::uint32_t>;

constexpr std::uint32_t kStack = wire::kStackWordsAt;
constexpr std::uint32_t kVectors = wire::kVectorWordsAt;

/// Types, made where they are needed.
class Placing : public testing::Test {
protected:
  const Type* integer(std::uint8_t size) { return arena.integer(true, size); }
  const Type* floating(std::uint8_t size) {
    Type type;
    type.kind = TypeKind::Float;
    type.size = size;
    return arena.make(type);
  }
  const Type* structure(std::vector<const Type*> fields) {
    Type type;
    type.kind = TypeKind::Struct;
    type.fields = std::move(fields);
    return arena.make(type);
  }
  const Type* array(const Type* element, std::uint32_t count) {
    Type type;
    type.kind = TypeKind::Array;
    type.target = element;
    type.length = {Length::Source::Constant, count, false};
    return arena.make(type);
  }

  TypeArena arena;
};

TEST_F(Placing, lays_structs_out_as_c_does) {
  const Type& mixed = *structure({integer(1), integer(4), integer(2), floating(8), integer(1)});
  EXPECT_EQ(field_offsets(mixed, 8), (Places{0, 4, 8, 16, 24}));
  EXPECT_EQ(layout_of(mixed, 8).size, 32u);
  // A double is aligned to 4 bytes on i386.
  EXPECT_EQ(field_offsets(mixed, 4), (Places{0, 4, 8, 12, 20}));
  EXPECT_EQ(layout_of(mixed, 4).size, 24u);
  const Type& extended = *structure({integer(1), floating(16)});
  EXPECT_EQ(layout_of(extended, 8).size, 32u);
  EXPECT_EQ(layout_of(extended, 4).size, 16u);
  EXPECT_EQ(layout_of(*array(integer(2), 3), 8).size, 6u);
  EXPECT_EQ(layout_of(*structure({}), 8).size, 0u);
}

TEST_F(Placing, of_words_follows_the_machine) {
  const Type& word = *integer(0);
  EXPECT_EQ(layout_of(word, 8).size, 8u);
  EXPECT_EQ(layout_of(word, 4).size, 4u);
}

TEST_F(Placing, of_an_empty_struct_is_nowhere) {
  ArgumentPlaces places(Convention::SystemV64);
  EXPECT_TRUE(places.next(*structure({})).eightbytes.empty());
  EXPECT_EQ(places.next(*integer(4)).eightbytes, (Places{0}));
  EXPECT_TRUE(place_of_result(*structure({}), Convention::SystemV64)->eightbytes.empty());
}

TEST_F(Placing, says_where_variadic_arguments_begin) {
  ArgumentPlaces places(Convention::SystemV64);
  EXPECT_EQ(places.variadic(), 0u);
  places.next(*integer(4));
  places.next(*floating(8));
  places.next(*floating(4));
  EXPECT_EQ(places.variadic(), 1u | 2u << 8);
  places.next(*floating(16));
  EXPECT_EQ(places.variadic(), 1u | 2u << 8 | 16u << 16);
}

TEST_F(Placing, of_a_huge_struct_leaves_the_number_sound) {
  ArgumentPlaces places(Convention::SystemV64);
  places.next(*array(integer(8), 100'000));
  EXPECT_EQ(places.variadic() >> 16, 0xffffu);
  EXPECT_EQ(places.variadic() & 0xffff, 0u);
}

TEST_F(Placing, of_i386_arguments_is_the_stack) {
  ArgumentPlaces places(Convention::SystemV32);
  EXPECT_EQ(places.next(*integer(1)).eightbytes, (Places{kStack}));
  EXPECT_EQ(places.next(*floating(8)).eightbytes, (Places{kStack + 4}));
  EXPECT_EQ(places.next(*integer(8)).eightbytes, (Places{kStack + 12}));
  EXPECT_EQ(places.next(*floating(16)).eightbytes, (Places{kStack + 20}));
  EXPECT_EQ(places.next(*structure({integer(1), integer(2)})).eightbytes, (Places{kStack + 32}));
  EXPECT_EQ(places.next(*integer(4)).eightbytes, (Places{kStack + 36}));
}

TEST_F(Placing, of_i386_structs_that_are_returned_takes_one_word_of_the_stack) {
  ArgumentPlaces places(Convention::SystemV32);
  places.skip_hidden_result();
  EXPECT_EQ(places.next(*integer(4)).eightbytes, (Places{kStack + 4}));
  EXPECT_FALSE(place_of_result(*structure({integer(4)}), Convention::SystemV32));
}

TEST_F(Placing, of_i386_floating_results_is_the_x87_stack) {
  for (const std::uint8_t size : std::initializer_list<std::uint8_t>{4, 8, 16})
    EXPECT_EQ(place_of_result(*floating(size), Convention::SystemV32)->eightbytes,
              (Places{wire::kResultX87At}));
}

TEST_F(Placing, of_mixed_structs_is_in_both_kinds_of_registers) {
  ArgumentPlaces places(Convention::SystemV64);
  places.next(*integer(4));
  const Placement mixed = places.next(*structure({floating(8), integer(4)}));
  EXPECT_EQ(mixed.eightbytes, (Places{kVectors, 8}));
  EXPECT_FALSE(mixed.contiguous);
}

} // namespace
} // namespace sonictrace::proto
