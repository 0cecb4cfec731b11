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

constexpr std::uint32_t kMostRoom = 400'000; ///< bytes of one record
constexpr std::uint8_t kScanStackWords = 24; ///< stack words kept for scanf's arguments

/// Bytes of a character of a format.
std::uint32_t format_unit(const Type& type) {
  const Type* inner = type.target;
  if (inner != nullptr && inner->kind == TypeKind::Array) inner = inner->target;
  return inner != nullptr && inner->kind == TypeKind::WideCharacter ? 4 : 1;
}

} // namespace

PlanCompiler::PlanCompiler(const Prototype& prototype, const PlanOptions& options,
                           std::uint32_t levels)
    : prototype_(prototype), options_(options), levels_(levels),
      word_(word_of(options.convention)) {}

CallPlan PlanCompiler::compile() {
  plan_.guessed = prototype_.guessed;
  ArgumentPlaces places(options_.convention);
  const bool hidden = prototype_.result->kind == TypeKind::Struct &&
                      !place_of_result(*prototype_.result, options_.convention);
  if (hidden) places.skip_hidden_result();
  if (!prototype_.readings.empty()) {
    compile_result();
    compile_readings();
    return finish();
  }
  for (const Parameter& parameter : prototype_.parameters)
    places_.push_back(places.next(*parameter.type));
  variadic_ = places.variadic();

  compile_result();
  for (std::size_t index = 0; index < prototype_.parameters.size(); ++index)
    compile_parameter(index);
  return finish();
}

CallPlan PlanCompiler::finish() {
  plan_.entry_room = std::min(count_room(plan_.at_entry, 0, plan_.at_entry.size()), kMostRoom);
  plan_.return_room = std::min(count_room(plan_.at_return, 0, plan_.at_return.size()), kMostRoom);
  return std::move(plan_);
}

/// All arguments are one value, that turns out to be as one of the readings has it.
void PlanCompiler::compile_readings() {
  plan_.readings = std::make_shared<KnownReadings>();
  std::uint32_t bit = 1;
  Steps steps{plan_.at_entry, plan_.entry_looks, false};
  const std::size_t choice = begin(steps, {.kind = CaptureKind::Choice}, {Look::Readings, 0, {}});
  for (const Reading& reading : prototype_.readings) {
    append_reading(steps, reading.parameters, true);
    plan_.readings->possible |= bit;
    if (reading.result_in_memory) plan_.readings->in_memory |= bit;
    bit <<= 1;
  }
  append_reading(steps, prototype_.parameters, false);
  end(steps, choice);
  PlannedValue value;
  value.entry_steps = static_cast<std::uint16_t>(plan_.at_entry.size());
  plan_.parameters.push_back(value);
}

void PlanCompiler::append_reading(Steps& steps, const std::vector<Parameter>& parameters,
                                  bool is_checked) {
  const std::size_t step = begin(steps, {.kind = CaptureKind::Reading}, {Look::Readings, 0, {}});
  ArgumentPlaces places(options_.convention);
  for (const Parameter& parameter : parameters) {
    const Type& type = *parameter.type;
    const Placement placement = places.next(type);
    if (type.lens == Lens::Hide) {
      if (is_checked && type.is_reference)
        begin(steps,
              {.kind = CaptureKind::Check, .detail = 1, .offset = placement.eightbytes.front()},
              {Look::Elided, 0, {}});
      continue;
    }
    for (const std::uint32_t at : placement.eightbytes)
      plan_.vectors_at_entry |= at >= wire::kVectorWordsAt && at < wire::kStackWordsAt;
    if (is_checked && type.lens == Lens::Bool && !placement.eightbytes.empty()) // psABI, 3.1.2
      begin(steps,
            {.kind = CaptureKind::Check,
             .size = 1,
             .offset = placement.eightbytes.front(),
             .length_at = 0xfe},
            {Look::Elided, 0, {}});
    if (is_checked && type.kind == TypeKind::Pointer && !type.is_reference &&
        !placement.eightbytes.empty())
      begin(steps,
            {.kind = CaptureKind::Check, .detail = 2, .offset = placement.eightbytes.front()},
            {Look::Elided, 0, {}});
    append_placed(steps, type, placement);
  }
  end(steps, step);
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
  planned_.push_back(plan_.parameters.size());
  PlannedValue value;
  if (parameter.depends_on > 0 && parameter.depends_on <= index) {
    value.depends_on = static_cast<std::uint8_t>(planned_[parameter.depends_on - 1] + 1);
    value.absent_for = parameter.absent_for;
    plan_.has_conditions = true;
  }
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
    const auto filled = begin_filled(leave, parameter, kept);
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
std::optional<std::size_t> PlanCompiler::begin_filled(Steps& steps, const Parameter& parameter,
                                                      const Placement& placement) {
  const Type& result = *prototype_.result;
  if (parameter.type->kind != TypeKind::Pointer || placement.eightbytes.empty())
    return std::nullopt;
  auto failure = wire::Failure::Negative;
  switch (parameter.when) {
    case Parameter::When::Always: return std::nullopt;
    case Parameter::When::IfPositive:
      if (result.kind != TypeKind::Signed) return std::nullopt;
      failure = wire::Failure::NotPositive;
      break;
    case Parameter::When::Default:
      if (!prototype_.shows_success_only) return std::nullopt;
      if (result.kind == TypeKind::Pointer)
        failure = wire::Failure::Zero;
      else if (result.kind != TypeKind::Signed)
        return std::nullopt;
      else if (result.lens == Lens::Enumeration)
        failure = wire::Failure::NotZero;
      else if (layout_of(result, word_).size == 8 &&
               options_.convention == CallingConvention::SystemV64)
        return std::nullopt; // strtol may well return a negative number
      break;
  }
  const bool is_signed =
      failure == wire::Failure::Negative || failure == wire::Failure::NotPositive;
  return begin(steps,
               {.kind = CaptureKind::Filled,
                .length = LengthKind::Word,
                .size = word_,
                .length_size = static_cast<std::uint8_t>(layout_of(result, word_).size),
                .length_signed = is_signed,
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
               .length_at = variadic_,
               .element_size = format_unit(*prototype_.parameters[index].type)};
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
         .length_at = variadic_,
         .element_size = format_unit(*prototype_.parameters[index].type)},
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
  const auto limit = std::min<std::uint32_t>(options_.string_limit, wire::kMaxCaptureLimit);
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
      case CaptureKind::Sequence: room += op.body != 0 ? 12 + body * op.limit : text; break;
      case CaptureKind::Choice: room += 20 + body; break;
      case CaptureKind::Reading:
      case CaptureKind::Struct: room += body; break;
      case CaptureKind::Check: break;
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
  // As many levels as there is room for: else the first branches would use up all of it.
  for (std::uint32_t levels = options.array_limit;;) {
    PlanCompiler compiler(prototype, options, levels);
    CallPlan plan = compiler.compile();
    if (!compiler.overflowed() || levels <= 1) return plan;
    levels = levels > 16 ? levels / 2 : levels - 1;
  }
}

std::shared_ptr<const CallPlan> unreadable_plan() {
  static const auto plan = [] {
    TypeArena arena;
    Type elided;
    elided.kind = TypeKind::Opaque; // of no size: nothing is captured of it
    Prototype prototype;
    prototype.result = prototype.parameters.emplace_back(Parameter{arena.make(elided)}).type;
    return std::make_shared<const CallPlan>(compile(prototype, {}));
  }();
  return plan;
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
