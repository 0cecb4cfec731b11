#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "engine/inline/collector_loop.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/engine/collector.hpp"
#include "sonictrace/stream/record_writer.hpp"
#include "support/recording_sink.hpp"
#include "support/ring_producer.hpp"

namespace sonictrace {
namespace {

using wire::RecordKind;
using wire::RingKind;

/// Waits for what another thread is about to do; the test's time limit ends it.
template <class Condition>
void wait_for(Condition condition) {
  while (!condition())
    std::this_thread::yield();
}

Definition remark(std::string text) { return Remark{0, std::move(text)}; }

/// What came, as words: a record as the begin of its time, a definition by its name.
std::vector<std::string> told(const RecordingSink& sink) {
  std::vector<std::string> all;
  for (const auto& entry : sink.entries) {
    for (const auto& record : entry.record) {
      const bool is_enter = record.header.kind == RecordKind::Enter;
      all.push_back((is_enter ? "enter " : "call ") + std::to_string(record.header.time_ns));
    }
    for (const auto& definition : entry.definition) {
      if (const auto* text = std::get_if<Remark>(&definition)) all.push_back(text->text);
      if (const auto* function = std::get_if<FunctionDefinition>(&definition))
        all.push_back(function->mangled);
    }
  }
  return all;
}

// The loop without its thread: time is what the test says.

class CollectorLoopTest : public testing::Test {
protected:
  void SetUp() override {
    arena = make_arena(true);
    ASSERT_TRUE(arena);
    push(0, ArenaAdded{arena});
    push(0, Definition(words_function(0)));
  }
  void push(std::uint64_t ticks, decltype(QueueItem::what) what) {
    queue.push({ticks, std::move(what)});
  }
  void pass_until_still() {
    while (loop.pass()) {}
  }
  std::vector<std::string> told_now() {
    auto all = told(sink);
    sink.entries.clear();
    return all;
  }
  static RingProducer::Call at(std::uint64_t time) {
    return {.begin = time, .end = time, .flags = 0};
  }

  std::uint64_t now = 100'000'000;
  std::shared_ptr<Arena> arena;
  RecordingSink sink;
  CollectorQueue queue;
  RingNumbers numbers;
  CollectorLoop loop{sink, queue, numbers,
                     TickClock(
                         [this] {
                           return TickClock::Reading{now, now, now, 0};
                         },
                         false)};
};

TEST_F(CollectorLoopTest, puts_what_the_tracer_tells_between_the_records_by_time) {
  RingProducer producer(arena, 7);
  push(25, remark("between"));
  push(45, remark("behind"));
  for (const std::uint64_t time : {10U, 20U, 30U, 40U})
    producer.call(at(time));

  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "call 10", "call 20", "between", "call 30",
                                                  "call 40", "behind"}));
}

TEST_F(CollectorLoopTest, keeps_back_what_something_earlier_may_still_come_before) {
  RingProducer producer(arena, 7);
  producer.call(at(now - 1'000'000));
  producer.call(at(now - 5'000));
  push(now - 3'000, remark("recent"));

  loop.pass();
  EXPECT_EQ(told_now().size(), 2U);
  now += 100'000;
  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"call 99995000", "recent"}));
}

TEST_F(CollectorLoopTest, sees_what_was_recorded_behind_a_record_that_it_has_kept_back) {
  RingProducer producer(arena, 7);
  producer.call(at(now));
  loop.pass();
  producer.call(at(now + 1));
  push(now + 2, remark("behind"));

  now += 100'000;
  loop.pass();

  EXPECT_EQ(told_now(),
            (std::vector<std::string>{"f0", "call 100000000", "call 100000001", "behind"}));
}

TEST_F(CollectorLoopTest, puts_a_record_that_was_written_while_it_looked_where_its_time_is) {
  RingProducer one(arena, 7), other(arena, 8);
  one.call(at(now + 30));
  loop.pass();
  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0"}));
  other.call(at(now + 10));
  push(now + 20, remark("between"));

  now += 100'000;
  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"call 100000010", "between", "call 100000030"}));
}

TEST_F(CollectorLoopTest, keeps_back_what_is_recent_also_when_a_process_is_gone) {
  const auto other = make_arena(true);
  ASSERT_TRUE(other);
  push(0, ArenaAdded{other});
  RingProducer gone(arena, 7), recent(other, 8);
  gone.call(at(10));
  push(now - 1'000'000, ArenaRemoved{arena});
  recent.call(at(now - 5'000));
  push(now - 3'000, remark("recent"));

  loop.pass();
  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "call 10"}));
  now += 100'000;
  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"call 99995000", "recent"}));
}

TEST_F(CollectorLoopTest, waits_for_a_record_that_is_being_written_but_not_for_ever) {
  RingProducer slow(arena, 7), fast(arena, 8);
  slow.call(at(10));
  slow.take(64);
  fast.call(at(5));
  fast.call(at(20));

  loop.pass();
  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "call 5", "call 10"}));
  loop.pass();
  EXPECT_TRUE(told_now().empty());
  now += 60'000'000;
  loop.pass();
  EXPECT_EQ(told_now(), (std::vector<std::string>{"call 20"}));
}

TEST_F(CollectorLoopTest, waits_for_the_record_of_a_thread_that_has_waited_for_room) {
  RingProducer full(arena, 7), other(arena, 8);
  while (full.has_room(64))
    full.call(at(10));
  full.header().is_waiting = 1; // with a record of the time 20
  other.call(at(15));
  loop.pass();
  other.call(at(30));

  loop.pass();
  EXPECT_EQ(told_now().back(), "call 10");
  full.call(at(20));
  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"call 15", "call 20", "call 30"}));
}

TEST_F(CollectorLoopTest, puts_the_records_of_breakpoints_between_those_of_rings) {
  RingProducer producer(arena, 7);
  for (const std::uint64_t time : {10U, 20U, 30U, 40U})
    producer.call(at(time));
  RecordBuffer buffer;
  for (const std::uint64_t time : {15U, 16U, 35U}) {
    buffer.enter(1, 0, 0, 1, time, 0, 0);
    buffer.commit(0);
  }
  const auto batch = buffer.batch();
  push(50, QueuedBatch{{batch.begin(), batch.end()}});

  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "call 10", "enter 15", "enter 16",
                                                  "call 20", "call 30", "enter 35", "call 40"}));
}

TEST_F(CollectorLoopTest, leaves_out_records_of_functions_that_nobody_has_defined) {
  RingProducer producer(arena, 7);
  push(50, Definition(words_function(1)));
  auto early = at(20), late = at(60);
  early.function = late.function = 1;
  producer.call(early);
  producer.call(late);

  loop.pass();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "f1", "call 60"}));
  EXPECT_EQ(loop.lost(), 1U);
  EXPECT_EQ(loop.take_complaints().size(), 1U);
  EXPECT_TRUE(loop.take_complaints().empty());
}

TEST_F(CollectorLoopTest, gives_a_ring_to_the_next_thread_when_it_was_read) {
  auto first = std::make_unique<RingProducer>(arena, 7);
  const auto ring = first->index();
  first->call(at(10));
  first->call(at(now - 10)); // not to be told yet
  arena->pool(3).used = 5;
  first->header().first_pool = 3;
  first->header().state = wire::kRingEnded;

  loop.pass();
  EXPECT_EQ(arena->ring(ring).state, wire::kRingEnded);
  now += 1'000'000;
  loop.pass();
  EXPECT_EQ(arena->ring(ring).state, wire::kRingFree);
  EXPECT_EQ(arena->pool(3).used, 0U);

  RingProducer second(arena, 8);
  EXPECT_EQ(second.index(), ring);
  second.call(at(now));
  now += 1'000'000;
  sink.entries.clear();
  loop.pass();
  ASSERT_EQ(sink.records().size(), 1U);
  EXPECT_EQ(sink.records()[0].header.thread, 8U);
  EXPECT_EQ(loop.calls(), 3U);
}

TEST_F(CollectorLoopTest, reads_a_process_that_is_gone_to_its_end) {
  RingProducer killed(arena, 7), other(arena, 8);
  killed.call(at(10));
  killed.take(64); // was being written
  killed.call(at(30));
  other.call(at(20));
  push(now, ArenaRemoved{arena});
  push(now, remark("gone"));

  now += 1'000'000;
  pass_until_still();

  EXPECT_EQ(told_now(), (std::vector<std::string>{"f0", "call 10", "call 20", "call 30", "gone"}));
  EXPECT_TRUE(loop.is_alone());
  EXPECT_EQ(loop.calls(), 3U);
  EXPECT_EQ(loop.lost(), 1U);
}

TEST_F(CollectorLoopTest, tells_open_calls_behind_all_that_the_thread_has_recorded) {
  RingProducer producer(arena, 7);
  producer.call(at(50));
  producer.take(64);
  producer.call(at(60));
  FoundOpenCall open;
  open.call.begin = 40;
  open.call.call = 12;
  open.call.flags = wire::kRingEntryWords;
  open.call.kept_words = 2;
  open.call.entry_size = 32;
  for (std::uint64_t i = 0; i < 6; ++i)
    std::memcpy(open.call.data + i * 8, &i, 8);
  producer.header().state = wire::kRingEnded;
  push(70, QueuedOpenCalls{7, {5, 6}, {open}});
  producer.call(at(80));

  pass_until_still();

  EXPECT_EQ(told(sink),
            (std::vector<std::string>{"f0", "call 50", "call 60", "enter 40", "call 80"}));
  const auto enter = sink.records()[2];
  EXPECT_EQ(enter.header.call, std::uint64_t{5} << 32 | 12);
  EXPECT_EQ(values_of(enter.payload), (std::vector<std::uint64_t>{2, 3, 4, 5}));
}

TEST_F(CollectorLoopTest, tells_what_was_counted_since_the_last_time) {
  RingProducer producer(arena, 7);
  producer.call(at(10));
  loop.pass();
  sink.entries.clear();
  auto& count = arena->counts(producer.index())[0];
  count = {3, 60, 11, 30, 2, {}};
  auto& buckets = arena->histograms(producer.index())[1].buckets;
  buckets[10] = 1;
  buckets[wire::bucket_of(~std::uint64_t{0})] = 2;

  loop.read_counts();
  count.calls = 5;
  count.sum_ticks = 100;
  buckets[10] = 3;
  loop.read_counts();
  loop.read_counts();

  const auto records = sink.records();
  ASSERT_EQ(records.size(), 2U);
  const CountsView first(records[0].payload), second(records[1].payload);
  EXPECT_EQ(records[0].header.thread, 7U);
  EXPECT_EQ(first.sums().calls, 3U);
  EXPECT_EQ(first.sums().sum_ns, 60U);
  EXPECT_EQ(first.sums().least_ns, 10U);
  EXPECT_EQ(first.sums().most_ns, 30U);
  EXPECT_EQ(first.bucket_count(), 2U);
  EXPECT_EQ(second.sums().calls, 2U);
  EXPECT_EQ(second.sums().sum_ns, 40U);
  ASSERT_EQ(second.bucket_count(), 1U);
  EXPECT_EQ(second.bucket(0).bucket, 10U);
  EXPECT_EQ(second.bucket(0).calls, 2U);
  EXPECT_EQ(loop.calls(), 6U);
}

TEST_F(CollectorLoopTest, tells_what_a_thread_has_counted_when_it_ends_and_forgets_it) {
  RingProducer producer(arena, 7);
  const auto ring = producer.index();
  arena->counts(ring)[0] = {3, 60, 11, 30, 0, {}};
  producer.header().state = wire::kRingEnded;

  loop.pass();

  ASSERT_EQ(sink.records().size(), 1U);
  EXPECT_EQ(sink.records()[0].header.kind, RecordKind::Counts);
  EXPECT_EQ(arena->counts(ring)[0].calls, 0U);
  EXPECT_EQ(loop.calls(), 3U);
}

TEST_F(CollectorLoopTest, tells_processes_of_functions_that_are_thinned_those_that_come_later_too) {
  loop.pass();
  sink.thinned = {0, 5, ~0U};
  loop.thin();
  EXPECT_EQ(arena->function_flags()[5], wire::kFunctionThinned);

  const auto other = make_arena();
  push(now, ArenaAdded{other});
  loop.pass();
  EXPECT_EQ(other->function_flags()[0], wire::kFunctionThinned);
  EXPECT_EQ(other->function_flags()[1], 0);
}

// With its thread.

/// Checks the order of time within each thread, and counts.
class OrderSink final : public Sink {
public:
  void define(const Definition&) override {}
  void write(RecordBatch batch) override {
    RecordReader reader(batch);
    RecordView view;
    while (reader.next(view)) {
      ++records;
      is_in_order &= view.header.time_ns >= last;
      last = view.header.time_ns;
      auto& next = next_word[view.header.thread % next_word.size()];
      std::uint64_t word = 0;
      std::memcpy(&word, view.payload.data() + 4 + 4, sizeof word); // of the first field
      is_whole &= word == next;
      ++next;
    }
    is_sound &= reader.error() == nullptr;
  }
  void tick(std::uint64_t) override { ++ticks; }
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::uint64_t bytes_written() const override { return records; }
  bool is_healthy() const override { return true; }

  std::uint64_t records = 0, last = 0, ticks = 0;
  std::array<std::uint64_t, 64> next_word = {};
  bool is_in_order = true, is_whole = true, is_sound = true;
};

void produce(const std::shared_ptr<Arena>& arena, std::uint32_t tid, std::uint64_t calls,
             const TickClock& clock) {
  RingProducer producer(arena, tid);
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::uint64_t words[] = {i, 2, 3, 4}, result[] = {9};
    const std::uint64_t time = clock.now();
    producer.call({.begin = time, .end = time}, words, result);
  }
  store_shared(producer.header().state, static_cast<std::uint32_t>(wire::kRingEnded));
}

TEST(CollectorTest, loses_nothing_of_ten_million_calls) {
  OrderSink sink;
  Collector collector(sink);
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.define(words_function(0));
  collector.add_arena(arena);
  constexpr std::uint64_t kCalls = 10'000'000;

  std::thread(produce, arena, 7, kCalls, std::cref(collector.clock())).join();
  collector.remove_arena(arena);
  collector.stop();

  EXPECT_EQ(sink.records, kCalls);
  EXPECT_EQ(collector.calls(), kCalls);
  EXPECT_EQ(collector.lost(), 0U);
  EXPECT_TRUE(sink.is_sound && sink.is_whole);
  EXPECT_TRUE(collector.take_complaints().empty());
}

TEST(CollectorTest, merges_eight_threads_without_loss) {
  OrderSink sink;
  Collector collector(sink);
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.define(words_function(0));
  collector.add_arena(arena);
  constexpr std::uint64_t kCalls = 100'000;

  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 8; ++i)
    threads.emplace_back(produce, arena, 10 + i, kCalls, std::cref(collector.clock()));
  for (auto& thread : threads)
    thread.join();
  collector.stop();

  EXPECT_EQ(sink.records, 8 * kCalls);
  EXPECT_EQ(collector.lost(), 0U);
  EXPECT_TRUE(sink.is_sound && sink.is_whole);
}

TEST(CollectorTest, defines_a_function_before_its_first_record) {
  RecordingSink sink;
  Collector collector(sink);
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.add_arena(arena);
  RingProducer producer(arena, 7);

  for (FunctionId id = 0; id < 2000; ++id) {
    collector.define(words_function(id));
    const std::uint64_t time = collector.clock().now();
    producer.call({.begin = time, .end = time, .function = id, .flags = 0});
  }
  collector.stop();

  ASSERT_EQ(sink.entries.size(), 4000U);
  for (std::size_t i = 0; i < sink.entries.size(); i += 2) {
    ASSERT_EQ(sink.entries[i].definition.size(), 1U);
    ASSERT_EQ(sink.entries[i + 1].record.size(), 1U);
    ASSERT_EQ(sink.entries[i + 1].record[0].header.function, i / 2);
  }
  EXPECT_EQ(collector.lost(), 0U);
}

TEST(CollectorTest, publishes_open_calls_once_and_says_which_there_are) {
  RecordingSink sink;
  Collector collector(sink);
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.define(words_function(0));
  collector.add_arena(arena);
  RingProducer producer(arena, 7);
  producer.header().first_pool = 0;
  arena->pool(0) = {wire::kNoPool, 3};
  const std::uint64_t now = collector.clock().now();
  for (std::uint32_t i = 1; i < 3; ++i) {
    auto& call = arena->open_call(0, i);
    call.begin = now + i;
    call.call = i;
    call.depth = static_cast<std::uint16_t>(i);
    call.state = wire::kOpenWhole;
  }
  arena->open_call(0, 2).function = 99; // of no function that there is

  const auto ring = collector.ring_of(*arena, 7);
  const auto first = collector.publish_open_calls(arena, ring);
  const auto second = collector.publish_open_calls(arena, ring);
  wire::RingRecord half = {};
  half.call = 1;
  half.time = collector.clock().now();
  producer.write(RingKind::Return, half);
  collector.end_thread(*arena, pid_t{7});
  wait_for([&] { return load_shared(producer.header().state) == wire::kRingFree; });
  collector.stop();

  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].number, 1U);
  EXPECT_EQ(first[0].entry, 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].call, first[0].call);
  EXPECT_NE(Collector::inherited_call(collector.reserve_process(), 1), first[0].call);
  const auto records = sink.records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].header.kind, RecordKind::Enter);
  EXPECT_EQ(records[0].header.call, first[0].call);
  EXPECT_EQ(records[1].header.kind, RecordKind::Return);
  EXPECT_EQ(records[1].header.call, first[0].call);
  EXPECT_EQ(collector.ring_of(*arena, 7), ~0U);
}

TEST(CollectorTest, shows_processes_that_it_lives_also_while_its_sink_waits) {
  struct StuckSink final : RecordingSink {
    void write(RecordBatch) override { stuck = true, release.get_future().wait(); }
    std::atomic<bool> stuck = false;
    std::promise<void> release;
  } sink;
  Collector collector(sink);
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.add_arena(arena);
  RecordBuffer buffer;
  buffer.unwound(1, 0, 1, 1, 1, 1);
  collector.write(buffer.batch());
  wait_for([&] { return sink.stuck.load(); });

  const std::uint64_t before = load_shared(arena->control().heartbeat);
  wait_for([&] { return load_shared(arena->control().heartbeat) >= before + 3; });

  sink.release.set_value();
  collector.stop();
}

TEST(CollectorTest, ends_the_wait_for_a_reader_who_does_not_read) {
  struct PipeSink final : RecordingSink {
    void write(RecordBatch) override {
      char byte = 0;
      waits = true;
      result = ::read(pipe[0], &byte, 1);
      error = errno;
    }
    int pipe[2] = {-1, -1};
    std::atomic<bool> waits = false;
    ssize_t result = 0;
    int error = 0;
  } sink;
  ASSERT_EQ(::pipe(sink.pipe), 0);
  const UniqueFd in(sink.pipe[0]), out(sink.pipe[1]);
  Collector collector(sink);
  RecordBuffer buffer;
  buffer.unwound(1, 0, 1, 1, 1, 1);
  collector.write(buffer.batch());
  wait_for([&] { return sink.waits.load(); });

  collector.stop([] { return true; });

  EXPECT_EQ(sink.result, -1);
  EXPECT_EQ(sink.error, EINTR);
}

TEST(CollectorTest, calls_for_a_thread_that_waits_in_the_linker_until_it_is_answered) {
  std::atomic<int> called = 0;
  RecordingSink sink;
  Collector collector(sink, {.wake_tracer = [&] { ++called; }});
  const auto arena = make_arena();
  ASSERT_TRUE(arena);
  collector.add_arena(arena);

  store_shared(arena->control().linker_asks, std::uint32_t{1});
  wait_for([&] { return called >= 3; });
  store_shared(arena->control().linker_answers, std::uint32_t{1});

  collector.stop();
}

TEST(CollectorTest, lives_on_when_its_sink_fails_and_says_so) {
  struct FailingSink final : RecordingSink {
    void define(const Definition&) override { throw std::runtime_error("broken"); }
  } sink;
  Collector collector(sink);

  collector.define(remark("any"));
  wait_for([&] { return !collector.is_healthy(); });
  collector.stop();

  const auto complaints = collector.take_complaints();
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("broken"), std::string::npos);
}

TEST(CollectorTest, runs_on_every_processor_whatever_its_tracer_is_bound_to) {
  struct CpuSink final : RecordingSink {
    void define(const Definition&) override {
      cpu_set_t set;
      ::sched_getaffinity(0, sizeof set, &set);
      cpus = CPU_COUNT(&set);
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    }
    int cpus = 0;
    sigset_t mask;
  } sink;
  cpu_set_t old, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof old, &old), 0);
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &old)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  {
    Collector collector(sink);
    collector.define(remark("any"));
    collector.stop();
  }
  ::sched_setaffinity(0, sizeof old, &old);

  EXPECT_GE(sink.cpus, CPU_COUNT(&old));
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGCHLD})
    EXPECT_EQ(sigismember(&sink.mask, signal), 1);
  EXPECT_EQ(sigismember(&sink.mask, SIGURG), 0);
}

TEST(CollectorTest, ticks_its_sink) {
  struct TickSink final : RecordingSink {
    void tick(std::uint64_t) override { ++seen; }
    std::atomic<int> seen = 0;
  } sink;
  Collector collector(sink);

  const std::uint64_t begin = monotonic_ns();
  wait_for([&] { return sink.seen >= 2; });

  EXPECT_LT(monotonic_ns() - begin, 5'000'000'000);
  EXPECT_TRUE(collector.finish({}));
}

} // namespace
} // namespace sonictrace
