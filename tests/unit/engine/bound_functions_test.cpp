#include "engine/inline/bound_functions.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace sonictrace {
namespace {

std::shared_ptr<Arena> new_arena() {
  return *Arena::map(UniqueFd(::memfd_create("test", MFD_CLOEXEC)), false);
}

/// As the agent does it, or a process that lies.
void tell(const Arena& arena, std::uint32_t function, std::uint64_t target,
          std::uint32_t is_there = 1) {
  const std::uint32_t number = arena.control().bound_functions++;
  const_cast<wire::BoundFunction&>(arena.bound_function(number)) = {target, function, is_there};
}

std::vector<std::pair<FunctionId, std::uint64_t>> taken_from(BoundFunctions& functions,
                                                             const Arena& arena) {
  std::vector<std::pair<FunctionId, std::uint64_t>> all;
  for (const auto& [function, target] : functions.take(arena))
    all.emplace_back(function, target.value());
  return all;
}

using Taken = std::vector<std::pair<FunctionId, std::uint64_t>>;

TEST(BoundFunctionsTest, are_asked_for_and_told_once) {
  const auto arena = new_arena();
  BoundFunctions functions;
  functions.await(*arena, 3);
  functions.await(*arena, 5);

  EXPECT_EQ(arena->function_flags()[3], wire::kFunctionAwaited);
  EXPECT_EQ(arena->function_flags()[4], 0);
  tell(*arena, 5, 0x5000);
  EXPECT_EQ(taken_from(functions, *arena), (Taken{{5, 0x5000}}));
  tell(*arena, 3, 0x3000);
  EXPECT_EQ(taken_from(functions, *arena), (Taken{{3, 0x3000}}));
  EXPECT_EQ(taken_from(functions, *arena), Taken{});
}

TEST(BoundFunctionsTest, wait_for_one_that_is_being_written) {
  const auto arena = new_arena();
  BoundFunctions functions;
  functions.await(*arena, 3);
  functions.await(*arena, 5);
  tell(*arena, 3, 0x3000, 0);
  tell(*arena, 5, 0x5000);

  EXPECT_EQ(taken_from(functions, *arena), Taken{});
  const_cast<wire::BoundFunction&>(arena->bound_function(0)).is_there = 1;
  EXPECT_EQ(taken_from(functions, *arena), (Taken{{3, 0x3000}, {5, 0x5000}}));
}

TEST(BoundFunctionsTest, that_nobody_has_asked_for_are_not_believed) {
  const auto arena = new_arena();
  BoundFunctions functions;
  functions.await(*arena, 3);
  tell(*arena, 2, 0x2000);
  tell(*arena, ~0U, 0x1);
  tell(*arena, 3, 0x3000);
  tell(*arena, 3, 0x3001);

  EXPECT_EQ(taken_from(functions, *arena), (Taken{{3, 0x3000}}));
  arena->control().bound_functions = ~0U; // no more than there is room for
  EXPECT_EQ(taken_from(functions, *arena), Taken{});
}

TEST(BoundFunctionsTest, of_a_child_are_asked_for_in_its_own_arena) {
  const auto arena = new_arena();
  BoundFunctions functions;
  functions.await(*arena, 3);
  functions.await(*arena, 5);
  tell(*arena, 5, 0x5000);
  (void)functions.take(*arena);
  BoundFunctions of_child = functions;
  const auto arena_of_child = new_arena();

  of_child.await_all_in(*arena_of_child);

  EXPECT_EQ(arena_of_child->function_flags()[3], wire::kFunctionAwaited);
  EXPECT_EQ(arena_of_child->function_flags()[5], 0); // that is known
  tell(*arena_of_child, 3, 0x3000);
  EXPECT_EQ(taken_from(of_child, *arena_of_child), (Taken{{3, 0x3000}}));
}

TEST(BoundFunctionsTest, beyond_what_the_agent_has_room_for_are_not_asked_for) {
  const auto arena = new_arena();
  BoundFunctions functions;

  functions.await(*arena, wire::kMaxFunctions); // no flag is set behind the others

  EXPECT_EQ(arena->pool(0).next, 0u);
}

} // namespace
} // namespace sonictrace
