#include "session/interrupts.hpp"

#include <gtest/gtest.h>

namespace sonictrace {
namespace {

TEST(Interrupts, that_come_at_once_are_all_noted) {
  InterruptWatch watch;
  ::raise(SIGINT);
  ::raise(SIGUSR1);
  ::raise(SIGTERM);

  const auto seen = watch.take();
  EXPECT_TRUE(seen.interrupt());
  auto passed_on = seen.terminating();
  EXPECT_EQ(passed_on.size(), 2u);
  EXPECT_TRUE(seen.has(SIGUSR1));
  EXPECT_TRUE(seen.has(SIGTERM));
  EXPECT_EQ(watch.take().signals, 0u);
}

TEST(Interrupts, by_the_terminal_are_not_passed_on) {
  InterruptWatch watch;
  ::raise(SIGQUIT);

  const auto seen = watch.take();
  EXPECT_TRUE(seen.interrupt());
  EXPECT_TRUE(seen.terminating().empty());
}

} // namespace
} // namespace sonictrace
