#include "engine/inline/words_plan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sonictrace {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;
using wire::FieldHeader;
using wire::FieldState;

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kProbedWords = 32; ///< there is a bit for each of so many

constexpr std::uint32_t as_number(const FieldHeader& header) {
  return std::bit_cast<std::uint32_t>(header);
}
constexpr std::uint32_t kWholeWord = as_number({kWord, FieldState::Whole, 0});
constexpr std::uint32_t kUnreadableWord = as_number({kWord, FieldState::Unreadable, 0});

/// As std::has_single_bit, which counts bits by a call where the processor may be any.
constexpr bool is_one_bit(std::uint64_t bits) { return bits != 0 && (bits & (bits - 1)) == 0; }

/// Of all that words lead to, it is known whether there is a byte.
class ProbedMemory {
public:
  ProbedMemory(std::span<const std::uint64_t> words, std::uint32_t readable)
      : words_(words.first(std::min(words.size(), kProbedWords))), readable_(readable) {}

  std::size_t read(std::uint64_t address, std::byte* into, std::size_t size) {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if (words_[at] != address || (readable_ >> at & 1) == 0 || size == 0) continue;
      *into = std::byte{0};
      return 1;
    }
    return 0;
  }

private:
  std::span<const std::uint64_t> words_;
  std::uint32_t readable_;
};

} // namespace

/// Of a plan that looks at words only; the others are interpreted.
class WordsPlan::Compiler {
public:
  explicit Compiler(WordsPlan& plan) : plan_(plan) {}

  bool compile() {
    const auto ops = plan_.ops_;
    if (ops.empty() || ops[0].kind != CaptureKind::Choice || ops.size() != ops[0].body + 1U) {
      Reading plain;
      if (!append(ops, 0, 0, plain)) return false;
      plan_.steps_ = std::move(plain.steps);
      plan_.room_ = std::max(plan_.room_, size_of(plan_.steps_));
      return true;
    }
    see_end(kWord);
    std::size_t room = sizeof(FieldHeader) + 2 * kWord;
    for (std::size_t at = 1; at < ops.size(); at += std::size_t{1} + ops[at].body) {
      Reading reading;
      if (ops[at].kind != CaptureKind::Reading ||
          !append(ops.subspan(at + 1, ops[at].body), 0, 0, reading))
        return false;
      room += size_of(reading.steps);
      plan_.readings_.push_back(std::move(reading));
    }
    plan_.room_ = std::max(plan_.room_, room);
    return !plan_.readings_.empty() && plan_.readings_.size() <= wire::kMostReadings;
  }

  std::size_t needed() const { return needed_; }

private:
  static std::size_t size_of(const std::vector<Step>& steps) {
    std::size_t size = 0;
    for (const Step& step : steps)
      size += sizeof(FieldHeader) + step.size;
    return size;
  }

  void see_end(std::size_t end) { needed_ = std::max(needed_, end); }

  bool append(std::span<const CaptureOp> ops, std::uint32_t base, unsigned nesting,
              Reading& reading) {
    constexpr unsigned kDeepest = 8; // of more there are none
    if (nesting > kDeepest) return false;
    for (std::size_t at = 0; at < ops.size(); at += std::size_t{1} + ops[at].body)
      if (!append(ops[at], ops.subspan(at + 1, ops[at].body), base, nesting, reading)) return false;
    return true;
  }

  bool append(const CaptureOp& op, std::span<const CaptureOp> body, std::uint32_t base,
              unsigned nesting, Reading& reading) {
    const std::uint32_t place = base + op.offset;
    if (op.offset > kMostWords || base > kMostWords) return false;
    if (op.kind == CaptureKind::Struct) return append(body, place, nesting + 1, reading);
    if (!body.empty()) return false;
    switch (op.kind) {
      case CaptureKind::Nothing: return true;
      case CaptureKind::Value:
        if (op.size == 0) return false;
        reading.steps.push_back({as_number({op.size, FieldState::Whole, 0}), 0, place, op.size, 0});
        see_end(place + (std::size_t{op.size} + kWord - 1) / kWord * kWord);
        return true;
      case CaptureKind::Pointer:
        if (!is_probed(op, place)) return false;
        if (op.detail != 0) reading.readable |= 1U << place / kWord;
        reading.steps.push_back({kWholeWord, kUnreadableWord - kWholeWord, place, kWord,
                                 static_cast<std::uint16_t>(place / kWord)});
        see_end(place + kWord);
        return true;
      case CaptureKind::Check: return append_check(op, place, reading);
      default: return false;
    }
  }

  bool append_check(const CaptureOp& op, std::uint32_t place, Reading& reading) {
    if (op.size == 0 || op.size > kWord) return false;
    see_end(place + kWord);
    if (op.detail == 0) {
      const std::uint64_t all = ~std::uint64_t{0} >> (kWord - op.size) * 8;
      const std::uint64_t mask = op.length_at & all;
      if (mask == 0) return false;
      reading.checks.push_back({mask, op.second_at, place});
      return true;
    }
    if (op.size != kWord) return false;
    if (op.detail == 2) {
      reading.checks.push_back({0, 0, place});
      return true;
    }
    if (!is_probed(op, place)) return false;
    reading.readable |= 1U << place / kWord;
    return true;
  }

  static bool is_probed(const CaptureOp& op, std::uint32_t place) {
    return op.size == kWord && place % kWord == 0 && place / kWord < kProbedWords;
  }

  WordsPlan& plan_;
  std::size_t needed_ = 0;
};

WordsPlan::WordsPlan(std::span<const CaptureOp> ops, std::size_t room,
                     const proto::KnownReadings* known)
    : ops_(ops), known_(known), room_(room) {
  Compiler compiler(*this);
  if (!compiler.compile()) {
    steps_.clear();
    readings_.clear();
    needed_ = kMostWords + 1;
    return;
  }
  needed_ = compiler.needed();
  const auto is_next_word = [at = std::uint32_t{0}](const Step& step) mutable {
    return step.header == kWholeWord && step.unreadable == 0 &&
           step.offset == std::exchange(at, at + static_cast<std::uint32_t>(kWord));
  };
  if (std::all_of(steps_.begin(), steps_.end(), is_next_word))
    whole_words_ = static_cast<std::uint32_t>(steps_.size());
}

std::size_t WordsPlan::interpret(const std::byte* words, std::size_t size, std::uint32_t readable,
                                 std::byte* out) const {
  std::uint64_t copy[kMostWords / kWord];
  std::memcpy(copy, words, size);
  asm volatile("" : : : "memory"); // from here on the copy is looked at, and nothing else
  wire::CallWords call;
  call.words = copy;
  call.size = static_cast<std::uint32_t>(size);
  const std::span<const std::uint64_t> whole(copy, size / kWord);
  ProbedMemory memory(whole, readable);
  return wire::run_capture(ops_.data(), ops_.size(), call, memory, out, room_);
}

bool WordsPlan::Check::is_right(const std::byte* words) const {
  std::uint64_t word;
  std::memcpy(&word, words + offset, sizeof word);
  if (mask != 0) return (word & mask) == value;
  constexpr std::uint64_t kPage = 4096, kUserEnd = std::uint64_t{1} << 47;
  return word == 0 || word - kPage < kUserEnd - kPage;
}

/// The only one that no call has ruled out so far. If a call does not do so either, the others say
/// nothing any more: what is shown is the same without them. (Where the result may be in memory,
/// it is only seen at the return.)
const WordsPlan::Reading* WordsPlan::known_reading() const {
  if (known_ == nullptr) return nullptr;
  const std::uint32_t possible = known_->possible.load(std::memory_order_relaxed);
  if (!is_one_bit(possible) || (possible & known_->in_memory) != 0) return nullptr;
  const auto index = static_cast<std::size_t>(std::countr_zero(possible));
  return index + 1 < readings_.size() ? &readings_[index] : nullptr;
}

/// As wire::CaptureInterpreter does, but for what is known of the function. What the words are is
/// looked at more than once: should they change meanwhile, a process has made its own log wrong.
std::size_t WordsPlan::choose(const std::byte* words, std::uint32_t readable,
                              std::byte* out) const {
  constexpr std::uint32_t kHead = as_number({2 * kWord, FieldState::Whole, 0});
  std::byte* to = out + sizeof kHead + 2 * kWord;
  std::uint64_t right = 0;
  const std::size_t last = readings_.size() - 1;
  if (const Reading* known = known_reading(); known && known->is_right(words, readable)) {
    right = std::uint64_t{1} << (known - readings_.data());
    to += put(known->steps, words, readable, to);
  } else {
    for (std::size_t at = 0; at < last; ++at) {
      const Reading& reading = readings_[at];
      if (!reading.is_right(words, readable)) continue;
      right |= std::uint64_t{1} << at;
      to += put(reading.steps, words, readable, to);
    }
    if (!is_one_bit(right)) to += put(readings_[last].steps, words, readable, to);
  }
  std::memcpy(out, &kHead, sizeof kHead);
  std::memcpy(out + sizeof kHead, &right, sizeof right);
  std::memcpy(out + sizeof kHead + kWord, words, kWord);
  return static_cast<std::size_t>(to - out);
}

} // namespace sonictrace
