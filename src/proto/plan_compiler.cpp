#include "proto/plan_compiler.hpp"

#include <algorithm>
#include <climits>
#include <limits>

#include "sonictrace/base/check.hpp"

namespace sonictrace::proto {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;
using wire::LengthKind;

constexpr std::size_t kMostSteps = 400; ///< of one list: a recursive type must not fill the memory
constexpr std::uint32_t kMostRoom = 60'000;  ///< bytes of one record
constexpr std::uint8_t kX87Room = 16;        ///< of st0, in the words of a return
constexpr std::uint8_t kScanStackWords = 24; ///< stack words kept for scanf's arguments

bool is_character(const Type& type) {
  return type.kind == TypeKind::Character || type.kind == TypeKind::WideCharacter;
}

/// Does this lens show an array of characters, or what points to one, as text?
bool is_text(Lens lens) {
  switch (lens) {
    case Lens::Text:
    case Lens::Path:
    case Lens::Bytes:
    case Lens::Format:
    case Lens::VaFormat:
    case Lens::ScanFormat: return true;
    default: return false;
  }
}

/// An enumeration of error numbers, with none of them for success.
bool is_error_number(const Type& type) {
  return type.names != nullptr &&
         std::any_of(type.names->begin(), type.names->end(),
                     [](const auto& name) { return name.first == "EINVAL"; });
}

Look look_of_scalar(const Type& type) {
  switch (type.lens) {
    case Lens::Guess: return Look::Guess;
    case Lens::Hex: return type.kind == TypeKind::Float ? Look::HexFloat : Look::Hex;
    case Lens::Octal: return type.kind == TypeKind::Float ? Look::Float : Look::Octal;
    case Lens::Bool: return Look::Bool;
    case Lens::BitVector: return Look::BitVector;
    case Lens::Enumeration: return Look::Enumeration;
    case Lens::Flags: return Look::Flags;
    default: break;
  }
  switch (type.kind) {
    case TypeKind::Signed: return Look::Signed;
    case TypeKind::Character: return Look::Character;
    case TypeKind::WideCharacter: return Look::WideCharacter;
    case TypeKind::Float: return Look::Float;
    default: return Look::Unsigned;
  }
}

} // namespace

PlanCompiler::PlanCompiler(const Prototype& prototype, const PlanOptions& options)
    : prototype_(prototype), options_(options), word_(word_of(options.convention)) {}

CallPlan PlanCompiler::compile() {
  plan_.guessed = prototype_.guessed;
  ArgumentPlaces places(options_.convention);
  const bool hidden = prototype_.result->kind == TypeKind::Struct &&
                      !place_of_result(*prototype_.result, options_.convention);
  if (hidden) places.skip_hidden_result();
  for (const Parameter& parameter : prototype_.parameters)
    places_.push_back(places.next(*parameter.type));
  variadic_ = places.variadic();

  compile_result();
  for (std::size_t index = 0; index < prototype_.parameters.size(); ++index)
    compile_parameter(index);
  plan_.entry_room = std::min(count_room(plan_.at_entry, 0, plan_.at_entry.size()), kMostRoom);
  plan_.return_room = std::min(count_room(plan_.at_return, 0, plan_.at_return.size()), kMostRoom);
  return std::move(plan_);
}

void PlanCompiler::compile_result() {
  const Type& type = *prototype_.result;
  if (type.kind == TypeKind::Void) plan_.result.shown = PlannedValue::Shown::Void;
  if (type.lens == Lens::Hide) plan_.result.shown = PlannedValue::Shown::Hidden;
  if (plan_.result.shown != PlannedValue::Shown::Value) return;
  Steps steps{plan_.at_return, plan_.return_looks, true};
  if (const auto placement = place_of_result(type, options_.convention)) {
    if (type.kind == TypeKind::Float && placement->eightbytes.front() == wire::kResultX87At)
      append_x87(steps, type); // i386: of whatever size
    else
      append_placed(steps, type, *placement);
    for (const std::uint32_t at : placement->eightbytes) {
      plan_.vectors_at_return |= at >= wire::kResultVectorAt && at < wire::kResultX87At;
      plan_.x87_at_return |= at >= wire::kResultX87At;
    }
  } else { // rax points to it
    const std::size_t pointer =
        begin(steps, {.kind = CaptureKind::Pointer, .size = word_}, {Look::Pointer, word_, {}});
    ++pointers_;
    append(steps, type, 0, {});
    --pointers_;
    end(steps, pointer);
  }
  plan_.result.return_steps = static_cast<std::uint16_t>(plan_.at_return.size());
}

void PlanCompiler::compile_parameter(std::size_t index) {
  const Parameter& parameter = prototype_.parameters[index];
  PlannedValue value;
  if (parameter.type->lens == Lens::Hide || parameter.type->kind == TypeKind::Void) {
    value.shown = PlannedValue::Shown::Hidden;
    plan_.parameters.push_back(value);
    return;
  }
  for (const std::uint32_t at : places_[index].eightbytes)
    plan_.vectors_at_entry |= at >= wire::kVectorWordsAt && at < wire::kStackWordsAt;

  Steps entry{plan_.at_entry, plan_.entry_looks, false};
  Steps leave{plan_.at_return, plan_.return_looks, true};
  value.out = parameter.out;
  value.entry_begin = static_cast<std::uint16_t>(entry.ops.size());
  value.return_begin = static_cast<std::uint16_t>(leave.ops.size());
  if (parameter.out) {
    // What it points to is not there yet: for a call that never returns, the pointer.
    if (places_[index].eightbytes.empty())
      append_elided(entry);
    else
      begin(entry, {.size = word_, .offset = places_[index].eightbytes.front()},
            {Look::Pointer, word_, {}});
    Placement kept = places_[index];
    for (std::uint32_t& at : kept.eightbytes)
      at = at_return(at);
    const auto filled = begin_filled(leave, *parameter.type, kept);
    append_placed(leave, *parameter.type, kept);
    if (filled) end(leave, *filled);
  } else {
    append_placed(entry, *parameter.type, places_[index]);
  }
  value.entry_steps = static_cast<std::uint16_t>(entry.ops.size() - value.entry_begin);
  value.return_steps = static_cast<std::uint16_t>(leave.ops.size() - value.return_begin);
  plan_.parameters.push_back(value);

  const Lens lens = parameter.type->lens;
  if (lens == Lens::Format || lens == Lens::VaFormat) append_print_arguments(index);
  if (lens == Lens::ScanFormat) append_scan_arguments(index);
}

/// The step that looks whether an out parameter was filled; nothing where the result can't tell.
std::optional<std::size_t> PlanCompiler::begin_filled(Steps& steps, const Type& type,
                                                      const Placement& placement) {
  const Type& result = *prototype_.result;
  if (!prototype_.shows_success_only || type.kind != TypeKind::Pointer ||
      placement.eightbytes.empty())
    return std::nullopt;
  auto failure = wire::Failure::Negative;
  if (result.kind == TypeKind::Pointer) failure = wire::Failure::Zero;
  else if (result.kind != TypeKind::Signed) return std::nullopt;
  else if (layout_of(result, word_).size == 8 &&
           options_.convention == CallingConvention::SystemV64)
    return std::nullopt; // strtol may well return a negative number
  else if (result.lens == Lens::Enumeration && is_error_number(result))
    failure = wire::Failure::NotZero;
  return begin(steps,
               {.kind = CaptureKind::Filled,
                .length = LengthKind::Word,
                .size = word_,
                .length_size = static_cast<std::uint8_t>(layout_of(result, word_).size),
                .length_signed = failure == wire::Failure::Negative,
                .limit = static_cast<std::uint16_t>(failure),
                .offset = placement.eightbytes.front()},
               {Look::Pointer, word_, {}});
}

void PlanCompiler::append_print_arguments(std::size_t index) {
  Steps steps{plan_.at_entry, plan_.entry_looks, false};
  CaptureOp op{.kind = CaptureKind::PrintArguments,
               .size = word_,
               .limit = text_limit(*prototype_.parameters[index].type),
               .offset = places_[index].eightbytes.front(),
               .length_at = variadic_};
  if (prototype_.parameters[index].type->lens == Lens::VaFormat) {
    if (index + 1 >= places_.size() || places_[index + 1].eightbytes.empty() || word_ != 8) return;
    op.kind = CaptureKind::PrintList;
    op.length_at = places_[index + 1].eightbytes.front();
  } else {
    plan_.vectors_at_entry = plan_.has_format = true;
  }
  PlannedValue value;
  value.entry_begin = static_cast<std::uint16_t>(steps.ops.size());
  value.entry_steps = 1;
  begin(steps, op, {Look::Arguments, word_, {}});
  plan_.parameters.push_back(value);
}

void PlanCompiler::append_scan_arguments(std::size_t index) {
  Steps steps{plan_.at_return, plan_.return_looks, true};
  PlannedValue value;
  value.out = true;
  value.return_begin = static_cast<std::uint16_t>(steps.ops.size());
  value.return_steps = 1;
  begin(steps,
        {.kind = CaptureKind::ScanArguments,
         .size = word_,
         .limit = text_limit(*prototype_.parameters[index].type),
         .offset = at_return(places_[index].eightbytes.front()),
         .length_at = variadic_},
        {Look::Arguments, word_, {}});
  plan_.kept_stack_words = std::max(plan_.kept_stack_words, kScanStackWords);
  plan_.parameters.push_back(value);
}

std::uint32_t PlanCompiler::at_return(std::uint32_t entry_place) {
  plan_.keeps_words = true;
  if (entry_place >= wire::kStackWordsAt) {
    // What is further out is read from the stack itself.
    const std::uint32_t words = std::min((entry_place - wire::kStackWordsAt) / 8 + 1, 255u);
    plan_.kept_stack_words = std::max(plan_.kept_stack_words, static_cast<std::uint8_t>(words));
  }
  return wire::kKeptWordsAt + entry_place;
}

std::uint16_t PlanCompiler::text_limit(const Type& type) const {
  const auto limit = std::min<std::uint32_t>(options_.string_limit, wire::kMaxCaptureLimit / 4);
  // limits.h counts the NUL in PATH_MAX.
  const std::uint32_t path = type.lens == Lens::Path ? PATH_MAX - 1 : 0;
  return static_cast<std::uint16_t>(std::max(limit, path));
}

std::size_t PlanCompiler::begin(Steps& steps, const CaptureOp& op, const RenderStep& look) {
  steps.ops.push_back(op);
  steps.looks.push_back(look);
  return steps.ops.size() - 1;
}

void PlanCompiler::end(Steps& steps, std::size_t step) {
  steps.ops[step].body = static_cast<std::uint16_t>(steps.ops.size() - 1 - step);
}

bool PlanCompiler::too_big(const Steps& steps) const {
  // Each of these is a level of the interpreter's.
  constexpr std::size_t kDeepest = wire::kDeepestCapture - 2;
  return steps.ops.size() >= kMostSteps || nesting_ >= kDeepest;
}

void PlanCompiler::append_elided(Steps& steps) {
  begin(steps, {.kind = CaptureKind::Nothing}, {Look::Elided, 0, {}});
}

/// st0 holds an extended number, whatever the type of the result.
void PlanCompiler::append_x87(Steps& steps, const Type& type) {
  begin(steps, {.size = kX87Room, .offset = wire::kResultX87At},
        {type.lens == Lens::Hex ? Look::HexFloat : Look::Float, type.size, {}});
}

void PlanCompiler::append_placed(Steps& steps, const Type& type, const Placement& placement) {
  if (placement.eightbytes.empty()) return append(steps, type, 0, {}); // an empty struct
  if (placement.contiguous) return append(steps, type, placement.eightbytes.front(), {});
  append_spread(steps, type, placement, 0, {});
}

/// Of a value in registers of both kinds, what lies at `offset`: its eightbytes lie apart.
void PlanCompiler::append_spread(Steps& steps, const Type& type, const Placement& placement,
                                 std::uint32_t offset, const Owner& owner) {
  const auto place = [&](std::uint32_t at) {
    SONICTRACE_CHECK(at / 8 < placement.eightbytes.size(), "a part of a value is nowhere");
    return placement.eightbytes[at / 8] + at % 8;
  };
  const std::uint32_t size = layout_of(type, word_).size;
  if (size == 0) return append_elided(steps);
  if (offset / 8 == (offset + size - 1) / 8) return append(steps, type, place(offset), owner);
  if (type.kind == TypeKind::Struct) {
    const std::size_t step = begin(steps, {.kind = CaptureKind::Struct}, {Look::Struct, 0, {}});
    Owner inner{&type, field_offsets(type, word_)};
    const auto offsets = inner.offsets;
    for (std::uint32_t& at : inner.offsets)
      at = place(std::min(offset + at, offset + size - 1));
    for (std::size_t at = 0; at < type.fields.size(); ++at)
      if (type.fields[at]->lens != Lens::Hide)
        append_spread(steps, *type.fields[at], placement, offset + offsets[at], inner);
    return end(steps, step);
  }
  if (type.kind == TypeKind::Array) { // its elements one by one
    const std::uint32_t count = std::min(type.length.number, options_.array_limit);
    const std::uint8_t more = count < type.length.number;
    const std::size_t step = begin(steps, {.kind = CaptureKind::Struct}, {Look::Array, more, {}});
    const std::uint32_t element = layout_of(*type.target, word_).size;
    for (std::uint32_t at = 0; at < count; ++at)
      append_spread(steps, *type.target, placement, offset + at * element, owner);
    return end(steps, step);
  }
  append_elided(steps);
}

void PlanCompiler::append(Steps& steps, const Type& type, std::uint32_t offset,
                          const Owner& owner) {
  if (too_big(steps)) return append_elided(steps);
  const bool text_array =
      type.kind == TypeKind::Array && is_text(type.lens) && is_character(*type.target);
  const bool is_compound = type.kind == TypeKind::Array || type.kind == TypeKind::Struct;
  if (is_compound && type.lens == Lens::BitVector) { // all of it is one set
    const std::uint32_t size = layout_of(type, word_).size;
    if (size == 0 || size > 255) return append_elided(steps);
    begin(steps, {.size = static_cast<std::uint8_t>(size), .offset = offset},
          {Look::BitVector, static_cast<std::uint8_t>(size), {}});
    return;
  }
  switch (type.kind) {
    case TypeKind::Struct: return append_struct(steps, type, offset);
    case TypeKind::Array:
      if (text_array) return append_text(steps, type, offset, owner);
      return append_array(steps, type, offset, owner);
    case TypeKind::Pointer: return append_pointer(steps, type, offset, owner);
    case TypeKind::Void: return append_elided(steps);
    default: break;
  }
  const auto size = static_cast<std::uint8_t>(layout_of(type, word_).size);
  begin(steps, {.size = size, .offset = offset},
        {look_of_scalar(type), type.kind == TypeKind::Float ? type.size : size, type.names});
}

void PlanCompiler::append_struct(Steps& steps, const Type& type, std::uint32_t offset) {
  // As ltrace does, a struct that is passed by value is shown even where the limit is 0.
  const auto levels = std::count(within_.begin(), within_.end(), &type);
  const bool is_passed = pointers_ == 0 && !steps.at_return;
  if (levels >= static_cast<std::ptrdiff_t>(options_.array_limit) && !is_passed)
    return append_elided(steps);
  within_.push_back(&type);
  const std::size_t step =
      begin(steps, {.kind = CaptureKind::Struct, .offset = offset}, {Look::Struct, 0, {}});
  const Owner owner{&type, field_offsets(type, word_)};
  ++nesting_;
  for (std::size_t at = 0; at < type.fields.size(); ++at)
    if (type.fields[at]->lens != Lens::Hide)
      append(steps, *type.fields[at], owner.offsets[at], owner);
  --nesting_;
  end(steps, step);
  within_.pop_back();
}

void PlanCompiler::append_array(Steps& steps, const Type& type, std::uint32_t offset,
                                const Owner& owner) {
  const std::uint32_t element = layout_of(*type.target, word_).size;
  if (element == 0) return append_elided(steps);
  CaptureOp op{.kind = CaptureKind::Array,
               .limit =
                   static_cast<std::uint16_t>(std::min<std::uint32_t>(options_.array_limit, 4096)),
               .offset = offset,
               .element_size = element};
  set_length(op, type.length, owner, steps.at_return);
  const std::size_t step = begin(steps, op, {Look::Array, 0, {}});
  ++nesting_;
  append(steps, *type.target, 0, owner);
  --nesting_;
  end(steps, step);
}

void PlanCompiler::append_pointer(Steps& steps, const Type& type, std::uint32_t offset,
                                  const Owner& owner) {
  const Type& target = *type.target;
  if (type.lens == Lens::Enumeration) { // SIG_IGN, MAP_FAILED
    begin(steps, {.size = word_, .offset = offset}, {Look::Pointer, word_, type.names});
    return;
  }
  if (type.lens == Lens::Hex || type.lens == Lens::Guess ||
      type.lens == Lens::Octal || type.lens == Lens::Bool || type.lens == Lens::Flags) {
    begin(steps, {.size = word_, .offset = offset}, {look_of_scalar(type), word_, type.names});
    return;
  }
  const bool to_text =
      is_text(type.lens) &&
      (target.kind == TypeKind::Array ? is_character(*target.target) : is_character(target));
  // How long it is turns out at the return only.
  const bool is_unknown = target.kind == TypeKind::Array && !steps.at_return &&
                          target.length.source == Length::Source::Result;
  if (to_text && !is_unknown) return append_text(steps, type, offset, owner);
  const bool followed = !is_unknown && type.lens != Lens::Address &&
                        target.kind != TypeKind::Void && !target.is_declared_only &&
                        target.lens != Lens::Hide;
  if (!followed) {
    begin(steps, {.size = word_, .offset = offset},
          {type.null_is_zero ? Look::ZeroPointer : Look::Pointer, word_, {}});
    return;
  }
  const std::size_t step =
      begin(steps, {.kind = CaptureKind::Pointer, .size = word_, .offset = offset},
            {Look::Pointer, word_, {}});
  ++nesting_;
  ++pointers_;
  append(steps, target, 0, owner);
  --pointers_;
  --nesting_;
  end(steps, step);
}

void PlanCompiler::append_text(Steps& steps, const Type& type, std::uint32_t offset,
                               const Owner& owner) {
  const bool is_inline = type.kind == TypeKind::Array;
  const Type& inner = is_inline ? type : *type.target;
  const Type& character = inner.kind == TypeKind::Array ? *inner.target : inner;
  // A lone `char*` under a text lens has no length of its own: it ends at its NUL.
  const Length length =
      inner.kind == TypeKind::Array ? inner.length : Length{Length::Source::Unlimited, 0, true};
  CaptureOp op{.kind = is_inline ? CaptureKind::InlineText : CaptureKind::Text,
               .size = static_cast<std::uint8_t>(character.kind == TypeKind::WideCharacter ? 4 : 1),
               .limit = text_limit(type),
               .offset = offset,
               .element_size = word_};
  set_length(op, length, owner, steps.at_return);
  const bool wide = character.kind == TypeKind::WideCharacter;
  const Look look = wide                       ? Look::WideText
                    : type.lens == Lens::Path  ? Look::Path
                    : type.lens == Lens::Bytes ? Look::Bytes
                                               : Look::Text;
  begin(steps, op, {look, op.size, {}});
}

void PlanCompiler::set_length(CaptureOp& op, const Length& length, const Owner& owner,
                              bool is_at_return) {
  op.until_zero = length.until_zero || length.source == Length::Source::Unlimited;
  switch (length.source) {
    case Length::Source::Unlimited: op.length = LengthKind::None; return;
    case Length::Source::Constant:
      op.length = LengthKind::Constant;
      op.length_at = length.number;
      return;
    case Length::Source::Argument: {
      const std::size_t index = length.number - 1;
      SONICTRACE_CHECK(index < places_.size(), "a length refers to an argument that is not there");
      const Type& type = *prototype_.parameters[index].type;
      if (places_[index].eightbytes.empty()) { // an empty struct
        op.length = LengthKind::Constant;
        return;
      }
      const std::uint32_t place = places_[index].eightbytes.front();
      const Layout layout = layout_of(type, word_);
      op.length = LengthKind::Word;
      op.length_at = is_at_return ? at_return(place) : place;
      op.length_size = static_cast<std::uint8_t>(std::clamp<std::uint32_t>(layout.size, 1, 8));
      op.length_signed = type.kind == TypeKind::Signed;
      return;
    }
    case Length::Source::Result: {
      // At the entry nobody knows it yet.
      op.length = is_at_return ? LengthKind::Word : LengthKind::Constant;
      op.length_at = 0;
      const Layout layout = layout_of(*prototype_.result, word_);
      op.length_size = static_cast<std::uint8_t>(std::clamp<std::uint32_t>(layout.size, 1, 8));
      op.length_signed = prototype_.result->kind == TypeKind::Signed;
      return;
    }
    case Length::Source::Element: {
      const std::size_t index = length.number - 1;
      if (owner.type == nullptr || index >= owner.offsets.size()) {
        op.length = LengthKind::Constant;
        op.length_at = 0;
        return;
      }
      const Type& type = *owner.type->fields[index];
      op.length = LengthKind::Element;
      op.length_at = owner.offsets[index];
      op.length_size =
          static_cast<std::uint8_t>(std::clamp<std::uint32_t>(layout_of(type, word_).size, 1, 8));
      op.length_signed = type.kind == TypeKind::Signed;
      return;
    }
  }
}

/// What the steps from `begin` to `end` can fill at most.
std::uint32_t PlanCompiler::count_room(const std::vector<CaptureOp>& ops, std::size_t begin,
                                       std::size_t end) const {
  std::uint64_t room = 0;
  for (std::size_t at = begin; at < end; at += std::size_t{1} + ops[at].body) {
    const CaptureOp& op = ops[at];
    const std::uint64_t text = 12 + (op.limit + std::uint64_t{1}) * op.size;
    const std::uint64_t body = op.body == 0 ? 0 : count_room(ops, at + 1, at + 1 + op.body);
    switch (op.kind) {
      case CaptureKind::Value: room += 4 + std::max<std::uint64_t>(op.size, 8); break;
      case CaptureKind::Text:
      case CaptureKind::InlineText: room += text; break;
      case CaptureKind::Filled:
      case CaptureKind::Pointer: room += 12 + body; break;
      case CaptureKind::Array: room += 12 + body * op.limit; break;
      case CaptureKind::Struct: room += body; break;
      case CaptureKind::PrintArguments:
      case CaptureKind::PrintList:
      case CaptureKind::ScanArguments:
        room += 16 + wire::kMostFormatArguments * (12 + (op.limit + std::uint64_t{1}) * 4);
        break;
      case CaptureKind::Nothing: break;
    }
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(room, kMostRoom));
}

CallPlan compile(const Prototype& prototype, const PlanOptions& options) {
  return PlanCompiler(prototype, options).compile();
}

std::shared_ptr<const CallPlan> empty_plan() {
  static const auto plan = [] {
    CallPlan empty;
    empty.result.shown = PlannedValue::Shown::Hidden;
    return std::make_shared<const CallPlan>(std::move(empty));
  }();
  return plan;
}

} // namespace sonictrace::proto
