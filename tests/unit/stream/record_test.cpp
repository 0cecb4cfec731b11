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

TEST(RecordBuffer, gives_back_whole_calls) {
  RecordBuffer buffer;
  auto room = buffer.call({7, 3, 2, wire::kCallUnwound, 1000, 500, 0x401000}, 100);
  ASSERT_EQ(room.size(), 100u);
  std::memcpy(room.data(), "abcdeXY", 7);
  buffer.commit_call(5, 7);
  buffer.call({8, 4, 1, 0, 2000, 600, 0x402000}, 0);
  buffer.commit_call(0, 0);

  const auto got = records(buffer.batch());

  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].header.kind, RecordKind::Call);
  EXPECT_EQ(got[0].header.flags, wire::kCallUnwound);
  EXPECT_EQ(got[0].header.thread, 7u);
  EXPECT_EQ(got[0].header.function, 3u);
  EXPECT_EQ(got[0].header.depth, 2u);
  EXPECT_EQ(got[0].header.time_ns, 1000u);
  EXPECT_EQ(got[0].header.detail, 500u);
  EXPECT_EQ(got[0].header.call, 0x401000u);
  const CallFields fields = call_fields(got[0]);
  ASSERT_EQ(fields.entry.size(), 5u);
  EXPECT_EQ(std::memcmp(fields.entry.data(), "abcde", 5), 0);
  ASSERT_GE(fields.leave.size(), 2u);
  EXPECT_EQ(std::memcmp(fields.leave.data(), "XY", 2), 0);
  EXPECT_TRUE(call_fields(got[1]).entry.empty());
  EXPECT_TRUE(call_fields(got[1]).leave.empty()) << "zeros that fill up a record are no fields";
}

TEST(RecordBuffer, gives_back_counts) {
  RecordBuffer buffer;
  const wire::CountedBucket buckets[] = {{5, 6}, {1919, 8}};
  buffer.counts(7, 3, 1000, {14, 2000, 5, 1900, 0}, buckets);
  buffer.counts(7, 4, 1001, {1, 2, 2, 2, 77}, {});

  const auto got = records(buffer.batch());

  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].header.kind, RecordKind::Counts);
  EXPECT_EQ(got[0].header.function, 3u);
  EXPECT_EQ(got[0].header.thread, 7u);
  const CountsView counts(got[0].payload);
  EXPECT_EQ(counts.sums().calls, 14u);
  EXPECT_EQ(counts.sums().sum_ns, 2000u);
  EXPECT_EQ(counts.sums().least_ns, 5u);
  EXPECT_EQ(counts.sums().most_ns, 1900u);
  ASSERT_EQ(counts.bucket_count(), 2u);
  EXPECT_EQ(counts.bucket(0).calls, 6u);
  EXPECT_EQ(counts.bucket(1).bucket, 1919u);
  EXPECT_EQ(CountsView(got[1].payload).bucket_count(), 0u);
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

/// A call of 16 bytes of fields, or counts with 2 buckets; and a record behind it.
std::vector<std::byte> record_of(RecordKind kind) {
  RecordBuffer buffer;
  if (kind == RecordKind::Call) {
    buffer.call({1, 1, 1, 0, 1, 1, 1}, 16);
    buffer.commit_call(8, 16);
  } else {
    const wire::CountedBucket buckets[] = {{1, 1}, {2, 2}};
    buffer.counts(1, 1, 1, {}, buckets);
  }
  buffer.unwound(2, 2, 2, 2, 2, 2);
  return {buffer.batch().begin(), buffer.batch().end()};
}

struct PayloadDamage {
  const char* name;
  RecordKind kind;
  std::size_t at; ///< of 4 bytes, behind the header
  std::uint32_t value;
  bool sound = false;
};

void PrintTo(const PayloadDamage& damage, std::ostream* out) { *out << damage.name; }

class DamagedPayload : public testing::TestWithParam<PayloadDamage> {};

TEST_P(DamagedPayload, ends_the_batch) {
  const PayloadDamage& damage = GetParam();
  auto bytes = record_of(damage.kind);
  std::memcpy(bytes.data() + sizeof(RecordHeader) + damage.at, &damage.value, 4);

  RecordReader reader(bytes);

  EXPECT_EQ(reader.next().has_value(), damage.sound);
  EXPECT_EQ(reader.error() == nullptr, damage.sound);
  EXPECT_EQ(reader.next().has_value(), damage.sound) << "stays at its end";
}

INSTANTIATE_TEST_SUITE_P(
    Payloads, DamagedPayload,
    testing::Values(
        PayloadDamage{"call", RecordKind::Call, 0, 8, true},
        PayloadDamage{"call_of_nothing_at_the_entry", RecordKind::Call, 0, 0, true},
        // 4 + 16 bytes, and 4 that round the record up.
        PayloadDamage{"call_of_nothing_at_the_return", RecordKind::Call, 0, 20, true},
        PayloadDamage{"call_that_runs_over", RecordKind::Call, 0, 21},
        PayloadDamage{"call_that_runs_over_far", RecordKind::Call, 0, 0xffffffff},
        PayloadDamage{"counts", RecordKind::Counts, 32, 2, true},
        PayloadDamage{"counts_of_fewer_buckets", RecordKind::Counts, 32, 1, true},
        PayloadDamage{"counts_that_run_over", RecordKind::Counts, 32, 3},
        PayloadDamage{"counts_that_run_over_far", RecordKind::Counts, 32, 0xffffffff},
        PayloadDamage{"counts_that_run_over_very_far", RecordKind::Counts, 36, 0x20000000},
        PayloadDamage{"bucket_that_is_the_last", RecordKind::Counts, 40, 1919, true},
        PayloadDamage{"bucket_that_there_is_not", RecordKind::Counts, 40, 1920},
        PayloadDamage{"second_bucket_that_there_is_not", RecordKind::Counts, 48, 0xffffffff}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(RecordReader, ends_at_a_record_that_is_too_short_for_its_kind) {
  for (const RecordKind kind : {RecordKind::Call, RecordKind::Counts}) {
    auto bytes = two_records();
    bytes[offsetof(RecordHeader, kind)] = static_cast<std::byte>(kind);
    RecordReader reader(bytes);

    EXPECT_FALSE(reader.next());
    EXPECT_NE(reader.error(), nullptr);
  }
}

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
    for (const auto& record : records(bytes)) {
      seen += sizeof(RecordHeader) + record.payload.size();
      if (record.header.kind == RecordKind::Call) {
        const CallFields fields = call_fields(record);
        EXPECT_LE(fields.entry.size() + fields.leave.size(), record.payload.size());
      }
    }
    EXPECT_LE(seen, bytes.size());
  }
}

} // namespace
} // namespace sonictrace
