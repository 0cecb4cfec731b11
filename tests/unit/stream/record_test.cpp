#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sonictrace/stream/record_reader.hpp"
#include "sonictrace/stream/record_writer.hpp"

namespace sonictrace {
namespace {

using wire::RecordHeader;
using wire::RecordKind;

std::vector<RecordView> records(RecordBatch batch) {
  RecordReader reader(batch);
  std::vector<RecordView> result;
  while (const auto record = reader.next())
    result.push_back(*record);
  return result;
}

TEST(RecordBuffer, gives_back_what_was_written) {
  RecordBuffer buffer;
  const auto room = buffer.enter(7, 3, 42, 2, 1000, 0x401000, 100);
  std::memcpy(room.data(), "abcde", 5);
  buffer.commit(5);
  buffer.leave(7, 3, 42, 2, 1500, 500, 8);
  buffer.commit(0);
  buffer.unwound(7, 3, 43, 1, 1600, 600);

  const auto got = records(buffer.batch());

  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].header.kind, RecordKind::Enter);
  EXPECT_EQ(got[0].header.thread, 7u);
  EXPECT_EQ(got[0].header.function, 3u);
  EXPECT_EQ(got[0].header.call, 42u);
  EXPECT_EQ(got[0].header.depth, 2u);
  EXPECT_EQ(got[0].header.time_ns, 1000u);
  EXPECT_EQ(got[0].header.detail, 0x401000u);
  EXPECT_EQ(got[1].header.kind, RecordKind::Return);
  EXPECT_EQ(got[1].header.detail, 500u);
  EXPECT_EQ(got[2].header.kind, RecordKind::Unwound);
  EXPECT_EQ(got[2].header.call, 43u);
}

TEST(RecordBuffer, rounds_a_record_up_with_zeros) {
  RecordBuffer buffer;
  auto room = buffer.enter(1, 1, 1, 1, 1, 1, 16);
  std::memset(room.data(), 0xee, 16);
  buffer.commit(16);
  buffer.clear();
  room = buffer.enter(1, 1, 1, 1, 1, 1, 16);
  std::memcpy(room.data(), "abcde", 5);
  buffer.commit(5);

  const auto got = records(buffer.batch());

  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].header.size % 8, 0u);
  EXPECT_EQ(std::memcmp(got[0].payload.data(), "abcde\0\0\0", 8), 0);
}

TEST(RecordBuffer, grows_where_the_rest_is_too_small) {
  RecordBuffer buffer(64);
  for (int n = 0; n < 100; ++n) {
    const auto room = buffer.enter(1, 1, 1, 1, 1, 1, 3000);
    ASSERT_EQ(room.size(), 3000u);
    std::memset(room.data(), 'x', room.size());
    buffer.commit(room.size());
  }
  EXPECT_TRUE(buffer.is_full());
  EXPECT_EQ(records(buffer.batch()).size(), 100u);
}

std::vector<std::byte> two_records() {
  RecordBuffer buffer;
  buffer.unwound(1, 1, 1, 1, 1, 1);
  buffer.unwound(2, 2, 2, 2, 2, 2);
  return {buffer.batch().begin(), buffer.batch().end()};
}

struct Damage {
  const char* name;
  std::uint32_t second_size; ///< what the second record says of its size
  std::size_t cut = 0;       ///< bytes taken from the end of the batch
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedBatch : public testing::TestWithParam<Damage> {};

TEST_P(DamagedBatch, ends_with_an_error_behind_the_records_that_are_whole) {
  auto bytes = two_records();
  std::memcpy(bytes.data() + sizeof(RecordHeader), &GetParam().second_size, 4);
  bytes.resize(bytes.size() - GetParam().cut);

  RecordReader reader(bytes);

  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.error(), nullptr);
  EXPECT_FALSE(reader.next());
  EXPECT_NE(reader.error(), nullptr);
  EXPECT_FALSE(reader.next()) << "stays at its end";
}

INSTANTIATE_TEST_SUITE_P(Sizes, DamagedBatch,
                         testing::Values(Damage{"zero", 0}, Damage{"smaller_than_header", 32},
                                         Damage{"odd", 42}, Damage{"runs_over", 48},
                                         Damage{"huge", 0xfffffff8}, Damage{"cut_header", 40, 8}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(RecordReader, ends_at_a_record_of_unknown_kind) {
  auto bytes = two_records();
  bytes[offsetof(RecordHeader, kind)] = std::byte{99};
  RecordReader reader(bytes);

  EXPECT_FALSE(reader.next());
  EXPECT_NE(reader.error(), nullptr);
}

TEST(RecordReader, stays_inside_of_a_batch_of_random_bytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random() % 400);
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 8 * 8);
    std::size_t seen = 0;
    for (const auto& record : records(bytes))
      seen += sizeof(RecordHeader) + record.payload.size();
    EXPECT_LE(seen, bytes.size());
  }
}

} // namespace
} // namespace sonictrace
