#include "session/gathering.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "sonictrace/process/attach.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kCounters = 16;

/// What the tracee counts up while it runs.
struct Shared {
  std::array<std::atomic<std::uint64_t>, kCounters> counters{};
  std::atomic<int> ready{0};

  std::array<std::uint64_t, kCounters> values() const {
    std::array<std::uint64_t, kCounters> all;
    for (std::size_t i = 0; i < kCounters; ++i)
      all[i] = counters[i];
    return all;
  }
};

void count(Shared& shared, std::size_t which) {
  ++shared.ready;
  for (;;)
    ++shared.counters[which];
}

class GatheringTest : public testing::Test {
protected:
  void SetUp() override {
    void* const page =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    shared_ = new (page) Shared;
  }
  void TearDown() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    while (!queue_.empty()) {
      if (auto* tracee = std::get_if<StoppedTracee>(&queue_.front()))
        (void)std::move(*tracee).resume();
      queue_.pop_front();
    }
    for (;;) {
      auto next = StoppedTracee::wait(-1);
      if (!next) break;
      if (auto* tracee = std::get_if<StoppedTracee>(&*next)) (void)std::move(*tracee).resume();
    }
    ::munmap(shared_, sizeof(Shared));
  }

  /// A child that does `work`, attached to once it has said so `ready` times.
  template <class Work>
  void start(int ready, Work work) {
    child_ = ::fork();
    if (child_ == 0) {
      work(*shared_);
      ::_exit(0);
    }
    while (shared_->ready < ready)
      ::sched_yield();
    const auto threads = attach(child_);
    ASSERT_TRUE(threads) << threads.error().message();
    threads_.insert(threads->begin(), threads->end());
  }

  Gathering::Work work() {
    return {queue_, [this] { return std::vector<pid_t>(threads_.begin(), threads_.end()); },
            [this](StoppedTracee::Outcome outcome) { answer(std::move(outcome)); }};
  }
  void answer(StoppedTracee::Outcome outcome) {
    if (const auto* exit = std::get_if<Exit>(&outcome)) {
      threads_.erase(exit->tid);
      return;
    }
    auto& tracee = std::get<StoppedTracee>(outcome);
    const Stop stop = tracee.stop();
    if (stop == Stop{StopKind::PtraceEvent, PTRACE_EVENT_CLONE})
      if (const auto born = tracee.event_message()) threads_.insert(static_cast<pid_t>(*born));
    (void)std::move(tracee).resume(stop.kind == StopKind::SignalDelivery ? stop.detail : 0);
  }
  /// Lets go what has gathered.
  void answer_all() {
    while (!queue_.empty()) {
      auto outcome = std::move(queue_.front());
      queue_.pop_front();
      answer(std::move(outcome));
    }
  }
  void expect_nothing_runs() const {
    const auto before = shared_->values();
    for (int i = 0; i < 200; ++i)
      ::sched_yield();
    EXPECT_EQ(shared_->values(), before);
  }
  /// Stops that were asked for twice are answered.
  void expect_it_goes_on(std::size_t counter) {
    const std::uint64_t before = shared_->counters[counter];
    while (shared_->counters[counter] == before) {
      ::sched_yield();
      if (auto next = StoppedTracee::poll(-1); next && *next) answer(**std::move(next));
    }
  }

  Shared* shared_ = nullptr;
  pid_t child_ = 0;
  std::set<pid_t> threads_;
  StopQueue queue_;
};

TEST_F(GatheringTest, holds_each_thread_of_a_busy_process) {
  start(4, [](Shared& shared) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i)
      threads.emplace_back([&shared, i] { count(shared, i); });
    count(shared, 3);
  });

  for (int round = 0; round < 10; ++round) {
    {
      Gathering gathering(work());
      EXPECT_TRUE(gathering.gather());
      expect_nothing_runs();
      auto one = gathering.take();
      ASSERT_TRUE(one);
      EXPECT_TRUE(one->registers());
      gathering.give(*std::move(one));
    }
    EXPECT_EQ(queue_.size(), 4u) << "each is to be answered once";
    answer_all();
    for (std::size_t i = 0; i < 4; ++i)
      expect_it_goes_on(i);
  }
}

TEST_F(GatheringTest, holds_threads_that_are_born_and_die_meanwhile) {
  start(1, [](Shared& shared) {
    ++shared.ready;
    for (;;) {
      std::thread one([&shared] { ++shared.counters[0]; });
      std::thread other([&shared] { ++shared.counters[1]; });
      one.join();
      other.join();
      ++shared.counters[2];
    }
  });

  for (int round = 0; round < 50; ++round) {
    {
      Gathering gathering(work());
      EXPECT_TRUE(gathering.gather());
      expect_nothing_runs();
    }
    answer_all();
    const std::uint64_t before = shared_->counters[2];
    while (shared_->counters[2] == before) {
      auto next = StoppedTracee::wait(-1);
      ASSERT_TRUE(next);
      answer(*std::move(next));
    }
  }
}

TEST_F(GatheringTest, takes_signals_that_come_meanwhile_as_they_come) {
  start(1, [](Shared& shared) {
    static Shared* counts;
    counts = &shared;
    std::signal(SIGUSR1, [](int) { ++counts->counters[1]; });
    count(shared, 0);
  });

  for (std::uint64_t round = 1; round <= 10; ++round) {
    ::kill(child_, SIGUSR1);
    {
      Gathering gathering(work());
      EXPECT_TRUE(gathering.gather());
      expect_nothing_runs();
      auto one = gathering.take();
      ASSERT_TRUE(one);
      EXPECT_EQ(one->stop(), (Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP}));
      gathering.give(*std::move(one));
    }
    answer_all();
    while (shared_->counters[1] < round)
      if (auto next = StoppedTracee::poll(-1); next && *next) answer(**std::move(next));
  }
  EXPECT_EQ(shared_->counters[1], 10u);
}

TEST_F(GatheringTest, does_not_wait_for_who_waits_for_a_vfork_child) {
  start(2, [](Shared& shared) {
    std::thread counter([&shared] { count(shared, 0); });
    if (::vfork() == 0) {
      ++shared.ready;
      for (;;)
        ::pause();
    }
  });
  const auto children = list_children(child_);
  ASSERT_EQ(children.size(), 1u);

  {
    Gathering gathering(work());
    EXPECT_TRUE(gathering.gather());
    expect_nothing_runs();
    auto one = gathering.take();
    ASSERT_TRUE(one);
    EXPECT_NE(one->tid(), child_);
    gathering.give(*std::move(one));
  }

  EXPECT_EQ(queue_.size(), 1u);
  answer_all();
  expect_it_goes_on(0);
  ::kill(children.front(), SIGKILL);
}

TEST_F(GatheringTest, holds_a_stopped_process_in_its_group_stop) {
  start(1, [](Shared& shared) {
    ++shared.ready;
    ::raise(SIGSTOP);
    count(shared, 0);
  });
  {
    Gathering gathering(work());
    EXPECT_TRUE(gathering.gather());
  }
  // Its stopping may have come between.
  const auto is_stopped = [&] {
    return !queue_.empty() &&
           std::get<StoppedTracee>(queue_.front()).stop().kind == StopKind::Group;
  };
  while (!is_stopped()) {
    answer_all();
    auto next = StoppedTracee::wait(-1);
    ASSERT_TRUE(next);
    queue_.push_back(*std::move(next));
  }
  (void)std::get<StoppedTracee>(std::move(queue_.front())).listen();
  queue_.pop_front();

  Gathering gathering(work());
  EXPECT_TRUE(gathering.gather());

  auto one = gathering.take();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->stop(), (Stop{StopKind::Group, SIGSTOP}));
  gathering.give(*std::move(one));
}

TEST_F(GatheringTest, leaves_the_stops_of_others_in_the_queue) {
  start(2, [](Shared& shared) {
    std::thread counter([&shared] { count(shared, 0); });
    count(shared, 1);
  });
  const pid_t other = *threads_.rbegin();
  threads_ = {child_};
  {
    Gathering gathering(work());
    EXPECT_TRUE(gathering.gather());
    while (std::none_of(queue_.begin(), queue_.end(), [&](const auto& outcome) {
      return std::get<StoppedTracee>(outcome).tid() == other;
    }))
      EXPECT_TRUE(gathering.gather());
  }
  EXPECT_EQ(queue_.size(), 2u);
}

} // namespace
} // namespace sonictrace
