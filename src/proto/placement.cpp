#include "sonictrace/proto/placement.hpp"

#include <algorithm>
#include <array>

namespace sonictrace::proto {
namespace {

constexpr std::uint32_t kIntegerRegisters = 6;
constexpr std::uint32_t kVectorRegisters = 8;
constexpr int kDeepest = 16; ///< of structs in structs, by value

/// psABI 3.2.3, as far as our types go.
enum class Class : std::uint8_t { None, Integer, Vector, X87, Memory };

Class merge(Class a, Class b) {
  if (a == b || b == Class::None) return a;
  if (a == Class::None) return b;
  if (a == Class::Memory || b == Class::Memory) return Class::Memory;
  if (a == Class::Integer || b == Class::Integer) return Class::Integer;
  return Class::Memory; // X87 with something else
}

std::uint32_t round_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

struct Classes {
  std::array<Class, 2> eightbytes{Class::None, Class::None};
};

/// Those that are passed by value are one or two words, or a value and a flag.
bool classify_sequence(const Type& type, std::uint32_t offset, Classes& classes, int depth);

/// False where the value is of class MEMORY.
bool classify(const Type& type, std::uint32_t offset, Classes& classes, int depth) {
  if (depth > kDeepest) return false;
  const Layout layout = layout_of(type, 8);
  switch (type.kind) {
    case TypeKind::Void: return true;
    case TypeKind::Struct: {
      const auto offsets = field_offsets(type, 8);
      for (std::size_t at = 0; at < offsets.size(); ++at)
        if (!classify(*type.fields[at], offset + offsets[at], classes, depth + 1)) return false;
      return true;
    }
    case TypeKind::Array: {
      const Layout element = layout_of(*type.target, 8);
      if (element.size == 0) return true;
      for (std::uint32_t at = 0; at < layout.size; at += element.size)
        if (!classify(*type.target, offset + at, classes, depth + 1)) return false;
      return true;
    }
    case TypeKind::Sequence: return classify_sequence(type, offset, classes, depth);
    case TypeKind::Opaque:
      for (std::uint32_t at = offset; at < offset + layout.size; at += 8) {
        if (at >= 16) return false;
        classes.eightbytes[at / 8] = merge(classes.eightbytes[at / 8], Class::Integer);
      }
      return true;
    default: break;
  }
  if (offset + layout.size > 16) return false;
  Class& eightbyte = classes.eightbytes[offset / 8];
  if (type.kind != TypeKind::Float)
    eightbyte = merge(eightbyte, Class::Integer);
  else if (layout.size == 16)
    eightbyte = merge(eightbyte, Class::X87);
  else
    eightbyte = merge(eightbyte, Class::Vector);
  return eightbyte != Class::Memory;
}

bool classify_sequence(const Type& type, std::uint32_t offset, Classes& classes, int depth) {
  const Layout layout = layout_of(type, 8);
  const bool has_flag = type.layout == wire::SequenceLayout::FlagBehind ||
                        type.layout == wire::SequenceLayout::FlagInFront;
  if (offset + layout.size > 16) return false;
  if (!has_flag) {
    for (std::uint32_t at = offset; at < offset + layout.size; at += 8)
      classes.eightbytes[at / 8] = merge(classes.eightbytes[at / 8], Class::Integer);
    return true;
  }
  const std::uint32_t flag_at = offset + flag_offset(type, 8);
  classes.eightbytes[flag_at / 8] = merge(classes.eightbytes[flag_at / 8], Class::Integer);
  if (type.is_in_union) {
    Class& first = classes.eightbytes[(offset + payload_offset(type, 8)) / 8];
    first = merge(first, Class::Integer);
  }
  return classify(*type.target, offset + payload_offset(type, 8), classes, depth + 1);
}

/// The classes of a value's eightbytes; none where it is in memory.
std::optional<Classes> classes_of(const Type& type) {
  const Layout layout = layout_of(type, 8);
  Classes classes;
  if (layout.size > 16 || layout.size == 0) return std::nullopt;
  if (!classify(type, 0, classes, 0)) return std::nullopt;
  return classes;
}

Layout layout_of_sequence(const Type& type, std::uint8_t word) {
  switch (type.layout) {
    case wire::SequenceLayout::None: break;
    case wire::SequenceLayout::GnuString: return {32, 8};
    case wire::SequenceLayout::Tensor:
    case wire::SequenceLayout::OldGnuString: return {8, 8};
    case wire::SequenceLayout::LlvmString:
    case wire::SequenceLayout::Range: return {24, 8};
    case wire::SequenceLayout::LengthFirst:
    case wire::SequenceLayout::DataFirst:
    case wire::SequenceLayout::DataOrFlag: return {16, 8};
    case wire::SequenceLayout::FlagBehind:
    case wire::SequenceLayout::FlagInFront: {
      const Layout value = layout_of(*type.target, word);
      // The flag makes it larger by an alignment, on whichever side it is.
      return {value.size + value.align, value.align};
    }
  }
  return {};
}

} // namespace

std::uint32_t payload_offset(const Type& type, std::uint8_t word) {
  return type.layout == wire::SequenceLayout::FlagInFront ? layout_of(*type.target, word).align : 0;
}

std::uint32_t flag_offset(const Type& type, std::uint8_t word) {
  return type.layout == wire::SequenceLayout::FlagInFront ? 0 : layout_of(*type.target, word).size;
}

Layout layout_of(const Type& type, std::uint8_t word) {
  switch (type.kind) {
    case TypeKind::Void: return {0, 1};
    case TypeKind::Pointer: return {word, word};
    case TypeKind::Float:
      if (type.size == 16) return word == 8 ? Layout{16, 16} : Layout{12, 4};
      return {type.size, std::min<std::uint32_t>(type.size, word)};
    case TypeKind::Array: {
      const Layout element = layout_of(*type.target, word);
      const bool is_constant = type.length.source == Length::Source::Constant;
      return {is_constant ? element.size * type.length.number : 0, element.align};
    }
    case TypeKind::Struct: {
      Layout whole;
      for (const Type* field : type.fields) {
        const Layout layout = layout_of(*field, word);
        whole.align = std::max(whole.align, layout.align);
        whole.size = round_up(whole.size, layout.align) + layout.size;
      }
      whole.size = round_up(whole.size, whole.align);
      return whole;
    }
    case TypeKind::Opaque: return {type.size * std::uint32_t{8}, 8};
    case TypeKind::Sequence: return layout_of_sequence(type, word);
    default: break;
  }
  const std::uint32_t size = type.size == 0 ? word : type.size;
  return {size, std::min<std::uint32_t>(size, word)}; // i386: a long long is aligned to 4
}

std::vector<std::uint32_t> field_offsets(const Type& type, std::uint8_t word) {
  std::vector<std::uint32_t> offsets;
  std::uint32_t end = 0;
  for (const Type* field : type.fields) {
    const Layout layout = layout_of(*field, word);
    offsets.push_back(round_up(end, layout.align));
    end = offsets.back() + layout.size;
  }
  return offsets;
}

std::uint32_t ArgumentPlaces::next_stack(std::uint32_t size, std::uint32_t align) {
  const std::uint32_t word = word_of(convention_);
  stack_ = round_up(stack_, std::max(align, word));
  const std::uint32_t at = stack_;
  stack_ += round_up(std::max(size, word), word);
  return wire::kStackWordsAt + at;
}

std::uint32_t ArgumentPlaces::next_integer() {
  const bool in_register =
      convention_ != CallingConvention::SystemV32 && integers_ < kIntegerRegisters;
  return in_register ? integers_++ * 8 : next_stack(word_of(convention_), 1);
}

Placement ArgumentPlaces::next(const Type& type) {
  const std::uint8_t word = word_of(convention_);
  const Layout layout = layout_of(type, word);
  if (convention_ == CallingConvention::SystemV32) return {{next_stack(layout.size, 1)}, true};
  // An empty struct is not passed at all.
  if (layout.size == 0 && (type.kind == TypeKind::Struct || type.kind == TypeKind::Opaque))
    return {};
  const auto classes = classes_of(type);
  std::uint32_t integers = 0, vectors = 0;
  bool in_registers = classes.has_value();
  if (classes) {
    for (const Class eightbyte : classes->eightbytes) {
      integers += eightbyte == Class::Integer;
      vectors += eightbyte == Class::Vector;
      in_registers = in_registers && eightbyte != Class::X87; // as arguments: in memory
    }
  }
  // All of it in registers, or none of it.
  in_registers = in_registers && integers_ + integers <= kIntegerRegisters &&
                 vectors_ + vectors <= kVectorRegisters;
  if (!in_registers) return {{next_stack(layout.size, layout.align > 8 ? 16 : 8)}, true};

  Placement placement;
  for (const Class eightbyte : classes->eightbytes) {
    if (eightbyte == Class::Integer) placement.eightbytes.push_back(integers_++ * 8);
    if (eightbyte == Class::Vector)
      placement.eightbytes.push_back(wire::kVectorWordsAt + vectors_++ * 8);
  }
  placement.contiguous = integers == 0 || vectors == 0;
  return placement;
}

std::uint32_t ArgumentPlaces::variadic() const {
  return integers_ | vectors_ << 8 | std::min(stack_, 0xffffu) << 16;
}

std::optional<Placement> place_of_result(const Type& type, CallingConvention convention) {
  if (type.kind == TypeKind::Struct && layout_of(type, word_of(convention)).size == 0)
    return Placement{};
  if (convention == CallingConvention::SystemV32) {
    if (type.kind == TypeKind::Struct || type.kind == TypeKind::Array) return std::nullopt;
    if (type.kind == TypeKind::Float) return Placement{{wire::kResultX87At}, true};
    return Placement{{0}, true}; // edx:eax
  }
  const auto classes = classes_of(type);
  if (!classes) return std::nullopt;
  Placement placement;
  std::uint32_t integers = 0, vectors = 0;
  for (const Class eightbyte : classes->eightbytes) {
    if (eightbyte == Class::Integer) placement.eightbytes.push_back(integers++ * 8);
    if (eightbyte == Class::Vector)
      placement.eightbytes.push_back(wire::kResultVectorAt + vectors++ * 8);
    if (eightbyte == Class::X87) placement.eightbytes.push_back(wire::kResultX87At);
  }
  placement.contiguous = integers == 0 || vectors == 0;
  return placement;
}

} // namespace sonictrace::proto
