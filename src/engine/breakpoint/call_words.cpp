#include "engine/breakpoint/call_words.hpp"

#include <algorithm>
#include <cstring>

#include "sonictrace/process/vector_registers.hpp"

namespace sonictrace {

std::size_t CaptureMemory::read(std::uint64_t address, std::byte* into, std::size_t size) {
  const std::uint64_t window = address & ~std::uint64_t{kWindow - 1};
  const std::uint64_t offset = address - window;
  if (offset + size > kWindow)
    return memory_.read_some(TraceeAddress(address), std::span(into, size));
  if (window != window_) {
    // A window lies within a page: all of it can be read, or nothing.
    window_ = window;
    if (memory_.read_some(TraceeAddress(window), bytes_) != kWindow) {
      window_ = 1;
      return 0;
    }
  }
  std::memcpy(into, bytes_.data() + offset, size);
  return size;
}

EntryWords EntryWords::of_call(pid_t tid, const Registers& registers, TraceeAddress slot,
                               const proto::CallPlan& plan) {
  EntryWords entry;
  const auto integers = registers.arguments();
  std::copy(integers.begin(), integers.end(), entry.words.begin());
  entry.stack = slot + 8; // psABI 3.2.3: above the return address
  // A variadic call says in al how many vector registers it uses (psABI 3.5.7).
  const bool wants_vectors =
      plan.vectors_at_entry && (!plan.has_format || (registers.raw().rax & 0xff) != 0);
  if (wants_vectors)
    if (const auto vectors = VectorRegisters::of(tid))
      std::copy(vectors->low.begin(), vectors->low.end(),
                entry.words.begin() + wire::kVectorWordsAt / 8);
  return entry;
}

wire::CallWords EntryWords::view() const {
  return {words.data(), static_cast<std::uint32_t>(sizeof words), wire::kStackWordsAt,
          stack.value()};
}

std::shared_ptr<const std::vector<std::uint64_t>>
EntryWords::keep(const proto::CallPlan& plan, CaptureMemory& memory) const {
  if (!plan.keeps_words) return nullptr;
  std::vector<std::uint64_t> kept;
  kept.reserve(words.size() + plan.kept_stack_words);
  kept.assign(words.begin(), words.end());
  // The callee may do with its stack arguments what it likes (psABI 3.2.3).
  const std::size_t registers = kept.size();
  if (plan.kept_stack_words > 0 && stack.value() != 0) {
    kept.resize(registers + plan.kept_stack_words);
    const std::size_t wanted = plan.kept_stack_words * sizeof(std::uint64_t);
    const std::size_t got = memory.read(
        stack.value(), reinterpret_cast<std::byte*>(kept.data() + registers), wanted);
    kept.resize(registers + got / sizeof(std::uint64_t));
  }
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(kept));
}

ReturnWords::ReturnWords(std::span<const std::uint64_t, kResults> results,
                         const std::vector<std::uint64_t>* kept, TraceeAddress stack)
    : is_few_(kept == nullptr), stack_(stack) {
  std::copy(results.begin(), results.end(), few_.begin());
  if (is_few_) return;
  words_.reserve(results.size() + kept->size());
  words_.assign(results.begin(), results.end());
  words_.insert(words_.end(), kept->begin(), kept->end());
}

wire::CallWords ReturnWords::view() const {
  const std::uint64_t* words = is_few_ ? few_.data() : words_.data();
  const std::size_t count = is_few_ ? few_.size() : words_.size();
  return {words, static_cast<std::uint32_t>(count * sizeof(std::uint64_t)),
          wire::kKeptWordsAt + wire::kStackWordsAt, stack_.value()};
}

std::array<std::uint64_t, ReturnWords::kResults>
result_words(pid_t tid, const Registers& registers, const proto::CallPlan& plan) {
  std::array<std::uint64_t, ReturnWords::kResults> words{registers.result(), registers.raw().rdx};
  if (!plan.vectors_at_return && !plan.x87_at_return) return words;
  if (const auto vectors = VectorRegisters::of(tid)) {
    words[wire::kResultVectorAt / 8] = vectors->low[0];
    words[wire::kResultVectorAt / 8 + 1] = vectors->low[1];
    words[wire::kResultX87At / 8] = vectors->st0[0];
    words[wire::kResultX87At / 8 + 1] = vectors->st0[1];
  }
  return words;
}

} // namespace sonictrace
