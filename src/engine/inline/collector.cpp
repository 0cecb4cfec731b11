#include "sonictrace/engine/collector.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/inline/collector_loop.hpp"
#include "engine/inline/shared_memory.hpp"
#include "sonictrace/base/clock.hpp"

namespace sonictrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t kTick = 250'000'000; ///< ns between two ticks of the sink
constexpr std::uint64_t kThin = 20'000'000;  ///< ... between two looks for functions to thin
constexpr std::uint64_t kWake = 1'000'000;   ///< ... between two calls for the tracer's thread
constexpr int kTellings = 5;
constexpr milliseconds kPulse{50};
constexpr nanoseconds kShortNap{50'000};
/// A round that makes fewer bytes of records is followed by a short nap: each look at a ring takes
/// memory away from the core of the thread that writes to it.
constexpr std::size_t kWorthwhile = std::size_t{64} * 1024;
constexpr nanoseconds kNap{1'000'000};
constexpr nanoseconds kLongNap{5'000'000};
constexpr std::uint64_t kLongSilence = 1'000'000'000; ///< ns
constexpr int kInterruption = SIGURG;

void do_nothing(int) {}

/// No signal but what interrupts a write, and what tells of faults of our own.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (const int signal : {kInterruption, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    sigdelset(&all, signal);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

/// Every processor: the tracer's thread may have itself bound to that of its tracee.
void use_all_processors() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all); // those that we may not use are left out
}

} // namespace

/// The threads: one collects, the other one shows the agents that we live, also while the first
/// waits for the log's reader.
class Collector::Work {
public:
  Work(Sink& inner, CollectorOptions options)
      : options_(std::move(options)), inner_(inner), clock_(TickClock::calibrate()),
        loop_(inner, queue_, numbers_, clock_), bytes_written_(inner.bytes_written()),
        is_healthy_(inner.is_healthy()) {
    struct sigaction action = {};
    action.sa_handler = do_nothing; // and no SA_RESTART
    sigemptyset(&action.sa_mask);
    ::sigaction(kInterruption, &action, &old_action_);
    // Threads begin with the mask of who starts them: no signal of the tracer's may come in
    // between.
    sigset_t all, old;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &old);
    collector_ = std::thread([this] { collect(); });
    pulse_ = std::thread([this] { beat(); });
    ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  ~Work() {
    stop(nullptr);
    ::sigaction(kInterruption, &old_action_, nullptr);
  }
  Work(const Work&) = delete;

  void stop(const std::function<bool()>& in_haste) {
    // Last words may be said by the thread itself.
    if (!collector_.joinable() || std::this_thread::get_id() == collector_.get_id()) return;
    queue_.stop();
    {
      std::unique_lock lock(mutex_);
      while (!done_.wait_for(lock, kPulse, [this] { return is_done_; }))
        if (in_haste && in_haste()) in_haste_ = true;
      is_over_ = true;
      over_.notify_all();
    }
    collector_.join();
    pulse_.join();
  }

  /// The pulse goes on with it as long as it waits again.
  void interrupt() {
    in_haste_ = true;
    const std::scoped_lock lock(mutex_);
    if (!is_done_) ::pthread_kill(collector_.native_handle(), kInterruption);
  }

  void push(decltype(QueueItem::what) what) { queue_.push({clock_.now(), std::move(what)}); }
  CollectorQueue& queue() { return queue_; }
  RingNumbers& numbers() { return numbers_; }
  TickClock& clock() { return clock_; }
  Sink& inner() { return inner_; }

  void add(const std::shared_ptr<Arena>& arena) {
    beat(*arena);
    const std::scoped_lock lock(mutex_);
    arenas_.push_back(arena);
  }
  void remove(const std::shared_ptr<Arena>& arena) {
    const std::scoped_lock lock(mutex_);
    std::erase(arenas_, arena);
  }

  std::uint64_t bytes_written() const { return bytes_written_; }
  bool is_healthy() const { return is_healthy_; }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t lost() const { return lost_; }
  LeftOutCalls left_out() const { return {short_calls_, deep_calls_}; }
  std::vector<std::string> take_complaints() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(complaints_, {});
  }

private:
  void collect();
  void collect_until_stopped();
  void do_now_and_then(std::uint64_t now);
  void note_state();
  void look_after_tracer(std::uint64_t now);
  void beat();
  static void beat(const Arena& arena) {
    auto& heartbeat = arena.control().heartbeat;
    store_shared(heartbeat, load_shared(heartbeat) + 1);
  }
  static bool asks_in_linker(const Arena& arena) {
    const wire::SharedControl& control = arena.control();
    return load_shared(control.linker_asks) != load_shared(control.linker_answers);
  }

  CollectorOptions options_;
  Sink& inner_;
  CollectorQueue queue_;
  RingNumbers numbers_;
  TickClock clock_; ///< the tracer's thread's
  CollectorLoop loop_;
  struct sigaction old_action_ = {};

  // The collector's thread.
  std::uint64_t ticked_ = 0, thinned_ = 0, counted_ = 0, asked_ = 0; ///< CLOCK_MONOTONIC

  int told_of_limit_ = 0;

  std::atomic<std::uint64_t> bytes_written_;
  std::atomic<bool> is_healthy_;
  std::atomic<std::uint64_t> calls_ = 0, lost_ = 0, short_calls_ = 0, deep_calls_ = 0;
  std::atomic<bool> in_haste_ = false;

  std::mutex mutex_; ///< of all below
  std::vector<std::shared_ptr<Arena>> arenas_;
  std::vector<std::string> complaints_;
  bool is_done_ = false; ///< the collector's thread is
  bool is_over_ = false; ///< the pulse's shall be
  std::condition_variable done_, over_;

  std::thread collector_, pulse_;
};

void Collector::Work::collect() {
  ::pthread_setname_np(::pthread_self(), "collector");
  block_signals();
  use_all_processors();
  ::prctl(PR_SET_TIMERSLACK, 1'000UL); // ns; a nap is shorter than the default of 50 us
  std::string failure;
  try {
    collect_until_stopped();
  } catch (const std::exception& caught) { failure = caught.what(); } catch (...) {
    failure = "an unknown exception";
  }
  const std::scoped_lock lock(mutex_);
  if (!failure.empty()) {
    // The tracer ends as it does when the log can't be written; the agents then stop recording.
    is_healthy_ = false;
    complaints_.push_back("bug: nothing more could be recorded: " + failure);
  }
  is_done_ = true;
  done_.notify_all();
}

void Collector::Work::collect_until_stopped() {
  ticked_ = thinned_ = counted_ = monotonic_ns();
  std::uint64_t last_something = ticked_;
  nanoseconds nap = kShortNap;
  while (!queue_.is_stopped()) {
    const bool something = loop_.pass();
    const std::uint64_t now = monotonic_ns();
    do_now_and_then(now);
    if (something) {
      nap = kShortNap;
      last_something = now;
      if (loop_.passed_on() < kWorthwhile) queue_.wait(nap);
      continue;
    }
    queue_.wait(nap);
    nap = std::min(nap + nap / 2, now - last_something > kLongSilence ? kLongNap : kNap);
  }
  loop_.pass_everything();
  loop_.read_counts();
  loop_.thin();
  inner_.tick(realtime_ns());
  note_state();
}

void Collector::Work::do_now_and_then(std::uint64_t now) {
  if (loop_.clock().is_due()) loop_.clock().recalibrate();
  look_after_tracer(now);
  if (now - thinned_ >= kThin) {
    thinned_ = now;
    loop_.thin();
  }
  if (options_.counts_every_ns != 0 && now - counted_ >= options_.counts_every_ns) {
    counted_ = now;
    loop_.read_counts();
  }
  if (now - ticked_ >= kTick) {
    ticked_ = now;
    inner_.tick(realtime_ns());
  }
  note_state();
}

void Collector::Work::note_state() {
  bytes_written_ = inner_.bytes_written();
  is_healthy_ = inner_.is_healthy();
  const LeftOutCalls left_out = loop_.left_out();
  short_calls_ = left_out.short_calls;
  deep_calls_ = left_out.deep_calls;
  calls_ = loop_.calls() + left_out.sum();
  lost_ = loop_.lost();
  auto complaints = loop_.take_complaints();
  if (complaints.empty()) return;
  const std::scoped_lock lock(mutex_);
  std::move(complaints.begin(), complaints.end(), std::back_inserter(complaints_));
}

void Collector::Work::look_after_tracer(std::uint64_t now) {
  if (!options_.wake_tracer || now - asked_ < kWake) return;
  bool asks = false;
  // A few times: the first may come just before it begins to wait.
  if (options_.most_calls != 0 && calls_ >= options_.most_calls && told_of_limit_ < kTellings) {
    ++told_of_limit_;
    asks = true;
  }
  loop_.for_each_arena([&](const Arena& arena) { asks |= asks_in_linker(arena); });
  if (!asks) return;
  asked_ = now;
  options_.wake_tracer();
}

void Collector::Work::beat() {
  ::pthread_setname_np(::pthread_self(), "pulse");
  block_signals();
  use_all_processors();
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, kPulse, [this] { return is_over_; })) {
    bool asks = false;
    for (const auto& arena : arenas_) {
      beat(*arena);
      asks |= asks_in_linker(*arena);
    }
    if (asks && options_.wake_tracer)
      options_.wake_tracer(); // the collector may be waiting for a reader
    // Again: the last one may have come just before the write began.
    if (in_haste_ && !is_done_) ::pthread_kill(collector_.native_handle(), kInterruption);
  }
}

Collector::Collector(Sink& inner, CollectorOptions options)
    : work_(std::make_unique<Work>(inner, std::move(options))) {}
Collector::~Collector() = default;

void Collector::define(const Definition& definition) {
  if (const auto* function = std::get_if<FunctionDefinition>(&definition))
    functions_ = std::max(functions_, function->id + 1);
  work_->push(definition);
}

void Collector::write(RecordBatch batch) {
  if (batch.empty()) return;
  work_->queue().wait_for_room(milliseconds(100));
  work_->push(QueuedBatch{{batch.begin(), batch.end()}});
}

Result<void> Collector::finish(const SessionSummary& summary) {
  stop();
  return work_->inner().finish(summary);
}

std::uint64_t Collector::bytes_written() const { return work_->bytes_written(); }
bool Collector::is_healthy() const { return work_->is_healthy(); }

void Collector::add_arena(std::shared_ptr<Arena> arena, std::uint32_t process) {
  if (process != 0) work_->numbers().assign(*arena, process);
  work_->add(arena);
  work_->push(ArenaAdded{std::move(arena)});
}

void Collector::add_code(const std::shared_ptr<Arena>& arena, ProcessCode code,
                         std::size_t frames) {
  work_->push(CodeAdded{arena, std::move(code), frames});
}

void Collector::learn_code(const std::shared_ptr<Arena>& arena, std::vector<TraceeAddress> gadgets,
                           std::vector<MappedCode> mapped) {
  work_->push(CodeLearned{arena, std::move(gadgets), std::move(mapped)});
}

void Collector::forget_code(const std::shared_ptr<Arena>& arena, AddressRange range) {
  work_->push(CodeGone{arena, range});
}

void Collector::hold(std::uint64_t seen_ns) {
  const TickClock& clock = work_->clock();
  const std::uint64_t ago = monotonic_ns() - seen_ns;
  work_->queue().hold(clock.now() - clock.ticks_of(ago));
}

void Collector::release() { work_->queue().release(); }

void Collector::end_thread(const Arena& arena, std::uint32_t ring) {
  if (ring >= arena.max_rings()) return;
  std::uint32_t expected = wire::kRingInUse;
  std::atomic_ref(arena.ring(ring).state)
      .compare_exchange_strong(expected, static_cast<std::uint32_t>(wire::kRingEnded));
}

void Collector::end_thread(const Arena& arena, pid_t tid) {
  end_thread(arena, ring_of(arena, tid));
}

std::uint32_t Collector::ring_of(const Arena& arena, pid_t tid) const {
  const std::size_t used =
      std::min<std::size_t>(load_shared(arena.control().rings_used), arena.max_rings());
  for (std::uint32_t ring = 0; ring < used; ++ring) {
    const wire::RingHeader& header = arena.ring(ring);
    if (load_shared(header.state) == wire::kRingInUse &&
        load_shared(header.tid) == static_cast<std::uint32_t>(tid))
      return ring;
  }
  return ~std::uint32_t{0};
}

std::vector<OpenCallFound> Collector::publish_open_calls(const std::shared_ptr<Arena>& arena,
                                                         std::uint32_t ring) {
  std::vector<OpenCallFound> all;
  if (ring >= arena->max_rings()) return all;
  const wire::RingHeader& header = arena->ring(ring);
  const CallNumbers numbers = work_->numbers().of(*arena, ring, load_shared(header.incarnation));
  QueuedOpenCalls untold = {load_shared(header.tid) & INT_MAX, numbers, {}};
  for (const auto& found : find_open_calls(*arena, ring)) {
    if (found.call.function >= functions_) continue; // the process's word is not to be trusted
    all.push_back({numbers.own_call(found.call.call), found.call.function, found.call.depth,
                   found.call.call, found.pool, found.entry});
    if (found.call.state != wire::kOpenWhole) continue;
    mark_as_told(*arena, found);
    untold.calls.push_back(found);
  }
  if (!untold.calls.empty()) work_->push(std::move(untold));
  return all;
}

std::uint32_t Collector::reserve_process() { return work_->numbers().reserve(); }

std::uint64_t Collector::inherited_call(std::uint32_t process, std::uint32_t number) {
  return CallNumbers{0, process}.inherited_call(number);
}

void Collector::remove_arena(const std::shared_ptr<Arena>& arena) {
  work_->remove(arena);
  work_->push(ArenaRemoved{arena});
}

void Collector::interrupt() { work_->interrupt(); }
void Collector::stop(const std::function<bool()>& in_haste) { work_->stop(in_haste); }
TickClock& Collector::clock() { return work_->clock(); }
std::uint64_t Collector::calls() const { return work_->calls(); }
std::uint64_t Collector::lost() const { return work_->lost(); }
LeftOutCalls Collector::left_out() const { return work_->left_out(); }
std::vector<std::string> Collector::take_complaints() { return work_->take_complaints(); }

} // namespace sonictrace
