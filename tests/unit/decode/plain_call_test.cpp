#include "sonictrace/decode/plain_call.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/named_call.hpp"

namespace sonictrace {
namespace {

/// The arguments by the short way; nothing where it leaves them to the long one.
std::optional<std::string> short_way(const proto::CallPlan& plan,
                                     const std::vector<std::byte>& entry,
                                     const std::vector<std::byte>& leave) {
  const auto call = PlainCall::make(plan, {});
  if (!call) return std::nullopt;
  std::string text(call->room(entry.size() + leave.size()), '\0');
  const char* const end = call->put_arguments(text.data(), entry, leave);
  if (end == nullptr) return std::nullopt;
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

TEST(PlainCall, shows_what_the_long_way_shows_whatever_is_known_of_the_readings) {
  const int object = 0;
  const auto there = reinterpret_cast<std::uint64_t>(&object);
  const std::uint64_t words[] = {0, 1, 2, 77, 0x1234'5678'9abc, ~0ull, there, there + 1};
  std::mt19937 random(1);
  const auto any_word = [&] { return words[random() % std::size(words)]; };
  std::size_t shown = 0, left = 0;
  int functions = 0;
  for (const char* name :
       {"_ZN3c1017isIncludedInAliasENS_11DispatchKeyES0_", "_ZN1a1b1fERKNS_1cEi", "_ZN1a1b1fEbPv",
        "_ZN1a1b1fEb", "_ZN1a1b1fEPKc", "_ZN1a1b1fERiS1_j", "_ZN1a1b1fEiijmlhh",
        "_ZN1a1b1fERKNS_1cES3_", "_ZN1a1bC1EOS0_", "_ZNK1a1b1fEd"}) {
    NamedCall call(name);
    if (call.plan().readings == nullptr) continue;
    ++functions;
    auto& possible = call.plan().readings->possible;
    const std::uint32_t at_first = possible.load();
    for (int round = 0; round < 40; ++round) {
      possible = at_first;
      for (int number = 0; number < 12; ++number) {
        call.reset();
        for (int word = 0; word < 6; ++word)
          call.word(any_word());
        call.returns(any_word());
        const auto entry = call.captured_entry(), leave = call.captured_leave();
        const auto quick = short_way(call.plan(), entry, leave);
        const auto before = possible.load();
        const std::string expected = call.arguments();
        if (!quick) {
          ++left;
          continue;
        }
        ++shown;
        EXPECT_EQ(*quick, expected) << name;
        EXPECT_EQ(possible.load(), before) << name << ": the long way has learned something";
      }
    }
  }
  EXPECT_GE(functions, 6);
  EXPECT_GT(shown, 1000u);
  EXPECT_GT(left, 400u);
}

TEST(PlainCall, leaves_to_the_long_way_what_rules_a_reading_out) {
  NamedCall call("_ZN3c1017isIncludedInAliasENS_11DispatchKeyES0_");
  const int object = 0;
  // A pointer, which may be where the result goes.
  call.word(&object).word(std::uint64_t{3}).word(std::uint64_t{4});
  call.returns(reinterpret_cast<std::uint64_t>(&object));
  EXPECT_TRUE(short_way(call.plan(), call.captured_entry(), call.captured_leave()));
  call.reset().word(std::uint64_t{3}).word(std::uint64_t{4});
  EXPECT_FALSE(short_way(call.plan(), call.captured_entry(), call.captured_leave()));
  (void)call.arguments();
  EXPECT_EQ(short_way(call.plan(), call.captured_entry(), call.captured_leave()), "3, 4");
}

} // namespace
} // namespace sonictrace
