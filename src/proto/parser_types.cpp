#include "proto/parser_types.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sonictrace/proto/placement.hpp"

namespace sonictrace::proto {
namespace {

constexpr std::uint32_t kMostBytes = 1'000'000; ///< of one value
constexpr std::uint32_t kMostWeight = 1000;
constexpr std::uint32_t kMostNesting = 16;
constexpr std::size_t kMostTypes = 200'000; ///< of one text

bool is_character(const Type& type) {
  return type.kind == TypeKind::Character || type.kind == TypeKind::WideCharacter;
}
bool is_text_lens(Lens lens) {
  return lens == Lens::Text || lens == Lens::Path || lens == Lens::Bytes || lens == Lens::Format ||
         lens == Lens::VaFormat || lens == Lens::ScanFormat;
}

void note_length(TypeFacts& facts, Length::Source source, std::uint32_t number) {
  if (source == Length::Source::Argument) {
    facts.argument = std::max(facts.argument, number);
    if (number < facts.arguments.size()) facts.arguments.set(number);
  }
  if (source == Length::Source::Element) {
    facts.element = std::max(facts.element, number);
    if (number < facts.elements.size()) facts.elements.set(number);
  }
  facts.result |= source == Length::Source::Result;
}

struct PlainType {
  bool addition = false;
  KnownType known;
};

/// Types that are the same in every text.
class PlainTypes {
public:
  PlainTypes() {
    scalar("void", TypeKind::Void, 0);
    scalar("char", TypeKind::Character, 1);
    scalar("short", TypeKind::Signed, 2);
    scalar("ushort", TypeKind::Unsigned, 2);
    scalar("int", TypeKind::Signed, 4);
    scalar("uint", TypeKind::Unsigned, 4);
    scalar("long", TypeKind::Signed, 0);
    scalar("ulong", TypeKind::Unsigned, 0);
    scalar("float", TypeKind::Float, 4);
    scalar("double", TypeKind::Float, 8);
    scalar("octal", TypeKind::Unsigned, 4).lens = Lens::Octal;
    for (const char* name : {"addr", "file"}) {
      Type& address = scalar(name, TypeKind::Pointer, 0);
      address.lens = Lens::Address;
      address.target = arena_.void_type();
      address.null_is_zero = true;
    }
    text("string", Lens::Text, TypeKind::Character, false);
    text("format", Lens::Format, TypeKind::Character, false);

    scalar("schar", TypeKind::Signed, 1, true);
    scalar("uchar", TypeKind::Unsigned, 1, true);
    scalar("llong", TypeKind::Signed, 8, true);
    scalar("ullong", TypeKind::Unsigned, 8, true);
    scalar("ldouble", TypeKind::Float, 16, true);
    scalar("wchar", TypeKind::WideCharacter, 4, true);
    text("path", Lens::Path, TypeKind::Character, true);
    text("vaformat", Lens::VaFormat, TypeKind::Character, true);
    text("scanformat", Lens::ScanFormat, TypeKind::Character, true);
    text("wstring", Lens::Text, TypeKind::WideCharacter, true);
    text("wformat", Lens::Format, TypeKind::WideCharacter, true);
    text("vawformat", Lens::VaFormat, TypeKind::WideCharacter, true);
    text("wscanformat", Lens::ScanFormat, TypeKind::WideCharacter, true);
  }

  const PlainType* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
  }

private:
  Type& scalar(const char* name, TypeKind kind, std::uint8_t size, bool addition = false) {
    Type* const type = arena_.make({});
    type->kind = kind;
    type->size = size;
    const std::uint32_t bytes = kind == TypeKind::Void ? 0u : size == 0 ? 8u : size;
    by_name_[name] = {addition, {type, {.size = bytes}}};
    return *type;
  }

  void text(const char* name, Lens lens, TypeKind kind, bool addition) {
    Type* const character = arena_.make({});
    character->kind = kind;
    character->size = kind == TypeKind::WideCharacter ? 4 : 1;
    Type* const characters = arena_.make({});
    characters->kind = TypeKind::Array;
    characters->target = character;
    characters->length = {Length::Source::Unlimited, 0, true};
    Type& pointer = scalar(name, TypeKind::Pointer, 0, addition);
    pointer.lens = lens;
    pointer.target = characters;
    by_name_[name].known.facts.nesting = 3;
  }

  TypeArena arena_;
  std::unordered_map<std::string_view, PlainType> by_name_;
};

} // namespace

bool is_integer(const Type& type) {
  return type.kind == TypeKind::Signed || type.kind == TypeKind::Unsigned ||
         type.kind == TypeKind::Character;
}

const KnownType* TypeBuilder::plain(std::string_view name, bool additions) {
  static const PlainTypes types;
  const PlainType* const found = types.find(name);
  return found == nullptr || (found->addition && !additions) ? nullptr : &found->known;
}

Result<Type*> TypeBuilder::make(Type type) {
  if (++made_ > kMostTypes) return Error::saying("too many types in one file");
  return arena_.make(std::move(type));
}

Result<KnownType> TypeBuilder::pointer_to(const KnownType& target) {
  if (target.facts.nesting >= kMostNesting) return Error::saying("types nested too deep");
  Type type;
  type.kind = TypeKind::Pointer;
  type.target = target.type;
  const auto made = make(std::move(type));
  if (!made) return made.error();
  TypeFacts facts = target.facts;
  facts.size = 8;
  facts.weight = 1;
  ++facts.nesting;
  return KnownType{*made, facts};
}

Result<KnownType> TypeBuilder::array_of(const KnownType& element, const Length& length) {
  if (element.type->kind == TypeKind::Void) return Error::saying("an array can't be of void");
  if (element.facts.nesting >= kMostNesting) return Error::saying("types nested too deep");
  TypeFacts facts = element.facts;
  const bool is_constant = length.source == Length::Source::Constant;
  const std::uint64_t size = is_constant ? std::uint64_t{element.facts.size} * length.number : 0;
  if (size > kMostBytes) return Error::saying("an array of more than 1000000 bytes");
  facts.size = static_cast<std::uint32_t>(size);
  ++facts.weight;
  ++facts.nesting;
  note_length(facts, length.source, length.number);
  if (length.combine != Length::Combine::Alone)
    note_length(facts, length.second_source, length.second_number);
  Type type;
  type.kind = TypeKind::Array;
  type.target = element.type;
  type.length = length;
  const auto made = make(std::move(type));
  if (!made) return made.error();
  return KnownType{*made, facts};
}

Result<KnownType> TypeBuilder::struct_of(const std::vector<KnownType>& fields) {
  Type type;
  type.kind = TypeKind::Struct;
  TypeFacts facts;
  std::uint64_t size = 0;
  std::bitset<kMostFields + 1> elements;
  for (const KnownType& field : fields) {
    if (field.type->kind == TypeKind::Void) return Error::saying("void is no type of an element");
    type.fields.push_back(field.type);
    size += std::uint64_t{field.facts.size} + 16; // 16: no alignment is larger
    facts.weight += field.facts.weight;
    facts.nesting = std::max(facts.nesting, field.facts.nesting + 1);
    facts.argument = std::max(facts.argument, field.facts.argument);
    facts.arguments |= field.facts.arguments;
    facts.result |= field.facts.result;
    elements |= field.facts.elements;
    if (field.facts.element > fields.size())
      return Error::saying("elt" + std::to_string(field.facts.element) + ": the struct has only " +
                           std::to_string(fields.size()) + " elements");
    if (facts.weight > kMostWeight || size > kMostBytes) return Error::saying("a struct too large");
  }
  if (facts.nesting > kMostNesting) return Error::saying("types nested too deep");
  for (std::size_t at = 0; checks_lengths_ && at < fields.size(); ++at)
    if (elements[at + 1] && !is_integer(*fields[at].type))
      return Error::saying("elt" + std::to_string(at + 1) + ": a length must be an integer");
  facts.size = layout_of(type, 8).size;
  const auto made = make(std::move(type));
  if (!made) return made.error();
  return KnownType{*made, facts};
}

KnownType TypeBuilder::declared_struct() {
  Type type;
  type.kind = TypeKind::Struct;
  type.is_declared_only = true;
  return {arena_.make(std::move(type)), {}};
}

Result<void> TypeBuilder::define(KnownType& declared, const KnownType& definition) {
  if (definition.type->kind != TypeKind::Struct)
    return Error::saying("a struct expected, as which it was declared");
  // Those who have a pointer to it already did not see its lengths.
  if (definition.facts.argument != 0 || definition.facts.result)
    return Error::saying("argN and retval can't be used in a struct that was declared first");
  *declared.type = *definition.type;
  declared.facts = definition.facts;
  return {};
}

Result<KnownType> TypeBuilder::text(Lens lens, bool wide, const Length& length) {
  const auto array = array_of(*plain(wide ? "wchar" : "char", true), length);
  if (!array) return array.error();
  auto pointer = pointer_to(*array);
  if (pointer) pointer->type->lens = lens;
  return pointer;
}

Type* TypeBuilder::copy_with_lens(const Type& type, Lens lens, unsigned nesting, Copies& structs) {
  if (const auto copied = structs.find(&type); copied != structs.end()) return copied->second;
  const auto made = make(type);
  if (!made) return nullptr;
  Type& copy = **made;
  const bool is_compound = type.kind == TypeKind::Struct || type.kind == TypeKind::Array ||
                           (type.kind == TypeKind::Pointer && type.lens != Lens::Address &&
                            !is_text_lens(type.lens) && type.target->kind != TypeKind::Void);
  const bool is_set = lens == Lens::BitVector && type.kind != TypeKind::Pointer; // all its bytes
  if (!is_compound || is_set) {
    // Floating-point numbers have no octal digits, and so on: they stay as they are.
    const bool suits = type.kind != TypeKind::Float || lens == Lens::Hex || lens == Lens::Bool;
    if (suits && type.lens != Lens::Hide) copy.lens = lens;
    return &copy;
  }
  copy.lens = type.lens == Lens::Hide ? Lens::Hide : Lens::Plain;
  if (nesting >= kMostNesting) return &copy;
  if (type.kind != TypeKind::Struct) {
    copy.target = copy_with_lens(*type.target, lens, nesting + 1, structs);
    return copy.target == nullptr ? nullptr : &copy;
  }
  if (type.is_declared_only) return const_cast<Type*>(&type); // its elements are yet to come
  structs.emplace(&type, &copy);
  for (const Type*& field : copy.fields) {
    field = copy_with_lens(*field, lens, nesting + 1, structs);
    if (field == nullptr) return nullptr;
  }
  return &copy;
}

Result<KnownType> TypeBuilder::with_lens(const KnownType& type, Lens lens) {
  Type* copy = nullptr;
  if (lens == Lens::Hide) {
    const auto made = make(*type.type);
    if (!made) return made.error();
    copy = *made;
    copy->lens = lens;
  } else {
    if (type.type->kind == TypeKind::Void) return Error::saying("void has no value to show");
    Copies structs;
    copy = copy_with_lens(*type.type, lens, 0, structs);
    if (copy == nullptr) return Error::saying("too many types in one file");
  }
  return KnownType{copy, type.facts};
}

Result<KnownType> TypeBuilder::with_text_lens(const KnownType& type, Lens lens) {
  const Type& outer = *type.type;
  const Type* inner = outer.kind == TypeKind::Pointer ? outer.target : &outer;
  const bool is_array = inner->kind == TypeKind::Array;
  if (is_array) inner = inner->target;
  if (!is_character(*inner) || (!is_array && outer.kind != TypeKind::Pointer)) return type;
  const auto made = make(outer);
  if (!made) return made.error();
  (*made)->lens = lens;
  return KnownType{*made, type.facts};
}

Result<KnownType> TypeBuilder::with_names(const KnownType& type, Lens lens, NameTable names) {
  switch (type.type->kind) {
    case TypeKind::Signed:
    case TypeKind::Unsigned:
    case TypeKind::Character:
    case TypeKind::WideCharacter:
    case TypeKind::Pointer: break;
    default: return Error::saying("an integer type expected");
  }
  const auto made = make(*type.type);
  if (!made) return made.error();
  (*made)->lens = lens;
  (*made)->names = std::make_shared<const NameTable>(std::move(names));
  return KnownType{*made, type.facts};
}

} // namespace sonictrace::proto
