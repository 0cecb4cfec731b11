#include "engine/inline/known_stacks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "sonictrace/base/check.hpp"

namespace sonictrace {
namespace {

constexpr std::size_t kHeadWords = sizeof(wire::RingStack) / sizeof(std::uint64_t);

/// The registers that a copy comes with, but for the stack pointer, and their DWARF numbers (psABI
/// 3.6.2). All others are those of nobody.
std::array<std::uint64_t, 6> values_of(const wire::RingStack& head) {
  return {head.rbx, head.rbp, head.r12, head.r13, head.r14, head.r15};
}
constexpr std::array<unsigned, 6> kNumbers = {3, 6, 12, 13, 14, 15};

} // namespace

CopiedStack::CopiedStack(std::span<const std::uint64_t> words) : words_(words) {
  SONICTRACE_CHECK(words.size() >= kHeadWords, "a stack without its head");
  std::memcpy(&head_, words.data(), sizeof head_);
  const std::size_t all = words.size() - kHeadWords;
  const std::size_t first = std::min<std::uint64_t>(head_.words, all);
  pieces_[0] = {head_.slot + 8, kHeadWords, first};
  pieces_[1] = {head_.interrupted, kHeadWords + first, all - first};
}

std::optional<std::uint64_t> CopiedStack::word(std::uint64_t address) {
  for (const Piece& piece : pieces_) {
    const std::uint64_t offset = address - piece.begin;
    const std::uint64_t number = offset / sizeof(std::uint64_t);
    if (number >= piece.count || offset % sizeof(std::uint64_t) != 0) continue;
    const std::size_t index = piece.first + number;
    indexes_.push_back(static_cast<std::uint32_t>(index));
    return words_[index];
  }
  return std::nullopt;
}

std::size_t KnownStacks::set_of(const StackKey& key) {
  constexpr std::uint64_t kGoldenRatio = 0x9e37'79b9'7f4a'7c15; // spreads neighbours
  const std::uint64_t mixed = (key.where ^ key.slot << 20 ^ key.slot >> 3) * kGoldenRatio;
  return static_cast<std::size_t>(mixed >> 54);
}

bool KnownStacks::is_same(const Known& known, const StackKey& key, const CopiedStack& stack) {
  const wire::RingStack& head = stack.head();
  if (!(known.key == key) || known.size != stack.size() || known.interrupted != head.interrupted ||
      known.first_words != head.words)
    return false;
  const auto values = values_of(head);
  for (std::size_t i = 0; i < values.size(); ++i)
    if ((known.registers >> kNumbers[i] & 1) != 0 && values[i] != known.values[i]) return false;
  for (std::size_t i = 0; i < known.indexes.size(); ++i)
    if (stack.at(known.indexes[i]) != known.words[i]) return false;
  return true;
}

const std::vector<std::uint32_t>* KnownStacks::find(const StackKey& key,
                                                    const CopiedStack& stack) const {
  if (!sets_) return nullptr;
  for (const Known& known : (*sets_)[set_of(key)].known)
    if (is_same(known, key, stack)) return &known.frames;
  return nullptr;
}

void KnownStacks::keep(const StackKey& key, const CopiedStack& stack,
                       std::span<const std::uint32_t> frames) {
  static_assert(kSets == 1U << (64 - 54));
  if (!sets_) sets_ = std::make_unique<std::array<Set, kSets>>();
  Set& set = (*sets_)[set_of(key)];
  Known& known = set.known[set.oldest];
  set.oldest = (set.oldest + 1) % kOfSet;
  known.key = key;
  known.size = stack.size();
  known.interrupted = stack.head().interrupted;
  known.first_words = stack.head().words;
  known.registers = stack.registers_looked_at();
  known.values = values_of(stack.head());
  known.indexes = stack.indexes_looked_at();
  known.words.clear();
  std::transform(known.indexes.begin(), known.indexes.end(), std::back_inserter(known.words),
                 [&](std::uint32_t index) { return stack.at(index); });
  known.frames.assign(frames.begin(), frames.end());
}

void KnownStacks::clear() { sets_.reset(); }

} // namespace sonictrace
