#include "engine/inline/words_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "engine/inline/plan_area.hpp"
#include "sonictrace/wire/agent_abi.hpp"

namespace sonictrace {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;

constexpr std::size_t kRegisters = 6;
using Words = std::array<std::uint64_t, wire::kEntryWords>;

/// A byte can be read at some addresses, and nothing anywhere else.
struct KnownMemory {
  std::vector<std::uint64_t> readable;
  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    if (size == 0 || std::find(readable.begin(), readable.end(), address) == readable.end())
      return 0;
    *into = std::byte{};
    return 1;
  }
};

std::vector<std::byte> interpreted(const std::vector<CaptureOp>& ops, const Words& words,
                                   KnownMemory memory, std::size_t room) {
  std::vector<std::byte> fields(room);
  const wire::CallWords call = {words.data(), sizeof words, wire::kStackWordsAt, 0};
  fields.resize(
      wire::run_capture(ops.data(), ops.size(), call, memory, fields.data(), fields.size()));
  return fields;
}

std::vector<std::byte> expanded(const WordsPlan& plan, const Words& words, std::size_t count,
                                std::uint32_t readable) {
  std::vector<std::byte> fields(plan.room() + 8);
  fields.resize(plan.expand(reinterpret_cast<const std::byte*>(words.data()), count * 8, readable,
                            fields.data()));
  return fields;
}

CaptureOp op_of(CaptureKind kind, std::uint32_t offset, std::uint8_t size = 8,
                std::uint8_t detail = 0) {
  CaptureOp op;
  op.kind = kind;
  op.offset = offset;
  op.size = size;
  op.detail = detail;
  return op;
}

/// Plans of the kinds that look at words only, and calls.
class Random {
public:
  explicit Random(unsigned seed) : engine_(seed) {}

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(engine_);
  }

  std::vector<CaptureOp> plan() {
    std::vector<CaptureOp> ops;
    if (below(4) == 0) {
      append_steps(ops);
      return ops;
    }
    ops.push_back(op_of(CaptureKind::Choice, 0));
    for (std::uint32_t left = 1 + below(5); left > 0; --left) {
      const std::size_t reading = ops.size();
      ops.push_back(op_of(CaptureKind::Reading, 0));
      append_steps(ops);
      ops[reading].body = static_cast<std::uint16_t>(ops.size() - 1 - reading);
    }
    ops[0].body = static_cast<std::uint16_t>(ops.size() - 1);
    if (below(8) == 0) append_steps(ops); // which no plan that there is has
    return ops;
  }

  /// Few different ones, so that some are the same and some pass the checks.
  Words words() {
    constexpr std::array<std::uint64_t, 10> kWords = {
        0, 1, 2, 4095, 4096, 0x7fff'1234'5678, (1ULL << 47) - 1, 1ULL << 47, 0xff00, ~0ULL};
    Words words;
    for (auto& word : words)
      word = below(8) == 0 ? std::uint64_t{below(~0U)} << 16 : kWords[below(kWords.size())];
    return words;
  }

private:
  void append_steps(std::vector<CaptureOp>& ops) {
    for (std::uint32_t left = below(5); left > 0; --left)
      append_step(ops, 0);
  }

  void append_step(std::vector<CaptureOp>& ops, std::uint32_t base) {
    const std::uint32_t word = below(kRegisters - base / 8) * 8;
    const std::uint8_t sizes[] = {1, 2, 4, 8};
    switch (below(7)) {
      case 0: ops.push_back(op_of(CaptureKind::Nothing, 0)); return;
      case 1:
        ops.push_back(op_of(CaptureKind::Pointer, word, 8, static_cast<std::uint8_t>(below(4))));
        return;
      case 2: ops.push_back(op_of(CaptureKind::Check, word, 8, 1)); return;
      case 3: ops.push_back(op_of(CaptureKind::Check, word, 8, 2)); return;
      case 4: {
        CaptureOp check = op_of(CaptureKind::Check, word, sizes[below(4)]);
        check.length_at = std::array{0xfeU, 0xfffffff0U, 0U, 3U}[below(4)];
        check.second_at = std::array{0U, 0x1230U, 1U}[below(3)];
        ops.push_back(check);
        return;
      }
      case 5:
        if (base != 0) return;
        {
          const std::size_t at = ops.size();
          ops.push_back(op_of(CaptureKind::Struct, word));
          append_step(ops, word);
          ops[at].body = static_cast<std::uint16_t>(ops.size() - 1 - at);
        }
        return;
      default: ops.push_back(op_of(CaptureKind::Value, word, sizes[below(4)])); return;
    }
  }

  std::mt19937 engine_;
};

TEST(WordsPlan, makes_the_fields_that_the_interpreter_makes_with_the_same_memory) {
  std::size_t of_a_choice = 0;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    proto::CallPlan plan;
    plan.at_entry = random.plan();
    const wire::Site site = make_site(plan, 1, {});
    ASSERT_NE(site.flags & wire::kSiteEntryWords, 0u) << "seed " << seed;
    const WordsPlan words_plan(plan.at_entry, 4096);
    for (int call = 0; call < 8; ++call) {
      const Words words = random.words();
      KnownMemory memory;
      std::uint32_t readable = 0;
      for (std::size_t at = 0; at < kRegisters; ++at)
        if (words[at] >= 4096 && words[at] < 1ULL << 47 && words[at] % 3 != 0) {
          memory.readable.push_back(words[at]);
          readable |= 1U << at;
        }
      // As the agent records it: so many words, and the bits that were asked for.
      EXPECT_EQ(expanded(words_plan, words, site.entry_words, readable & site.probed_words),
                interpreted(plan.at_entry, words, memory, 4096))
          << "seed " << seed;
    }
    of_a_choice += !plan.at_entry.empty() && plan.at_entry[0].kind == CaptureKind::Choice ? 1 : 0;
  }
  EXPECT_GT(of_a_choice, 1000u);
}

TEST(WordsPlan, takes_any_mask_and_too_few_words_from_a_process_that_lies) {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const std::vector<CaptureOp> ops = random.plan();
    const WordsPlan plan(ops, 4096);
    const Words words = random.words();
    const std::size_t count = random.below(wire::kEntryWords + 1);
    EXPECT_LE(expanded(plan, words, count, random.below(~0U)).size(), plan.room());
  }
}

/// c10::isIncludedInAlias(c10::DispatchKey, c10::DispatchKey), as its plan was before any call: a
/// function of two enumerations, or a member function.
TEST(WordsPlan, tells_a_member_function_by_the_word_that_leads_somewhere) {
  std::vector<CaptureOp> ops = {op_of(CaptureKind::Choice, 0),   op_of(CaptureKind::Reading, 0),
                                op_of(CaptureKind::Value, 0, 2), op_of(CaptureKind::Value, 8, 2),
                                op_of(CaptureKind::Reading, 0),  op_of(CaptureKind::Check, 0, 8, 1),
                                op_of(CaptureKind::Value, 8, 2), op_of(CaptureKind::Value, 16, 2),
                                op_of(CaptureKind::Reading, 0),  op_of(CaptureKind::Value, 0),
                                op_of(CaptureKind::Value, 8),    op_of(CaptureKind::Value, 16)};
  ops[0].body = 11;
  ops[1].body = 2;
  ops[4].body = 3;
  ops[8].body = 3;
  const WordsPlan plan(ops, 4096);
  const Words words = {0x5555'0000'1000, 7, 9};
  const auto right_of = [](const std::vector<std::byte>& fields) {
    std::uint64_t right;
    std::memcpy(&right, fields.data() + sizeof(wire::FieldHeader), sizeof right);
    return right;
  };
  const std::size_t head = 20, value = 6, word = 12;

  proto::KnownReadings known;
  const WordsPlan knowing(ops, 4096, &known);
  known.possible = 3;
  EXPECT_EQ(right_of(expanded(knowing, words, 3, 1)), 3u);
  known.possible = 1; // a call has led nowhere
  EXPECT_EQ(expanded(knowing, words, 3, 1), expanded(plan, words, 3, 0));
  known.possible = 2;
  EXPECT_EQ(right_of(expanded(knowing, words, 3, 1)), 2u);
  EXPECT_EQ(right_of(expanded(knowing, words, 3, 0)), 1u) << "a call that shows it to be wrong";
  known.in_memory = 2;
  EXPECT_EQ(right_of(expanded(knowing, words, 3, 1)), 3u) << "its result may show it to be wrong";

  const auto leads_nowhere = expanded(plan, words, 3, 0);
  EXPECT_EQ(right_of(leads_nowhere), 1u);
  EXPECT_EQ(leads_nowhere.size(), head + 2 * value);
  const auto leads_somewhere = expanded(plan, words, 3, 1);
  EXPECT_EQ(right_of(leads_somewhere), 3u);
  EXPECT_EQ(leads_somewhere.size(), head + 4 * value + 3 * word) << "all there is, as it is open";
}

} // namespace
} // namespace sonictrace
