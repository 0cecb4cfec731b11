#include "sonictrace/decode/plain_call.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "decode/escape.hpp"
#include "decode/field_reader.hpp"
#include "decode/numbers.hpp"
#include "sonictrace/decode/digits.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace {
namespace {

using proto::Look;
using proto::PlannedValue;
using wire::CaptureKind;
using wire::FieldHeader;
using wire::FieldState;

/// Copies a text of a known size.
template <std::size_t kSize>
char* put(char* at, const char (&text)[kSize]) {
  std::memcpy(at, text, kSize - 1);
  return at + (kSize - 1);
}

constexpr std::size_t kWord = CapturedField::kWord;

/// A captured word, and what its FieldHeader is, as a number, where the word is whole.
struct [[gnu::packed]] WordField {
  std::uint32_t header;
  std::uint64_t value;
};
constexpr std::uint32_t kWholeWord = std::bit_cast<std::uint32_t>(
    FieldHeader{static_cast<std::uint16_t>(kWord), FieldState::Whole, 0});

inline char* put_guess(char* at, std::uint64_t value) {
  if (is_guessed_number(value)) return put_decimal(at, static_cast<std::int64_t>(value));
  return put_hex(at, value);
}

template <class Integer>
Integer load(const std::byte* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// A number of 1, 2, 4 or 8 bytes. A copy of a size that the compiler does not know would go
/// through memory.
inline std::uint64_t number_of(const std::byte* bytes, std::size_t size) {
  switch (size) {
    case 1: return load<std::uint8_t>(bytes);
    case 2: return load<std::uint16_t>(bytes);
    case 4: return load<std::uint32_t>(bytes);
    default: return load<std::uint64_t>(bytes);
  }
}

char* put_pointer(char* at, std::uint64_t address) {
  return address != 0 ? put_hex(at, address) : put(at, "nil");
}

} // namespace

std::optional<PlainCall::Step> PlainCall::step_of(const wire::CaptureOp& op,
                                                  const proto::RenderStep& look,
                                                  const ValueStyle& style) {
  if (op.kind == CaptureKind::Text && op.size == 1) {
    const bool whole = look.look == Look::Path && style.whole_paths;
    if (look.look != Look::Path && look.look != Look::Text && look.look != Look::Bytes)
      return std::nullopt;
    return Step{Form::String, 0,
                whole ? std::numeric_limits<std::uint32_t>::max() : style.string_limit};
  }
  if (op.kind == CaptureKind::Nothing) return Step{Form::Elided, 0, 0};
  if (op.kind == CaptureKind::Pointer && op.body == 0 && op.size == kWord)
    return Step{Form::Reference, kWord, 0};
  if (op.kind != CaptureKind::Value || op.size != look.size) return std::nullopt;
  if (op.size != 1 && op.size != 2 && op.size != 4 && op.size != 8) return std::nullopt;
  switch (look.look) {
    case Look::Signed: return Step{Form::Signed, op.size, 0};
    case Look::Unsigned: return Step{Form::Unsigned, op.size, 0};
    case Look::Guess: return Step{Form::Guess, op.size, 0};
    case Look::Hex: return Step{Form::Hex, op.size, 0};
    case Look::Bool: return Step{Form::Bool, op.size, 0};
    case Look::Pointer:
    case Look::ZeroPointer:
      if (look.names != nullptr) return std::nullopt;
      return Step{Form::Pointer, op.size, 0};
    default: return std::nullopt;
  }
}

std::optional<PlainCall> PlainCall::make(const proto::CallPlan& plan, const ValueStyle& style) {
  if (style.ltrace || plan.has_conditions) return std::nullopt;
  PlainCall call;
  for (const PlannedValue& parameter : plan.parameters) {
    if (parameter.out) return std::nullopt;
    if (parameter.shown != PlannedValue::Shown::Value || parameter.entry_steps == 0) continue;
    const std::size_t at = parameter.entry_begin;
    if (plan.entry_looks[at].look == Look::Readings) {
      if (plan.parameters.size() != 1 || !call.add_readings(plan, style)) return std::nullopt;
      break;
    }
    const auto step = step_of(plan.at_entry[at], plan.entry_looks[at], style);
    if (!step || parameter.entry_steps != 1) return std::nullopt;
    call.arguments_.push_back(*step);
    if (step->form == Form::Guess && step->size == kWord) ++call.guessed_words_;
  }
  call.is_void_ = plan.result.shown == PlannedValue::Shown::Void;
  if (plan.result.shown == PlannedValue::Shown::Value) {
    if (plan.result.return_steps != 1) return std::nullopt;
    const std::size_t at = plan.result.return_begin;
    call.result_ = step_of(plan.at_return[at], plan.return_looks[at], style);
    if (!call.result_) return std::nullopt;
  }
  std::size_t most = call.arguments_.size();
  for (const Reading& reading : call.readings_)
    most = std::max(most, reading.steps.size());
  constexpr std::size_t kSeparator = 2, kQuotes = 2, kDots = 3, kEscaped = 8;
  call.room_ = (most + 1) * (kDigitsRoom + kSeparator + kQuotes + kDots + kEscaped);
  return call;
}

/// False where there is nothing to be gained.
bool PlainCall::add_readings(const proto::CallPlan& plan, const ValueStyle& style) {
  const std::span<const wire::CaptureOp> ops = plan.at_entry;
  if (ops[0].kind != CaptureKind::Choice || ops.size() != ops[0].body + 1U || !plan.readings)
    return false;
  for (std::size_t at = 1; at < ops.size(); at += std::size_t{1} + ops[at].body) {
    if (ops[at].kind != CaptureKind::Reading) return false;
    Reading& reading = readings_.emplace_back();
    const std::size_t end = at + 1 + ops[at].body;
    for (std::size_t step_at = at + 1; step_at < end; ++step_at) {
      if (ops[step_at].kind == CaptureKind::Check) continue;
      const auto step = step_of(ops[step_at], plan.entry_looks[step_at], style);
      reading.is_plain = reading.is_plain && step && ops[step_at].body == 0;
      if (!reading.is_plain) break;
      reading.steps.push_back(*step);
      if (step->form != Form::Elided) ++reading.fields;
    }
  }
  known_ = plan.readings;
  if (!plan.at_return.empty()) { // see result_word in value_walker.hpp
    const wire::CaptureOp& result = plan.at_return.front();
    has_result_word_ =
        result.kind == CaptureKind::Value && result.size == kWord && result.offset == 0;
  }
  return std::any_of(readings_.begin(), readings_.end(),
                     [](const Reading& reading) { return reading.is_plain; });
}

char* PlainCall::put_guesses(char* at, std::span<const std::byte> entry) const {
  if (entry.size() < guessed_words_ * sizeof(WordField)) return nullptr;
  const std::byte* field = entry.data();
  for (std::size_t left = guessed_words_; left-- > 0; field += sizeof(WordField)) {
    WordField word;
    std::memcpy(&word, field, sizeof word);
    if (word.header != kWholeWord) return nullptr;
    at = put_guess(at, word.value);
    if (left != 0) at = put(at, ", ");
  }
  return at;
}

/// As ValueWalker::readings does, as long as nothing is learned.
char* PlainCall::put_readings(char* at, std::span<const std::byte> entry,
                              std::span<const std::byte> leave) const {
  struct [[gnu::packed]] Head {
    FieldHeader header;
    std::uint64_t captured, first_word;
  } head;
  if (entry.size() < sizeof head) return nullptr;
  std::memcpy(&head, entry.data(), sizeof head);
  if (head.header.size != 2 * kWord) return nullptr;
  const std::uint32_t known = known_->possible.load(std::memory_order_relaxed);
  auto possible = static_cast<std::uint32_t>(head.captured) & known;
  if (has_result_word_ && (possible & known_->in_memory) != 0) {
    WordField result;
    if (leave.size() < sizeof result) return nullptr;
    std::memcpy(&result, leave.data(), sizeof result);
    if (result.header != kWholeWord) return nullptr;
    if (result.value != head.first_word) possible &= ~known_->in_memory;
  }
  if (possible != known || possible == 0) return nullptr;
  return put_one_of(at, head.captured, possible, entry.subspan(sizeof head));
}

/// The fields of all readings that are in `captured` are there, and those of the last one where
/// that is not one reading.
char* PlainCall::put_one_of(char* at, std::uint64_t captured, std::uint32_t possible,
                            std::span<const std::byte> fields) const {
  const std::size_t last = readings_.size() - 1;
  std::size_t chosen = last;
  std::span<const std::byte> of_chosen;
  bool is_ambiguous = false;
  for (std::uint64_t left = captured; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(left));
    if (index >= last) return nullptr;
    const Reading& reading = readings_[index];
    const bool is_possible = (possible >> index & 1) != 0;
    // All that is possible behind it is none.
    if (is_possible && possible >> index == 1 && chosen == last) {
      if (!reading.is_plain) return nullptr;
      return put_values(at, reading.steps, fields);
    }
    if (!reading.is_plain) return nullptr;
    const std::span<const std::byte> begin = fields;
    for (std::size_t skipped = 0; skipped < reading.fields; ++skipped) {
      FieldHeader header;
      if (fields.size() < sizeof header) return nullptr;
      std::memcpy(&header, fields.data(), sizeof header);
      if (header.size == 0 || fields.size() - sizeof header < header.size) return nullptr;
      fields = fields.subspan(sizeof header + header.size);
    }
    if (!is_possible) continue;
    const auto bytes = begin.first(begin.size() - fields.size());
    if (chosen != last && !std::ranges::equal(bytes, of_chosen)) is_ambiguous = true;
    chosen = index;
    of_chosen = bytes;
  }
  if (chosen == last) return nullptr;
  if (!is_ambiguous) return put_values(at, readings_[chosen].steps, of_chosen);
  return readings_[last].is_plain ? put_values(at, readings_[last].steps, fields) : nullptr;
}

char* PlainCall::put_values(char* at, std::span<const Step> steps,
                            std::span<const std::byte> entry) {
  bool first = true;
  for (const Step& step : steps) {
    if (!first) at = put(at, ", ");
    first = false;
    at = put_value(at, step, entry);
    if (at == nullptr) return nullptr;
  }
  return at;
}

char* PlainCall::put_result(char* at, std::span<const std::byte> leave) const {
  if (result_ && result_->form == Form::Guess && result_->size == kWord) {
    WordField word;
    if (leave.size() < sizeof word) return nullptr;
    std::memcpy(&word, leave.data(), sizeof word);
    return word.header == kWholeWord ? put_guess(at, word.value) : nullptr;
  }
  if (result_) return put_value(at, *result_, leave);
  return is_void_ ? put(at, "<void>") : at;
}

inline char* PlainCall::put_value(char* at, const Step& step, std::span<const std::byte>& fields) {
  if (step.form == Form::Elided) return put(at, "...");
  FieldHeader header;
  if (fields.size() < sizeof header) return nullptr;
  std::memcpy(&header, fields.data(), sizeof header);
  const std::span<const std::byte> bytes = fields.subspan(sizeof header);
  if (header.size > bytes.size()) return nullptr;
  fields = bytes.subspan(header.size);
  if (step.form == Form::Reference) {
    if (header.size != kWord) return nullptr;
    if (header.state != FieldState::Whole && header.state != FieldState::Unreadable) return nullptr;
    return put_pointer(at, load<std::uint64_t>(bytes.data()));
  }
  if (step.form != Form::String) {
    if (header.state != FieldState::Whole || header.size != step.size) return nullptr;
    return put_number(at, step, bytes.data());
  }
  if (header.size < kWord) return nullptr;
  switch (header.state) {
    case FieldState::Whole:
    case FieldState::Cut:
      return put_string(at, step, bytes.subspan(kWord, header.size - kWord),
                        header.state == FieldState::Cut);
    case FieldState::Unreadable: return put_pointer(at, load<std::uint64_t>(bytes.data()));
    default: return nullptr;
  }
}

inline char* PlainCall::put_number(char* at, const Step& step, const std::byte* bytes) {
  const std::uint64_t number = number_of(bytes, step.size);
  switch (step.form) {
    case Form::Signed: return put_decimal(at, with_sign(number, step.size));
    case Form::Unsigned: return put_decimal(at, number);
    case Form::Guess:
      return put_guess(at, static_cast<std::uint64_t>(with_sign(number, step.size)));
    case Form::Hex:
      if (number == 0) return put(at, "0");
      return put_hex(at, number);
    case Form::Bool: return number != 0 ? put(at, "true") : put(at, "false");
    case Form::Pointer: return put_pointer(at, number);
    case Form::Reference:
    case Form::String:
    case Form::Elided: break; // are no numbers
  }
  return nullptr;
}

inline char* PlainCall::put_string(char* at, const Step& step, std::span<const std::byte> text,
                                   bool more) {
  const std::size_t shown = std::min<std::size_t>(text.size(), step.text_limit);
  *at++ = '"';
  at = put_escaped(at, {reinterpret_cast<const char*>(text.data()), shown}, '"');
  *at++ = '"';
  return more || shown < text.size() ? put(at, "...") : at;
}

} // namespace sonictrace
