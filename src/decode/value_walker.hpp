#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "decode/field_reader.hpp"
#include "decode/utf8.hpp"
#include "sonictrace/decode/render.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/wire/capture.hpp"
#include "sonictrace/wire/format.hpp"

namespace sonictrace {

/// One text, as it was captured.
struct CapturedText {
  proto::Look look; ///< Text, WideText, Path or Bytes
  std::string_view bytes;
  bool more; ///< there was more, or its end could not be read
};

/// Takes in what a plan's steps show, in one pass. Makes nothing of it: steps over values.
///
/// This is also what a visitor has to have.
struct SkippedValues {
  void missing() {}
  void elided() {}
  /// The struct that a pointer leads to is the innermost one around it (0), or further out.
  void recursion(unsigned) {}
  void pointer(std::uint64_t, bool /*null_is_zero*/) {}
  /// Not of the looks that have a method of their own. The bytes are as many as the look needs.
  void scalar(const proto::RenderStep&, std::span<const std::byte>) {}
  void text(const CapturedText&) {}
  void begin_struct() {}
  void end_struct() {}
  void begin_array() {}
  void end_array(bool /*more*/) {}
  void begin_list() {}
  void end_list(bool /*more*/) {}
  void nothing() {}   ///< an optional value that is not there
  void separator() {} ///< between arguments, elements and fields
};

/// Walks steps and the fields that they captured, side by side, exactly as wire::CaptureInterpreter
/// does. The fields may be any bytes: what is missing or malformed is `missing`.
template <class Visitor>
class ValueWalker {
public:
  ValueWalker(const std::vector<wire::CaptureOp>& ops, const std::vector<proto::RenderStep>& looks,
              FieldReader& fields, Visitor& visitor)
      : ValueWalker(ops.data(), looks.data(), fields, visitor) {}
  ValueWalker(const wire::CaptureOp* ops, const proto::RenderStep* looks, FieldReader& fields,
              Visitor& visitor)
      : ops_(ops), looks_(looks), fields_(fields), visitor_(visitor) {}

  /// The value whose steps begin at `step`.
  void value(std::size_t step, unsigned nesting = 0) {
    using wire::CaptureKind;
    switch (ops_[step].kind) {
      case CaptureKind::Value: return scalar(step);
      case CaptureKind::Text:
      case CaptureKind::InlineText: return text(step);
      case CaptureKind::Filled:
      case CaptureKind::Pointer: return pointer(step, nesting);
      case CaptureKind::Array: return array(step, nesting);
      case CaptureKind::Struct: return structure(step, nesting);
      case CaptureKind::PrintArguments:
      case CaptureKind::PrintList:
      case CaptureKind::ScanArguments: {
        bool first = true;
        return arguments(step, first);
      }
      case CaptureKind::Nothing: return visitor_.elided();
      case CaptureKind::Sequence: return sequence(step, nesting);
      case CaptureKind::Check: return;
      case CaptureKind::Choice: {
        bool first = true;
        return readings(step, first, nullptr, std::nullopt);
      }
      case CaptureKind::Reading: { // only within a Choice
        bool first = true;
        return reading(step, first);
      }
    }
  }

  /// The arguments of a call that there is more than one way to read. `known`: what calls have
  /// ruled out so far. `result`: rax, where the call has returned.
  void readings(std::size_t step, bool& first, proto::KnownReadings* known,
                std::optional<std::uint64_t> result) {
    CapturedField head;
    if (!fields_.next(head) || head.size < 2 * sizeof(std::uint64_t)) {
      if (!first) visitor_.separator();
      first = false;
      return visitor_.missing();
    }
    const std::uint64_t captured = number_in(head.bytes, sizeof captured);
    const std::uint64_t first_word = number_in(head.bytes + sizeof captured, sizeof captured);
    auto possible = static_cast<std::uint32_t>(captured);
    if (known != nullptr) {
      // psABI, 3.2.3: a result in memory is at rax as it was at the first argument.
      if (result && *result != first_word) possible &= ~known->in_memory;
      possible &= known->possible.load(std::memory_order_relaxed);
      if (possible != 0) known->possible.fetch_and(possible, std::memory_order_relaxed);
    }
    const std::size_t end = step + 1 + ops_[step].body;
    std::size_t last = step + 1; // the reading for when it is not known
    while (last + 1 + ops_[last].body < end)
      last += std::size_t{1} + ops_[last].body;

    // Readings that have captured the same show the same.
    SkippedValues nowhere;
    ValueWalker<SkippedValues> skipped(ops_, looks_, fields_, nowhere);
    std::optional<std::size_t> chosen;
    std::optional<FieldReader> chosen_fields;
    std::span<const std::byte> chosen_bytes;
    bool is_ambiguous = false;
    std::uint64_t bit = 1;
    for (std::size_t at = step + 1; at < last; at += std::size_t{1} + ops_[at].body, bit <<= 1) {
      if ((captured & bit) == 0) continue;
      const FieldReader begin = fields_;
      skipped.value(at);
      if ((possible & bit) == 0) continue;
      const std::span bytes(begin.position(), fields_.position());
      if (chosen &&
          !std::equal(bytes.begin(), bytes.end(), chosen_bytes.begin(), chosen_bytes.end()))
        is_ambiguous = true;
      chosen = at;
      chosen_fields = begin;
      chosen_bytes = bytes;
    }
    const bool has_last = !std::has_single_bit(captured);
    if (chosen && !is_ambiguous) {
      FieldReader of_chosen = *chosen_fields;
      ValueWalker(ops_, looks_, of_chosen, visitor_).reading(*chosen, first);
      if (has_last) skipped.value(last);
    } else if (has_last) {
      reading(last, first);
    } else { // what was possible was ruled out: no reading is right
      if (!first) visitor_.separator();
      first = false;
      visitor_.elided();
    }
  }

  /// The arguments behind a format. `first`: no argument was shown so far.
  void arguments(std::size_t step, bool& first) {
    CapturedField field;
    for (;;) {
      const bool there = fields_.next(field);
      if (there && field.tag == 0) {
        if (field.state != FieldState::Cut) return;
        if (!first) visitor_.separator(); // there may be more of them
        first = false;
        return visitor_.elided();
      }
      if (!first) visitor_.separator();
      first = false;
      if (!there) return visitor_.missing();
      argument(ops_[step], field);
    }
  }

private:
  using FieldState = wire::FieldState;
  using Look = proto::Look;

  void reading(std::size_t step, bool& first) {
    const std::size_t end = step + 1 + ops_[step].body;
    for (std::size_t at = step + 1; at < end; at += std::size_t{1} + ops_[at].body) {
      if (ops_[at].kind == wire::CaptureKind::Check) continue;
      if (!first) visitor_.separator();
      first = false;
      value(at);
    }
  }

  void sequence(std::size_t step, unsigned nesting) {
    const Look look = looks_[step].look;
    CapturedField field;
    if (!fields_.next(field) || !field.has_word()) return visitor_.missing();
    if (field.state == FieldState::Deep) return visitor_.elided();
    if (field.state == FieldState::Unreadable) { // no such object
      // A place among the call's words is no address.
      return field.number() == 0 ? visitor_.elided() : visitor_.pointer(field.number(), false);
    }
    if (look == Look::Bytes || look == Look::WideText) return text(look, field, true);
    const std::uint64_t count = field.number();
    if (count > ops_[step].limit || ops_[step].body == 0) return visitor_.missing();
    if (look == Look::Optional)
      return count == 0 ? visitor_.nothing() : value(step + 1, nesting + 1);
    visitor_.begin_list();
    elements(step, count, field.state != FieldState::Whole, nesting,
             [&](bool more) { visitor_.end_list(more); });
  }

  template <class End>
  void elements(std::size_t step, std::uint64_t count, bool more, unsigned nesting, End end) {
    for (std::uint64_t at = 0; at < count; ++at) {
      if (at > 0) visitor_.separator();
      const bool ended = ops_[step + 1].kind != wire::CaptureKind::Nothing && fields_.at_end();
      if (ops_[step].body != 0) value(step + 1, nesting + 1);
      if (!ended) continue;
      more = more || at + 1 < count; // one `?` stands for all that did not fit
      break;
    }
    end(more);
  }

  static bool is_float(Look look) { return look == Look::Float || look == Look::HexFloat; }
  /// Of a long double's 16 bytes, or 12 on i386, 10 count.
  static bool is_size_of_float(std::size_t size) {
    return size == 4 || size == 8 || (size >= 10 && size <= 16);
  }
  static bool fits(const CapturedField& field, const proto::RenderStep& look) {
    return is_float(look.look) ? is_size_of_float(field.size) : field.size >= look.size;
  }

  static bool has_name(const proto::NameTable& names, std::uint64_t value) {
    for (const auto& [name, number] : names)
      if (static_cast<std::uint64_t>(number) == value) return true;
    return false;
  }

  void scalar(std::size_t step) {
    const proto::RenderStep& look = looks_[step];
    CapturedField field;
    if (!fields_.next(field) || field.state != FieldState::Whole || !fits(field, look))
      return visitor_.missing();
    const bool is_pointer = look.look == Look::Pointer || look.look == Look::ZeroPointer;
    if (is_pointer && look.names != nullptr && has_name(*look.names, field.number()))
      return visitor_.scalar({Look::Enumeration, look.size, look.names}, {field.bytes, field.size});
    if (is_pointer) return visitor_.pointer(field.number(), look.look == Look::ZeroPointer);
    visitor_.scalar(look, {field.bytes, field.size});
  }

  void text(std::size_t step) {
    const bool behind_pointer = ops_[step].kind == wire::CaptureKind::Text;
    CapturedField field;
    if (!fields_.next(field)) return visitor_.missing();
    text(looks_[step].look, field, behind_pointer);
  }

  void text(Look look, const CapturedField& field, bool behind_pointer) {
    if (!field.has_word()) return visitor_.missing();
    if (look == Look::TextOrAddress) {
      look = Look::Text;
      const bool is_whole = field.state == FieldState::Whole || field.state == FieldState::Cut;
      if (is_whole && !is_printable(field.text(), field.state == FieldState::Cut))
        return visitor_.pointer(field.number(), false);
      if (field.state == FieldState::Broken && !field.text().empty())
        return visitor_.pointer(field.number(), false);
    }
    switch (field.state) {
      case FieldState::Whole: return visitor_.text({look, field.text(), false});
      case FieldState::Cut: return visitor_.text({look, field.text(), true});
      case FieldState::Broken:
        // Without a text: not even the pointer could be read.
        if (field.text().empty()) return visitor_.missing();
        return visitor_.text({look, field.text(), true});
      case FieldState::Unreadable:
        return behind_pointer ? visitor_.pointer(field.number(), false) : visitor_.missing();
      default: return visitor_.missing();
    }
  }

  void pointer(std::size_t step, unsigned nesting) {
    CapturedField field;
    if (!fields_.next(field) || !field.has_word()) return visitor_.missing();
    switch (field.state) {
      case FieldState::Whole:
        if (ops_[step].body != 0) return value(step + 1, nesting + 1);
        return visitor_.pointer(field.number(), false);
      case FieldState::Unreadable: return visitor_.pointer(field.number(), false);
      case FieldState::Recursive:
        // There are no more levels than that; more of them are made up.
        if (field.tag >= wire::kDeepestCapture) return visitor_.missing();
        return visitor_.recursion(field.tag);
      case FieldState::Deep: return visitor_.elided();
      default: return visitor_.missing();
    }
  }

  void array(std::size_t step, unsigned nesting) {
    CapturedField field;
    if (!fields_.next(field) || !field.has_word()) return visitor_.missing();
    if (field.state == FieldState::Unreadable) {
      // A place among the call's words is no address.
      if (field.number() == 0) return visitor_.missing();
      return visitor_.pointer(field.number(), false);
    }
    const std::uint64_t count = field.number();
    if (count > ops_[step].limit) return visitor_.missing();
    visitor_.begin_array();
    elements(step, count, field.state != FieldState::Whole, nesting,
             [&](bool more) { visitor_.end_array(more); });
  }

  /// Of a struct, or of an array whose elements lie apart: its look is Array, its size not 0 where
  /// there are more of them.
  void structure(std::size_t step, unsigned nesting) {
    if (nesting >= wire::kDeepestCapture) return visitor_.elided();
    const bool is_array = looks_[step].look == Look::Array;
    const bool is_struct = looks_[step].look == Look::Struct;
    if (is_array) visitor_.begin_array();
    if (is_struct) visitor_.begin_struct();
    const std::size_t end = step + 1 + ops_[step].body;
    bool first = true;
    for (std::size_t at = step + 1; at < end; at += std::size_t{1} + ops_[at].body) {
      if (ops_[at].kind == wire::CaptureKind::Check) continue;
      if (!first) visitor_.separator();
      first = false;
      value(at, nesting + 1);
    }
    if (is_array) visitor_.end_array(looks_[step].size != 0);
    if (is_struct) visitor_.end_struct();
  }

  void argument(const wire::CaptureOp& op, const CapturedField& field) {
    const auto tag = static_cast<wire::ArgumentTag>(field.tag);
    switch (tag) {
      case wire::ArgumentTag::Text: return text(Look::Text, field, true);
      case wire::ArgumentTag::Buffer: return text(Look::Bytes, field, true);
      case wire::ArgumentTag::WideText: return text(Look::WideText, field, true);
      default: break;
    }
    if (field.state == FieldState::Unreadable && field.has_word() &&
        op.kind == wire::CaptureKind::ScanArguments)
      return visitor_.pointer(field.number(), false); // what a wild pointer leads to
    if (field.state != FieldState::Whole) return visitor_.missing();
    const std::span<const std::byte> bytes{field.bytes, field.size};
    const auto show = [&](Look look) {
      visitor_.scalar({look, static_cast<std::uint8_t>(field.size), {}}, bytes);
    };
    const bool is_real = tag == wire::ArgumentTag::Float || tag == wire::ArgumentTag::HexFloat;
    if (is_real ? !is_size_of_float(field.size) : field.size > 8) return visitor_.missing();
    switch (tag) {
      case wire::ArgumentTag::Signed: return show(Look::FormatSigned);
      case wire::ArgumentTag::Unsigned: return show(Look::FormatUnsigned);
      case wire::ArgumentTag::Hex: return show(Look::Hex);
      case wire::ArgumentTag::Octal: return show(Look::Octal);
      case wire::ArgumentTag::Binary: return show(Look::Binary);
      case wire::ArgumentTag::Character: return show(Look::Character);
      case wire::ArgumentTag::WideCharacter: return show(Look::WideCharacter);
      case wire::ArgumentTag::Float: return show(Look::Float);
      case wire::ArgumentTag::HexFloat: return show(Look::FormatHexFloat);
      case wire::ArgumentTag::Pointer: return visitor_.pointer(field.number(), true);
      default: return visitor_.missing();
    }
  }

  const wire::CaptureOp* ops_;
  const proto::RenderStep* looks_;
  FieldReader& fields_;
  Visitor& visitor_;
};

/// Which arguments are not there, by the values of those before them. Of a call's first few.
class ArgumentConditions {
public:
  /// The next parameter, whose fields come next.
  void see(const proto::CallPlan& plan, const proto::PlannedValue& parameter,
           const FieldReader& fields) {
    const std::size_t index = static_cast<std::size_t>(&parameter - plan.parameters.data());
    if (index >= values_.size() || parameter.entry_steps != 1) return;
    FieldReader ahead = fields;
    CapturedField field;
    if (!ahead.next(field) || field.size > sizeof(std::uint64_t)) return;
    std::uint64_t value = field.number();
    if (field.size == 4) value = static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
    values_[index] = static_cast<std::int64_t>(value);
  }

  bool is_absent(const proto::PlannedValue& parameter) const {
    if (parameter.depends_on == 0 || parameter.depends_on > values_.size()) return false;
    const auto& value = values_[parameter.depends_on - 1u];
    return value && std::find(parameter.absent_for.begin(), parameter.absent_for.end(), *value) !=
                        parameter.absent_for.end();
  }

private:
  std::array<std::optional<std::int64_t>, 8> values_;
};

/// rax of a call that has returned, where the plan captures it.
inline std::optional<std::uint64_t> result_word(const proto::CallPlan& plan,
                                                std::optional<std::span<const std::byte>> leave) {
  if (!leave || plan.at_return.empty()) return std::nullopt;
  const wire::CaptureOp& op = plan.at_return.front();
  if (op.kind != wire::CaptureKind::Value || op.size != sizeof(std::uint64_t) || op.offset != 0)
    return std::nullopt;
  FieldReader fields(*leave);
  CapturedField field;
  if (!fields.next(field) || field.state != wire::FieldState::Whole || field.size != op.size)
    return std::nullopt;
  return field.number();
}

/// Walks the arguments of a call: see append_arguments.
template <class Visitor>
void walk_arguments(const proto::CallPlan& plan, std::span<const std::byte> entry,
                    std::optional<std::span<const std::byte>> leave, ArgumentPart part,
                    Visitor& visitor) {
  using proto::Look;
  using proto::PlannedValue;
  SkippedValues nowhere;
  FieldReader entry_fields(entry), leave_fields(leave ? *leave : std::span<const std::byte>());
  // A call that never returned captured nothing at a return.
  const bool returned = leave && !leave->empty();
  ValueWalker at_entry(plan.at_entry, plan.entry_looks, entry_fields, visitor);
  ValueWalker at_return(plan.at_return, plan.return_looks, leave_fields, visitor);

  ArgumentConditions conditions;
  bool first = true;
  bool shown = part != ArgumentPart::Rest;
  bool in_leave = false;
  for (const PlannedValue& parameter : plan.parameters) {
    if (parameter.out) {
      if (part == ArgumentPart::Entry) return;
      shown = true;
    }
    if (parameter.shown != PlannedValue::Shown::Value) continue;
    if (plan.has_conditions) conditions.see(plan, parameter, entry_fields);
    const bool absent = plan.has_conditions && conditions.is_absent(parameter);
    if (!shown) { // by an Entry, before
      ValueWalker skipped(plan.at_entry, plan.entry_looks, entry_fields, nowhere);
      if (parameter.entry_steps != 0) skipped.value(parameter.entry_begin);
      const bool is_list = parameter.entry_steps != 0 &&
                           plan.entry_looks[parameter.entry_begin].look == Look::Arguments;
      first = first && (is_list || absent);
      continue;
    }
    const bool from_return = parameter.out && returned;
    if (from_return && !in_leave) {
      in_leave = true;
      ValueWalker skipped(plan.at_return, plan.return_looks, leave_fields, nowhere);
      if (plan.result.return_steps != 0) skipped.value(plan.result.return_begin);
    }
    if (from_return && parameter.entry_steps != 0) {
      ValueWalker skipped(plan.at_entry, plan.entry_looks, entry_fields, nowhere);
      skipped.value(parameter.entry_begin);
    }
    const std::size_t steps = from_return ? parameter.return_steps : parameter.entry_steps;
    if (steps == 0) continue;
    const std::size_t begin = from_return ? parameter.return_begin : parameter.entry_begin;
    const auto& looks = from_return ? plan.return_looks : plan.entry_looks;
    if (absent) {
      ValueWalker skipped(from_return ? plan.at_return : plan.at_entry, looks,
                          from_return ? leave_fields : entry_fields, nowhere);
      skipped.value(begin);
      continue;
    }
    auto& walker = from_return ? at_return : at_entry;
    if (looks[begin].look == Look::Arguments) {
      walker.arguments(begin, first);
      continue;
    }
    if (looks[begin].look == Look::Readings) {
      walker.readings(begin, first, plan.readings.get(), result_word(plan, leave));
      continue;
    }
    if (!first) visitor.separator();
    first = false;
    walker.value(begin);
  }
}

/// The result's value; it has one.
template <class Visitor>
void walk_result(const proto::CallPlan& plan, std::span<const std::byte> leave, Visitor& visitor) {
  FieldReader fields(leave);
  ValueWalker walker(plan.at_return, plan.return_looks, fields, visitor);
  if (plan.result.return_steps == 0) return visitor.missing();
  walker.value(plan.result.return_begin);
}

} // namespace sonictrace
