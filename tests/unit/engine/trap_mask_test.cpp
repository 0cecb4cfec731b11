#include <gtest/gtest.h>

#include "engine/breakpoint/trap_guard.hpp"

namespace sonictrace {
namespace {

constexpr std::uint64_t kTrap = std::uint64_t{1} << (SIGTRAP - 1);
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kAsAfterATrap = kAll & ~kTrap; // the kernel has unblocked it

TEST(TrapMask, knows_what_was_seen) {
  TrapMask mask;
  EXPECT_FALSE(mask.may_be_blocked());
  mask.see(kAll);
  EXPECT_TRUE(mask.is_blocked());
  EXPECT_TRUE(mask.was_blocked(0));
  mask.see(kAsAfterATrap);
  EXPECT_FALSE(mask.may_be_blocked());
}

TEST(TrapMask, of_a_thread_born_with_all_blocked_unseen_is_so_until_something_else_of_it_changes) {
  TrapMask mask;
  mask.see_birth(kAll);
  EXPECT_TRUE(mask.may_be_blocked());
  EXPECT_FALSE(mask.is_blocked());
  EXPECT_TRUE(mask.was_blocked(kAsAfterATrap));
  EXPECT_FALSE(mask.was_blocked(0));
}

TEST(TrapMask, that_the_parent_was_seen_to_set_is_known_in_the_child) {
  TrapMask mask;
  mask.set(true);
  mask.see_birth(kAll);
  EXPECT_TRUE(mask.is_blocked());
  mask.see_birth(0);
  EXPECT_FALSE(mask.may_be_blocked());
}

} // namespace
} // namespace sonictrace
