// What a recorded call costs, part by part, by the processor's time and without a program: the
// agent's share, as the tracer itself finds it out at its start, that of the collector, and that of
// the text log behind it. `bench_recording` prints nanoseconds a call, the least of many rounds,
// and what a reading of the clock costs, of which there are two in each call.
#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <vector>

#include "engine/inline/collector_loop.hpp"
#include "engine/inline/rehearsal.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/sink/text_sink.hpp"
#include "support/ring_producer.hpp"

using namespace sonictrace;

extern "C" const std::byte sonictrace_agent_begin[], sonictrace_agent_end[];

namespace {

constexpr int kRounds = 200;

double cpu_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// ---- the agent

double ns_of(const TickClock& clock, std::uint64_t ticks) {
  return static_cast<double>(clock.duration_ns(ticks * 1000)) / 1000;
}

double clock_reading(const TickClock& clock) {
  constexpr int kReadings = 400;
  std::uint64_t least = ~std::uint64_t{0};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = clock.now();
    for (int i = 0; i < kReadings; ++i)
      (void)clock.now();
    least = std::min(least, clock.now() - begin);
  }
  return ns_of(clock, least) / kReadings;
}

double agent_cost(const AgentImage& image, const TickClock& clock, wire::RecordForm form) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int round = 0; round < kRounds / 10; ++round) {
    const auto costs = rehearse(image, clock, form);
    if (costs) least = std::min(least, costs->call_ticks);
  }
  return ns_of(clock, least);
}

// ---- the tracer

class NoSink final : public Sink {
public:
  void define(const Definition&) override {}
  void write(RecordBatch batch) override { bytes_ += batch.size(); }
  void tick(std::uint64_t) override {}
  Result<void> finish(const SessionSummary&) override { return {}; }
  std::uint64_t bytes_written() const override { return bytes_; }
  bool is_healthy() const override { return true; }

private:
  std::uint64_t bytes_ = 0;
};

/// Calls of functions without a prototype, as many as fit into a ring, again and again.
double collector_cost(Sink& sink, pid_t thread, bool is_first) {
  constexpr int kCalls = 8000;
  constexpr std::uint32_t kFunctions = 20;
  const auto arena = make_arena();
  CollectorQueue queue;
  RingNumbers numbers;
  TickClock clock = TickClock::calibrate();
  CollectorLoop loop(sink, queue, numbers, clock);
  const auto plan =
      std::make_shared<const proto::CallPlan>(proto::compile(proto::Prototype::unknown(), {}));
  ThreadStarted started;
  started.pid = started.tid = thread;
  started.first = is_first;
  queue.push({0, Definition(started)});
  for (std::uint32_t id = 0; id < kFunctions; ++id) {
    FunctionDefinition function;
    function.id = id;
    function.mangled = "PyObject_Function" + std::to_string(id);
    function.plan = plan;
    queue.push({0, Definition(function)});
  }
  queue.push({0, ArenaAdded{arena}});
  RingProducer producer(arena, static_cast<std::uint32_t>(thread));
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    std::uint64_t time = clock.now() - clock.ticks_of(3'000'000);
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      const std::array<std::uint64_t, 4> words = {0x7f0012345678ULL + i * 64, i % 20,
                                                  0x563012345678ULL + i * 16, 512};
      const std::array<std::uint64_t, 1> result = {i % 3 == 0 ? 0 : 0x7f0012345678ULL + i};
      time += 200;
      producer.call({.begin = time, .end = time + 100 + i % 64, .function = i * 7 % kFunctions},
                    words, result);
    }
    const double begin = cpu_ns();
    while (loop.pass()) {}
    least = std::min(least, (cpu_ns() - begin) / kCalls);
  }
  return least;
}

double text_cost(bool other_thread) {
  TextOptions options;
  options.time = TimeStamp::Microseconds;
  options.durations = true;
  options.form = LineForm::Whole;
  options.closing_lines = false;
  options.thin_after = 0;
  options.thread_after_time = true;
  TextSink sink(Writer(UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC))), options, false);
  if (other_thread) {
    ThreadStarted first;
    first.pid = first.tid = 4710;
    first.first = true;
    sink.define(first);
  }
  return collector_cost(sink, 4711, !other_thread);
}

} // namespace

int main() {
  const auto image = AgentImage::of({sonictrace_agent_begin, sonictrace_agent_end});
  if (!image) return 1;
  const TickClock clock = TickClock::calibrate();
  const auto say = [](const char* what, double ns) { std::printf("%7.1f ns  %s\n", ns, what); };
  say("a reading of the clock", clock_reading(clock));
  say("the agent: a record of a whole call", agent_cost(*image, clock, wire::RecordForm::Whole));
  say("the agent: two records", agent_cost(*image, clock, wire::RecordForm::Split));
  say("the agent: counted", agent_cost(*image, clock, wire::RecordForm::Count));
  NoSink none;
  say("the collector: a whole call", collector_cost(none, 4711, true));
  say("the collector and the text log", text_cost(false));
  say("the same, of another thread than the first", text_cost(true));
}
