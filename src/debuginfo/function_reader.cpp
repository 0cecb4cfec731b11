#include "debuginfo/function_reader.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "debuginfo/passing.hpp"
#include "sonictrace/proto/placement.hpp"

namespace sonictrace::debuginfo {
namespace {

using proto::CppValue;
using proto::Prototype;
using proto::TypeKind;
using Passed = CppValue::Passed;

constexpr std::size_t kMostParameters = 64;

/// What the entry is an instance of; itself where it stands for itself.
Dwarf_Die origin_of(Dwarf_Die function) {
  constexpr int kLongest = 4;
  for (int step = 0; step < kLongest; ++step) {
    const auto origin = referred(function, DW_AT_abstract_origin);
    if (!origin) break;
    function = *origin;
  }
  return function;
}

std::string_view linkage_name_of(Dwarf_Die function) {
  const std::string_view name = text(function, DW_AT_linkage_name, Reach::Inherited);
  return name.empty() ? text(function, DW_AT_MIPS_linkage_name, Reach::Inherited) : name;
}

/// Copies that a compiler has made take other arguments than the function that they are of.
bool is_clone(std::string_view symbol) {
  constexpr std::array<std::string_view, 4> kMarks = {".isra.", ".constprop.", ".part.", ".cold"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
    return symbol.find(mark) != std::string_view::npos;
  });
}

/// The same function as far as arguments go: the variants of a constructor or destructor differ in
/// their names only.
bool is_same_signature(const std::optional<names::FunctionSignature>& a,
                       const std::optional<names::FunctionSignature>& b) {
  using Structor = names::FunctionSignature::Structor;
  return a && b && a->scope == b->scope && a->parameters == b->parameters &&
         (a->structor == Structor::No) == (b->structor == Structor::No);
}

} // namespace

std::optional<Prototype> FunctionReader::read(std::string_view symbol, std::uint64_t address) {
  if (is_clone(symbol)) return std::nullopt;
  const auto function = choose(symbol, units_.functions_at(address));
  return function ? prototype_of(*function, symbol) : std::nullopt;
}

/// Where a linker has put the same code in one place, or a function has more than one name, the
/// entry at an address is not always that of the symbol.
std::optional<Dwarf_Die> FunctionReader::choose(std::string_view symbol,
                                                const std::vector<Dwarf_Die>& found) {
  const std::string_view plain = symbol.substr(0, symbol.find('.')); // name.lto_priv.0
  for (const Dwarf_Die die : found) {
    const std::string_view linkage = linkage_name_of(die);
    if (linkage == plain) return die;
    if (linkage.empty() && name_of(die, Reach::Inherited) == plain) return die;
  }
  if (symbol.starts_with("_R")) return std::nullopt;
  if (symbol.starts_with("_Z")) {
    const auto wanted = names::read_signature(plain);
    for (const Dwarf_Die die : found)
      if (is_same_signature(wanted, names::read_signature(linkage_name_of(die)))) return die;
    // Functions with internal linkage may have no linkage name.
    if (found.size() != 1 || !linkage_name_of(found[0]).empty()) return std::nullopt;
    const std::string name(name_of(found[0], Reach::Inherited));
    const bool is_named =
        !name.empty() && plain.find(std::to_string(name.size()) + name) != std::string_view::npos;
    return is_named ? std::optional(found[0]) : std::nullopt;
  }
  // An alias is named after what it is one of: foo, __foo, foo_v1.
  if (found.size() != 1 || !linkage_name_of(found[0]).empty()) return std::nullopt;
  const std::string_view name = name_of(found[0], Reach::Inherited);
  constexpr std::size_t kShortest = 4;
  const bool is_alias = (name.size() >= kShortest && plain.find(name) != std::string_view::npos) ||
                        (plain.size() >= kShortest && name.find(plain) != std::string_view::npos);
  return is_alias ? std::optional(found[0]) : std::nullopt;
}

FunctionReader::Language FunctionReader::language_of(Dwarf_Die die) {
  Dwarf_Die unit;
  if (::dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return Language::Other;
  auto language = number(unit, DW_AT_language);
  if (!language) return Language::Other;
  switch (*language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11: return Language::C;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14: return Language::Cpp;
    case DW_LANG_Rust: return Language::Rust;
    default: break;
  }
  // Newer than libdw's header: DWARF 5's list of languages.
  constexpr std::uint64_t kCpp17 = 0x2a, kCpp20 = 0x2b, kC17 = 0x2c, kCpp23 = 0x3a, kC23 = 0x3e;
  if (*language == kC17 || *language == kC23) return Language::C;
  if (*language == kCpp17 || *language == kCpp20 || *language == kCpp23) return Language::Cpp;
  return Language::Other;
}

std::optional<Prototype> FunctionReader::prototype_of(Dwarf_Die function, std::string_view symbol) {
  // How it is called may be something that only its callers know.
  const auto convention = number(function, DW_AT_calling_convention, Reach::Inherited);
  if (convention && *convention != DW_CC_normal) return std::nullopt;
  const Dwarf_Die origin = origin_of(function);
  // Of a whole program's optimization the code is in a unit for all languages.
  language_ = language_of(origin);
  if (language_ == Language::Other) language_ = language_of(function);
  if (language_ == Language::Other) return std::nullopt;
  types_.set_language(language_ == Language::Cpp);
  types_.set_unit(origin);
  is_prototyped_ = language_ != Language::C || flag(function, DW_AT_prototyped, Reach::Inherited);
  if (!units_.scan_of(origin).has_types()) return std::nullopt; // -g1

  const std::string_view plain = symbol.substr(0, symbol.find('.'));
  signature_ = language_ == Language::Cpp ? names::read_signature(plain) : std::nullopt;
  named_ = 0;
  Prototype prototype;
  prototype.name = symbol;
  if (!append_result(prototype, function)) return std::nullopt;
  if (!append_parameters(prototype, origin)) return std::nullopt;
  if (signature_ && named_ != signature_->parameters.size()) return std::nullopt;
  return prototype;
}

/// Nothing of it is shown, neither a value nor that there is none.
const proto::Type* FunctionReader::no_result() {
  proto::Type type;
  type.kind = TypeKind::Unsigned;
  type.size = 8;
  type.lens = proto::Lens::Hide;
  return arena_.make(std::move(type));
}

bool FunctionReader::is_scalar(const Peeled& type) const {
  switch (type.tag()) {
    case DW_TAG_base_type: return size_of(type).value_or(16) <= 8;
    case DW_TAG_enumeration_type: return true;
    // A pointer to what has no size is two words.
    case DW_TAG_pointer_type: return name_of(*type.die).find('[') == std::string_view::npos;
    default: return type.is_void();
  }
}

bool FunctionReader::append_result(Prototype& prototype, Dwarf_Die function) {
  const Peeled type = type_behind(function, Reach::Inherited);
  if (!type.is_sound) return false;
  if (language_ == Language::Rust && !is_scalar(type)) return false;
  const names::CppType* const named =
      signature_ && signature_->result ? &*signature_->result : nullptr;
  const CppValue value = types_.value(type, named);
  if (type.is_void()) {
    prototype.result = arena_.void_type();
    return true;
  }
  const auto put_in_memory = [&] {
    // The address of where it goes is the first argument, and in rax at the return.
    prototype.parameters.push_back({types_.hidden_word()});
    prototype.result = types_.reference_to(value.type);
    return true;
  };
  if (value.passed == Passed::ByReference) return put_in_memory();
  if (value.passed == Passed::Unknown) return false;
  if (!is_class(type.tag())) {
    prototype.result = value.type;
    return value.type != nullptr;
  }
  const auto classes = classes_of(type);
  if (!classes) return false;
  if (classes->in_memory) return put_in_memory();
  if (classes->is_empty()) {
    prototype.result = arena_.void_type();
    return true;
  }
  prototype.result =
      classes->has(ValueClasses::Class::X87) ? no_result() : types_.passed(type, value);
  return prototype.result != nullptr;
}

bool FunctionReader::append_parameters(Prototype& prototype, Dwarf_Die function) {
  bool is_sound = true, is_variadic = false;
  const auto see = [&](Dwarf_Die child) {
    const int tag = tag_of(child);
    if (tag == DW_TAG_unspecified_parameters) is_variadic = true;
    if (tag == DW_TAG_formal_parameter)
      is_sound = is_sound && !is_variadic && append_parameter(prototype, child);
    return is_sound;
  };
  for_each_child(function, [&](Dwarf_Die child) {
    if (tag_of(child) == DW_TAG_GNU_formal_parameter_pack) for_each_child(child, see);
    return see(child);
  });
  if (is_variadic) prototype.parameters.push_back({types_.elided()});
  return is_sound;
}

bool FunctionReader::append_parameter(Prototype& prototype, Dwarf_Die parameter) {
  if (prototype.parameters.size() >= kMostParameters) return false;
  if (flag(parameter, DW_AT_artificial, Reach::Inherited))
    return append_hidden(prototype, parameter);
  const Peeled type = type_behind(parameter, Reach::Inherited);
  if (!type.is_sound || type.is_void()) return false;
  if (language_ == Language::Rust && !is_scalar(type)) return false;
  const names::CppType* named = nullptr;
  if (signature_) {
    if (named_ >= signature_->parameters.size()) return false;
    named = &signature_->parameters[named_++];
  }
  const CppValue value = types_.value(type, named);
  const proto::Type* made = nullptr;
  switch (value.passed) {
    case Passed::ByReference: made = types_.reference_to(value.type); break;
    case Passed::Plainly: made = types_.passed(type, value); break;
    case Passed::Unknown: return false;
  }
  if (made == nullptr) return false;
  // Of a function that was defined as they were before 1989, a float comes as a double.
  if (!is_prototyped_ && made->kind == TypeKind::Float && made->size == 4) return false;
  prototype.parameters.push_back({made});
  return true;
}

/// What the compiler has put in front.
bool FunctionReader::append_hidden(Prototype& prototype, Dwarf_Die parameter) {
  const std::string_view name = name_of(parameter, Reach::Inherited);
  // There is one for each constructor and destructor of a class with virtual bases, as the source
  // has it. None of those that are called takes it; the table only the one for a base.
  if (name == "__in_chrg") return true;
  if (name == "__vtt_parm" || name == "vtt") {
    const bool is_base =
        signature_ && signature_->structor == names::FunctionSignature::Structor::Base;
    if (is_base) prototype.parameters.push_back({types_.hidden_word()});
    return signature_.has_value();
  }
  const Peeled type = type_behind(parameter, Reach::Inherited);
  if (language_ != Language::Cpp || type.tag() != DW_TAG_pointer_type) return false;
  prototype.parameters.push_back({types_.reference_to(nullptr)});
  return true;
}

} // namespace sonictrace::debuginfo
