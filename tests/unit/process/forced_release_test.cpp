#include "sonictrace/process/forced_release.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "sonictrace/process/proc_files.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {
namespace {

/// A child that counts, where we can see it, and is traced.
class ForcedReleaseOfOne : public testing::Test {
protected:
  ForcedReleaseOfOne()
      : counter_(static_cast<volatile long*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        child_(::fork()) {
    if (child_ == 0)
      for (;;)
        *counter_ = *counter_ + 1;
    EXPECT_TRUE(seize(child_, 0));
    wait_for_progress();
  }
  ~ForcedReleaseOfOne() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, __WALL);
  }

  void wait_for_progress() const {
    for (const long before = *counter_; *counter_ == before;)
      ::usleep(100);
  }
  pid_t tracer() const {
    const auto status = read_task_status(child_);
    return status ? status->tracer : -1;
  }

  volatile long* counter_;
  pid_t child_;
};

TEST_F(ForcedReleaseOfOne, stops_a_thread_that_runs_and_lets_it_go_on_without_a_tracer) {
  const ForcedRelease forced({child_});

  EXPECT_TRUE(forced.is_quiet());
  EXPECT_EQ(read_task_status(child_)->state, 't');
  EXPECT_EQ(tracer(), ::getpid());

  forced.release([](pid_t, std::uint64_t pc) { return pc; });

  EXPECT_EQ(tracer(), 0);
  wait_for_progress();
}

TEST_F(ForcedReleaseOfOne, is_not_quiet_on_a_thread_that_is_not_the_tracer) {
  bool is_quiet = true;
  std::thread([&] { is_quiet = ForcedRelease({child_}).is_quiet(); }).join();

  EXPECT_FALSE(is_quiet);
}

TEST(ForcedRelease, of_a_thread_that_is_gone_is_quiet) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);

  EXPECT_TRUE(ForcedRelease({child}).is_quiet());
}

} // namespace
} // namespace sonictrace
