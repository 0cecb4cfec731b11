#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/inline/merge.hpp"
#include "engine/inline/open_call_reader.hpp"
#include "engine/inline/ring_reader.hpp"
#include "sonictrace/base/clock.hpp"
#include "support/recording_sink.hpp"
#include "support/ring_producer.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;
using wire::RingKind;
using State = RingReader::State;

constexpr std::uint64_t kNow = 1'000'000;
constexpr std::uint64_t kPatience = 1000;
constexpr std::uint64_t kEver = ~std::uint64_t{0};

/// Ticks are nanoseconds, and CLOCK_REALTIME is CLOCK_MONOTONIC.
TickClock plain_clock() {
  return TickClock([] { return TickClock::Reading{}; }, false);
}

class RingReaderTest : public testing::Test {
protected:
  void SetUp() override {
    arena = make_arena();
    ASSERT_TRUE(arena);
    producer.emplace(arena, 77);
    functions.add(words_function(0));
    functions.add(words_function(1));
    reader.emplace(arena, producer->index(), CallNumbers{5, 3});
  }

  /// All that is there now.
  std::vector<RecordingSink::Record> read(std::uint64_t until = kEver, std::uint64_t now = kNow) {
    RecordingSink sink;
    BatchWriter out;
    reader->look(now, kPatience);
    while (reader->state() == State::Ready && reader->time() < until) {
      reader->read(until, now, maker, out);
      sink.write(out.batch());
      out.clear();
    }
    reader->publish();
    EXPECT_TRUE(sink.is_sound);
    return sink.records();
  }

  std::shared_ptr<Arena> arena;
  std::optional<RingProducer> producer;
  KnownFunctions functions;
  TickClock clock = plain_clock();
  RecordMaker maker{functions, clock};
  std::optional<RingReader> reader;
};

/// A Python function `f` of a.py, its first instruction in line 11.
std::vector<std::uint64_t> python_code(std::uint64_t key) {
  wire::PythonCodeHead head{};
  head.key = key;
  head.first_line = 10;
  head.lines = wire::PythonLines::Locations;
  head.name_size = 1;
  head.file_size = 4;
  head.lines_size = 2;
  head.name_unit = head.file_unit = 1;
  std::vector<std::uint64_t> words(sizeof head / 8 + 3);
  std::memcpy(words.data(), &head, sizeof head);
  std::memcpy(&words[4], "f", 1);
  std::memcpy(&words[5], "a.py", 4);
  std::memcpy(&words[6], "\xe8\x02", 2);
  return words;
}

TEST_F(RingReaderTest, puts_the_python_function_that_made_a_call_behind_its_beginning) {
  std::vector<FrameDefinition> defined;
  PythonFrames frames([&](const FrameDefinition& frame) { defined.push_back(frame); },
                      FrameIdPool(3, 4));
  maker.use(frames);
  const auto enter = [&](const wire::RingPython& python) {
    const std::vector<std::uint64_t> words = {1, 2, 3, 4};
    const auto place = producer->take(sizeof(wire::RingRecord) + 32 + sizeof python);
    auto record = RingProducer::record_of({.end = 10, .function = 1});
    record.flags = wire::kRingEntryWords | wire::kRingPython;
    producer->fill(place, record, words, {});
    std::memcpy(producer->at(place) + sizeof record + 32, &python, sizeof python);
    producer->commit(place, RingKind::Enter);
  };
  producer->write(RingKind::PythonCode, {}, python_code(7));
  enter({7, 0});
  enter({8, 0}); // of which nothing was told

  const auto records = read();

  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].header.kind, RecordKind::Enter);
  EXPECT_EQ(records[1].header.kind, RecordKind::Frames);
  EXPECT_EQ(records[1].header.detail, 1U);
  ASSERT_GE(records[1].payload.size(), 4U);
  std::uint32_t id = 0;
  std::memcpy(&id, records[1].payload.data(), sizeof id);
  ASSERT_EQ(defined.size(), 1U);
  EXPECT_EQ(id, defined[0].id);
  EXPECT_EQ(defined[0].function, "f");
  EXPECT_EQ(defined[0].line, 11U);
  EXPECT_EQ(records[2].header.kind, RecordKind::Enter);
  EXPECT_EQ(reader->calls(), 2U);
}

TEST_F(RingReaderTest, skips_a_call_whose_python_function_is_cut_off) {
  auto record = RingProducer::record_of({.end = 10, .function = 1});
  record.flags = wire::kRingEntryWords | wire::kRingPython;
  producer->write(RingKind::Enter, record, std::vector<std::uint64_t>{1, 2, 3, 4, 5});

  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(reader->is_damaged());
}

TEST_F(RingReaderTest, makes_fields_of_a_calls_words) {
  producer->call({.begin = 100, .end = 150, .function = 1, .depth = 2}, {{1, 2, 3, 4}}, {{9}});

  const auto records = read();

  ASSERT_EQ(records.size(), 1U);
  const auto& header = records[0].header;
  EXPECT_EQ(header.kind, RecordKind::Call);
  EXPECT_EQ(header.function, 1U);
  EXPECT_EQ(header.thread, 77U);
  EXPECT_EQ(header.depth, 2);
  EXPECT_EQ(header.call, 0x401000U);
  EXPECT_EQ(header.time_ns, 100U);
  EXPECT_EQ(header.detail, 50U);
  const auto fields = call_fields({header, records[0].payload});
  EXPECT_EQ(values_of(fields.entry), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(values_of(fields.leave), (std::vector<std::uint64_t>{9}));
  EXPECT_EQ(reader->calls(), 1U);
}

TEST_F(RingReaderTest, passes_fields_on_that_the_agent_has_captured) {
  const std::uint64_t field = 8; // a FieldHeader of eight bytes, and four of them
  producer->call({.begin = 1, .end = 2, .flags = 0}, {{field | std::uint64_t{42} << 32, 0}});

  const auto records = read();

  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(values_of(call_fields({records[0].header, records[0].payload}).entry),
            (std::vector<std::uint64_t>{42}));
}

TEST_F(RingReaderTest, shows_words_that_are_missing_as_unreadable) {
  producer->call({.begin = 1, .end = 2}, {{1, 2}}, {{9}});

  const auto records = read();

  ASSERT_EQ(records.size(), 1U);
  const auto fields = call_fields({records[0].header, records[0].payload});
  wire::FieldHeader third;
  std::memcpy(&third, fields.entry.data() + std::size_t{2} * 12, sizeof third);
  EXPECT_EQ(third.state, wire::FieldState::Unreadable);
  EXPECT_EQ(values_of(fields.leave), (std::vector<std::uint64_t>{9}));
}

TEST_F(RingReaderTest, tells_calls_that_were_unwound_and_results_that_are_unknown) {
  producer->call({.begin = 1, .end = 5, .flags = wire::kRingUnwound});
  producer->call({.begin = 2, .end = 6, .flags = wire::kRingResultUnknown});

  const auto records = read();

  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].header.flags, wire::kCallUnwound);
  EXPECT_EQ(records[0].header.detail, 4U);
  EXPECT_EQ(records[1].header.flags, wire::kCallResultUnknown);
  EXPECT_EQ(records[1].header.detail, 0U);
}

TEST_F(RingReaderTest, pairs_the_halves_of_a_call_by_an_id_of_the_session) {
  wire::RingRecord half = {};
  half.time = 10;
  half.where = 0x1234;
  half.call = 6;
  half.depth = 1;
  half.flags = wire::kRingEntryWords;
  producer->write(RingKind::Enter, half, {{1, 2, 3, 4}});
  half.time = 30;
  half.ticks = 20;
  half.flags = wire::kRingResultWords;
  producer->write(RingKind::Return, half, {}, {{9}});
  half.flags = wire::kRingInherited;
  producer->write(RingKind::Unwound, half);

  const auto records = read();

  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].header.kind, RecordKind::Enter);
  EXPECT_EQ(records[0].header.detail, 0x1234U);
  EXPECT_EQ(values_of(records[0].payload), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(records[1].header.kind, RecordKind::Return);
  EXPECT_EQ(records[1].header.call, records[0].header.call);
  EXPECT_EQ(records[1].header.call, std::uint64_t{5} << 32 | 6);
  EXPECT_EQ(records[1].header.detail, 20U);
  EXPECT_EQ(values_of(records[1].payload), (std::vector<std::uint64_t>{9}));
  EXPECT_EQ(records[2].header.kind, RecordKind::Unwound);
  EXPECT_EQ(records[2].header.call, CallNumbers({5, 3}).inherited_call(6));
  EXPECT_EQ(reader->calls(), 1U);
}

TEST_F(RingReaderTest, names_the_thread_that_the_ring_says) {
  producer->call({.begin = 1, .end = 2});
  wire::RingRecord thread = {};
  thread.call = 78;
  producer->write(RingKind::Thread, thread);
  producer->call({.begin = 3, .end = 4});

  const auto records = read();

  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].header.thread, 77U);
  EXPECT_EQ(records[1].header.thread, 78U);
}

TEST_F(RingReaderTest, reads_up_to_a_time) {
  for (std::uint64_t end = 10; end < 20; ++end)
    producer->call({.begin = 1, .end = end});

  EXPECT_EQ(read(15).size(), 5U);
  EXPECT_EQ(reader->time(), 15U);
  EXPECT_EQ(read().size(), 5U);
}

TEST_F(RingReaderTest, reads_records_of_every_size_over_many_laps) {
  std::vector<std::uint64_t> words(3000);
  std::uint64_t written = 0, next = 0;
  std::size_t size = 1;
  while (next < 4000) {
    size = size * 7 % 2999 + 1; // words
    const auto bytes = sizeof(wire::RingRecord) + size * 8;
    while (producer->has_room(bytes)) {
      words[0] = 12 | (written << 32); // a field of 12 bytes at least
      producer->call({.begin = written, .end = written + 1, .flags = 0},
                     std::span(words).first(size));
      ++written;
    }
    for (const auto& record : read(kEver, kEver)) {
      ASSERT_EQ(record.header.time_ns, next);
      ++next;
    }
  }
  EXPECT_EQ(next, written);
  EXPECT_FALSE(reader->is_damaged());
  EXPECT_EQ(reader->lost(), 0U);
}

TEST_F(RingReaderTest, reads_a_record_that_runs_over_the_rings_end) {
  std::vector<std::uint64_t> words((wire::kRingSpill - sizeof(wire::RingRecord)) / 8);
  const auto pad = producer->take(wire::kRingSpill);
  producer->commit(pad, RingKind::Pad);
  for (std::uint64_t i = 0; i < 3; ++i)
    producer->commit(producer->take(wire::kRingSpill - 8), RingKind::Pad);
  EXPECT_TRUE(read().empty());
  ASSERT_EQ(reader->position(), wire::kRingSize - 24);

  words.back() = 77;
  producer->call({.begin = 1, .end = 2, .flags = 0}, words);
  producer->call({.begin = 3, .end = 4, .flags = 0}, {{5}});

  const auto records = read();
  ASSERT_EQ(records.size(), 2U);
  std::uint64_t last = 0;
  const auto fields = call_fields({records[0].header, records[0].payload});
  std::memcpy(&last, fields.entry.data() + words.size() * 8 - 8, sizeof last);
  EXPECT_EQ(last, 77U);
}

TEST_F(RingReaderTest, follows_a_head_that_goes_back_by_what_was_not_needed) {
  const auto place = producer->take(4096);
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(reader->state(), State::Blocked);

  producer->header().head = place.position + 64;
  const RingProducer::Place shrunk = {place.position, 64};
  producer->fill(shrunk, RingProducer::record_of({.begin = 1, .end = 2, .flags = 0}), {}, {});
  producer->commit(shrunk, RingKind::Call);
  std::vector<std::uint64_t> words(1000);
  producer->call({.begin = 3, .end = 4, .flags = 0}, words); // beyond the head that was seen first

  EXPECT_EQ(read().size(), 2U);
  EXPECT_FALSE(reader->is_damaged());
}

// Holes.

TEST_F(RingReaderTest, waits_for_a_record_that_is_not_there_yet) {
  producer->call({.begin = 1, .end = 2});
  const auto place = producer->take(64);
  producer->call({.begin = 5, .end = 6}); // a signal handler's

  EXPECT_EQ(read().size(), 1U);
  EXPECT_EQ(reader->state(), State::Blocked);
  EXPECT_EQ(reader->time(), 2U);
  producer->fill(place, RingProducer::record_of({.begin = 3, .end = 4, .flags = 0}), {}, {});
  producer->commit(place, RingKind::Call);

  EXPECT_EQ(read().size(), 2U);
  EXPECT_EQ(reader->lost(), 0U);
}

TEST_F(RingReaderTest, leaves_out_what_a_thread_that_is_gone_has_not_written) {
  producer->take(64);
  producer->call({.begin = 5, .end = 6});
  producer->take(128);
  EXPECT_TRUE(read().empty());

  producer->header().state = wire::kRingEnded;

  EXPECT_EQ(read().size(), 1U);
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(reader->state(), State::Empty);
  EXPECT_EQ(reader->lost(), 2U);
  EXPECT_FALSE(reader->is_damaged());
}

TEST_F(RingReaderTest, leaves_out_what_a_thread_that_waits_for_room_was_interrupted_at) {
  producer->take(64);
  std::uint64_t behind = 0;
  for (; producer->has_room(64); ++behind)
    producer->call({.begin = 5, .end = 6, .flags = 0});
  EXPECT_TRUE(read().empty());

  producer->header().is_waiting = 1;

  EXPECT_EQ(read().size(), behind);
  EXPECT_EQ(reader->lost(), 1U);
  EXPECT_EQ(producer->header().is_waiting, 0U);
  EXPECT_TRUE(producer->has_room(wire::kRingSpill));
}

TEST_F(RingReaderTest, leaves_out_what_is_late_while_others_behind_it_are_there) {
  producer->take(64);
  producer->call({.begin = 5, .end = 6});

  EXPECT_TRUE(read(kEver, kNow).empty());
  EXPECT_TRUE(read(kEver, kNow + kPatience).empty());
  EXPECT_EQ(read(kEver, kNow + 2 * kPatience).size(), 1U);
  EXPECT_EQ(reader->lost(), 1U);
}

TEST_F(RingReaderTest, waits_for_ever_for_what_nothing_is_behind_of) {
  const auto place = producer->take(64);

  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_TRUE(read(kEver, kNow + i * kPatience).empty());
  producer->fill(place, RingProducer::record_of({.begin = 3, .end = 4, .flags = 0}), {}, {});
  producer->commit(place, RingKind::Call);

  EXPECT_EQ(read(kEver, kNow + 10 * kPatience).size(), 1U);
}

// What no agent writes.

struct Damage {
  const char* name;
  void (*make)(RingProducer& producer);
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedRing : public RingReaderTest, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedRing, is_noticed_and_read_on_behind_it) {
  producer->call({.begin = 1, .end = 2});
  EXPECT_EQ(read().size(), 1U);

  GetParam().make(*producer);
  EXPECT_TRUE(read().empty());

  EXPECT_TRUE(reader->is_damaged());
  EXPECT_GE(reader->lost(), 1U);
  producer->header().head = reader->position();
  producer->call({.begin = 3, .end = 4});
  EXPECT_EQ(read().size(), 1U);
}

void commit_raw(RingProducer& producer, std::size_t taken, std::uint64_t bits) {
  const auto place = producer.take(taken);
  store_shared(*reinterpret_cast<std::uint64_t*>(producer.at(place)),
               wire::sequence_of(place.position) | bits);
}
void write_sizes(RingProducer& producer, std::uint32_t entry, std::uint32_t result,
                 std::uint8_t flags = 0, std::uint32_t function = 0) {
  auto record =
      RingProducer::record_of({.begin = 1, .end = 2, .function = function, .flags = flags});
  const auto place = producer.take(128);
  producer.fill(place, record, {}, {});
  auto* const written = reinterpret_cast<wire::RingRecord*>(producer.at(place));
  written->entry_size = entry;
  written->result_size = result;
  producer.commit(place, RingKind::Call);
}

INSTANTIATE_TEST_SUITE_P(
    RingReader, DamagedRing,
    testing::Values(
        Damage{"head_far_ahead", [](RingProducer& p) { p.header().head += wire::kRingSize + 8; }},
        Damage{"head_at_the_end_of_time",
               [](RingProducer& p) { p.header().head = ~std::uint64_t{7}; }},
        Damage{"head_moved_back", [](RingProducer& p) { p.header().head = 8; }},
        Damage{"head_not_aligned", [](RingProducer& p) { p.header().head += 12; }},
        Damage{"size_of_nothing",
               [](RingProducer& p) { commit_raw(p, 64, std::uint64_t{1} << 32); }},
        Damage{"size_less_than_a_header",
               [](RingProducer& p) {
                 commit_raw(p, 64, std::uint64_t{1} << 32 | std::uint64_t{7} << 40);
               }},
        Damage{"size_greater_than_any",
               [](RingProducer& p) {
                 commit_raw(p, 64, std::uint64_t{1} << 32 | std::uint64_t{0xffffff} << 40);
               }},
        Damage{"size_over_the_head",
               [](RingProducer& p) {
                 commit_raw(p, 64, std::uint64_t{1} << 32 | std::uint64_t{100} << 40);
               }},
        Damage{"unknown_kind",
               [](RingProducer& p) {
                 commit_raw(p, 64, std::uint64_t{99} << 32 | std::uint64_t{8} << 40);
               }},
        Damage{"entry_over_the_end", [](RingProducer& p) { write_sizes(p, 72, 0); }},
        Damage{"entry_of_4_gigabytes", [](RingProducer& p) { write_sizes(p, ~0U, 0); }},
        Damage{"result_over_the_end", [](RingProducer& p) { write_sizes(p, 32, 40); }},
        Damage{"result_of_4_gigabytes", [](RingProducer& p) { write_sizes(p, 32, ~0U); }},
        Damage{"unknown_function", [](RingProducer& p) { write_sizes(p, 8, 8, 0, 2); }},
        Damage{"function_of_the_end", [](RingProducer& p) { write_sizes(p, 8, 8, 0, ~0U); }}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(RingReaderTest, takes_no_times_to_come_from_a_ring) {
  producer->call({.begin = kEver - 5, .end = kEver, .flags = 0});

  EXPECT_EQ(reader->look(kNow, kPatience), State::Ready);
  EXPECT_EQ(reader->time(), kNow);
  const auto records = read();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_LE(records[0].header.time_ns, kNow);
  EXPECT_LE(records[0].header.detail, kNow);
}

TEST_F(RingReaderTest, counts_what_the_thread_says_it_lost) {
  producer->header().lost = 3;
  reader->look(kNow, kPatience);
  producer->header().lost = 5;
  reader->look(kNow, kPatience);

  EXPECT_EQ(reader->lost(), 5U);
}

TEST_F(RingReaderTest, costs_little_a_record) {
  const std::uint64_t words[] = {1, 2, 3, 4}, result[] = {9};
  BatchWriter out;
  double best = 1e9; // of many laps: others want the processor too
  for (std::uint64_t lap = 0; lap < 200; ++lap) {
    while (producer->has_room(256))
      producer->call({.begin = lap, .end = lap + 1}, words, result);
    const std::uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    reader->look(kEver, kPatience);
    const std::uint64_t before = reader->calls();
    while (reader->state() == State::Ready) {
      reader->read(kEver, kEver, maker, out);
      out.clear();
    }
    reader->publish();
    best = std::min(best, static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) /
                              static_cast<double>(reader->calls() - before));
  }
  RecordProperty("ns_a_record", std::to_string(best));
  EXPECT_LT(best, 1000); // told, not judged: but so much would be a fault
}

// Merging.

TEST(MergeTest, brings_the_records_of_rings_into_the_order_of_time) {
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  KnownFunctions functions;
  functions.add(words_function(0));
  const TickClock clock = plain_clock();
  const RecordMaker maker(functions, clock);
  std::vector<std::unique_ptr<RingReader>> readers;
  std::uint64_t random = 1, written = 0;
  for (std::uint32_t ring = 0; ring < 50; ++ring) {
    RingProducer producer(arena, 100 + ring);
    for (std::uint64_t time = 1; time < 1000; time += random >> 60) {
      producer.call({.begin = time, .end = time, .flags = 0});
      random = random * 6364136223846793005U + 1442695040888963407U;
      ++written;
    }
    readers.push_back(std::make_unique<RingReader>(arena, ring, CallNumbers{ring + 1, 99}));
  }

  Merge merge;
  merge.begin();
  for (const auto& reader : readers) {
    reader->look(kNow, kPatience);
    merge.add(*reader);
  }
  BatchWriter out;
  RecordingSink sink;
  const auto flush = [&] { sink.write(out.batch()), out.clear(); };
  EXPECT_EQ(merge.next_time(), 1U);
  std::uint64_t hold = kEver;
  merge.read(500, hold, kNow, maker, out, flush);
  flush();
  for (const auto& record : sink.records())
    EXPECT_LT(record.header.time_ns, 500U);
  EXPECT_EQ(merge.next_time(), 500U);
  merge.read(kEver, hold, kNow, maker, out, flush);
  flush();

  const auto records = sink.records();
  ASSERT_EQ(records.size(), written);
  for (std::size_t i = 1; i < records.size(); ++i)
    ASSERT_LE(records[i - 1].header.time_ns, records[i].header.time_ns);
}

// Open calls.

class OpenCallsOfRing : public testing::Test {
protected:
  void SetUp() override {
    arena = make_arena();
    ASSERT_TRUE(arena);
    arena->ring(0).first_pool = 4;
    arena->pool(4) = {9, 0};
    arena->pool(9) = {wire::kNoPool, 0};
  }
  void open(std::uint32_t pool, std::uint32_t entry, std::uint64_t begin,
            std::uint32_t state = wire::kOpenWhole) {
    arena->pool(pool).used = std::max(arena->pool(pool).used, entry + 1);
    auto& call = arena->open_call(pool, entry);
    call.begin = begin;
    call.state = state;
  }
  std::vector<std::uint64_t> begins() const {
    std::vector<std::uint64_t> all;
    for (const auto& found : find_open_calls(*arena, 0))
      all.push_back(found.call.begin);
    return all;
  }

  std::shared_ptr<Arena> arena;
};

TEST_F(OpenCallsOfRing, are_found_in_the_order_of_their_begin) {
  open(4, 3, 30);
  open(4, 1, 10, wire::kOpenTold);
  open(4, 2, 20);
  open(4, 0, 5, 0);

  EXPECT_EQ(begins(), (std::vector<std::uint64_t>{10, 20, 30}));
}

TEST_F(OpenCallsOfRing, are_found_in_all_pools_that_were_used) {
  open(4, 1023, 1);
  open(9, 0, 2);
  EXPECT_EQ(begins(), (std::vector<std::uint64_t>{1, 2}));

  arena->pool(4).used = 7; // a new thread has the ring: the second pool holds what is long gone
  open(4, 6, 3);
  EXPECT_EQ(begins(), (std::vector<std::uint64_t>{3}));
}

TEST_F(OpenCallsOfRing, are_told_once) {
  open(4, 1, 10);
  for (const auto& found : find_open_calls(*arena, 0))
    mark_as_told(*arena, found);

  const auto found = find_open_calls(*arena, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].call.state, wire::kOpenTold);
}

TEST_F(OpenCallsOfRing, are_found_in_each_pool_once_whatever_the_chain_says) {
  open(4, 1023, 1);
  open(9, 1023, 2);
  arena->pool(9).next = 4;
  EXPECT_EQ(begins(), (std::vector<std::uint64_t>{1, 2}));

  arena->pool(9) = {wire::kMaxPools, ~0U};
  EXPECT_EQ(begins(), (std::vector<std::uint64_t>{1, 2}));
  arena->ring(0).first_pool = wire::kNoPool;
  EXPECT_TRUE(begins().empty());
}

} // namespace
} // namespace sonictrace
