// The steps of values: the half of PlanCompiler that walks types.
#include <algorithm>
#include <climits>

#include "proto/plan_compiler.hpp"
#include "sonictrace/base/check.hpp"

namespace sonictrace::proto {
namespace {

using wire::CaptureKind;
using wire::CaptureOp;
using wire::LengthKind;

constexpr std::size_t kMostSteps = 400; ///< of one list: a recursive type must not fill the memory
constexpr std::uint8_t kX87Room = 16;   ///< of st0, in the words of a return

bool is_character(const Type& type) {
  return type.kind == TypeKind::Character || type.kind == TypeKind::WideCharacter;
}

/// Does this lens show an array of characters, or what points to one, as text?
bool is_text(Lens lens) {
  switch (lens) {
    case Lens::Text:
    case Lens::TextOrAddress:
    case Lens::Path:
    case Lens::Bytes:
    case Lens::Format:
    case Lens::VaFormat:
    case Lens::ScanFormat: return true;
    default: return false;
  }
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
    case Lens::Matrix: return Look::Matrix;
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

bool PlanCompiler::too_big(const Steps& steps) {
  // Each of these is a level of the interpreter's.
  constexpr std::size_t kDeepest = wire::kDeepestCapture - 2;
  overflowed_ = overflowed_ || steps.ops.size() >= kMostSteps;
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
  if (type.kind == TypeKind::Sequence && offset == 0 && type.target != nullptr &&
      layout_of(*type.target, word_).size <= 8) { // a value, and whether there is one
    const bool is_in_front = type.layout == wire::SequenceLayout::FlagInFront;
    const std::uint32_t value = place(payload_offset(type, word_));
    const std::uint32_t flag = place(flag_offset(type, word_));
    const std::size_t step = steps.ops.size();
    append_sequence(steps, type, is_in_front ? flag : value, owner);
    steps.ops[step].length_at = is_in_front ? value - flag : flag - value; // modulo 2^32
    return;
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
    case TypeKind::Sequence: return append_sequence(steps, type, offset, owner);
    case TypeKind::Opaque:
      if (type.lens == Lens::Address && type.size != 0) {
        begin(steps, {.size = word_, .offset = offset}, {Look::Pointer, word_, {}});
        return;
      }
      return append_elided(steps);
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
  if (levels >= static_cast<std::ptrdiff_t>(levels_) && !is_passed) return append_elided(steps);
  within_.push_back(&type);
  const std::size_t step = begin(steps, {.kind = CaptureKind::Struct, .offset = offset},
                                 {type.sign_mask != 0 ? Look::Inner : Look::Struct, 0, {}});
  if (type.sign_mask != 0)
    begin(steps,
          {.kind = CaptureKind::Check,
           .size = 4,
           .length_at = type.sign_mask,
           .second_at = type.sign},
          {Look::Elided, 0, {}});
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

void PlanCompiler::append_sequence(Steps& steps, const Type& type, std::uint32_t offset,
                                   const Owner& owner) {
  using wire::SequenceLayout;
  CaptureOp op{.kind = CaptureKind::Sequence,
               .size = 0,
               .detail = static_cast<std::uint8_t>(type.layout),
               .offset = offset};
  RenderStep look{Look::Elided, 0, {}};
  const bool is_optional = type.layout == SequenceLayout::FlagBehind ||
                           type.layout == SequenceLayout::FlagInFront ||
                           type.layout == SequenceLayout::DataOrFlag;
  if (is_text(type.lens)) {
    const bool wide = type.target->kind == TypeKind::WideCharacter;
    op.size = wide ? 4 : 1;
    op.limit = text_limit(type);
    look = {wide ? Look::WideText : Look::Bytes, op.size, {}};
  } else {
    op.element_size = layout_of(*type.target, word_).size;
    op.limit = static_cast<std::uint16_t>(std::min<std::uint32_t>(options_.array_limit, 4096));
    look.look = is_optional ? Look::Optional : Look::List;
  }
  if (is_optional) {
    op.limit = 1;
    op.length_at = type.layout == SequenceLayout::FlagInFront ? payload_offset(type, word_)
                                                              : flag_offset(type, word_);
  }
  const std::size_t step = begin(steps, op, look);
  if (op.element_size == 0) return;
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
  if (type.lens == Lens::Hex || type.lens == Lens::Guess || type.lens == Lens::Octal ||
      type.lens == Lens::Bool || type.lens == Lens::Flags) {
    begin(steps, {.size = word_, .offset = offset}, {look_of_scalar(type), word_, type.names});
    return;
  }
  const bool to_text =
      is_text(type.lens) &&
      (target.kind == TypeKind::Array ? is_character(*target.target) : is_character(target));
  // How long it is turns out at the return only.
  const bool is_unknown = target.kind == TypeKind::Array && !steps.at_return &&
                          (target.length.source == Length::Source::Result ||
                           (target.length.combine != Length::Combine::Alone &&
                            target.length.second_source == Length::Source::Result));
  if (to_text && !is_unknown) return append_text(steps, type, offset, owner);
  const bool followed = !is_unknown && type.lens != Lens::Address &&
                        target.kind != TypeKind::Void && !target.is_declared_only &&
                        target.lens != Lens::Hide;
  // What is no such struct is not shown as one.
  const std::uint8_t checked = target.is_one_of_several ? 3 : 2;
  const std::uint8_t detail = target.sign_mask != 0 ? checked : type.is_reference ? 1 : 0;
  if (!followed && type.is_reference) {
    begin(steps, {.kind = CaptureKind::Pointer, .size = word_, .detail = detail, .offset = offset},
          {Look::Pointer, word_, {}});
    return;
  }
  if (!followed) {
    begin(steps, {.size = word_, .offset = offset},
          {type.null_is_zero ? Look::ZeroPointer : Look::Pointer, word_, {}});
    return;
  }
  const std::size_t step = begin(
      steps, {.kind = CaptureKind::Pointer, .size = word_, .detail = detail, .offset = offset},
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
                    : type.lens == Lens::TextOrAddress ? Look::TextOrAddress
                                               : Look::Text;
  begin(steps, op, {look, op.size, {}});
}

void PlanCompiler::set_length(CaptureOp& op, const Length& length, const Owner& owner,
                              bool is_at_return) {
  op.until_zero = length.until_zero || length.source == Length::Source::Unlimited;
  set_second_length(op, length, is_at_return);
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

void PlanCompiler::set_second_length(CaptureOp& op, const Length& length, bool is_at_return) {
  if (length.combine == Length::Combine::Alone) return;
  op.combine =
      length.combine == Length::Combine::Least ? wire::Combine::Least : wire::Combine::Product;
  const auto size_of = [&](const Type& type) {
    return static_cast<std::uint8_t>(std::clamp<std::uint32_t>(layout_of(type, word_).size, 1, 8));
  };
  op.second_at = length.second_number;
  if (length.second_source == Length::Source::Argument) {
    const std::size_t index = length.second_number - 1;
    SONICTRACE_CHECK(index < places_.size(), "a length refers to an argument that is not there");
    if (places_[index].eightbytes.empty()) return;
    const Type& type = *prototype_.parameters[index].type;
    const std::uint32_t place = places_[index].eightbytes.front();
    op.second_at = is_at_return ? at_return(place) : place;
    op.second_size = size_of(type);
    op.second_signed = type.kind == TypeKind::Signed;
  } else if (length.second_source == Length::Source::Result && is_at_return) {
    op.second_at = 0;
    op.second_size = size_of(*prototype_.result);
    op.second_signed = prototype_.result->kind == TypeKind::Signed;
  }
}

} // namespace sonictrace::proto
