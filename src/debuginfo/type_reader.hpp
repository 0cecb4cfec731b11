#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "debuginfo/cpp_names.hpp"
#include "debuginfo/peeled.hpp"
#include "sonictrace/proto/cpp_types.hpp"
#include "sonictrace/proto/type.hpp"

namespace sonictrace::debuginfo {

/// Makes types of prototypes of types in debug information.
class TypeReader {
public:
  TypeReader(proto::TypeArena& arena, UnitTable& units)
      : arena_(arena), units_(units), names_(units), known_(arena) {
    known_.set_resolver([this](const names::CppType& type) { return inner_value(type); });
  }
  TypeReader(const TypeReader&) = delete;

  /// How types are passed depends on the language.
  void set_language(bool is_cpp) { is_cpp_ = is_cpp; }
  /// Types of which only the name is known are looked for in the unit that `entry` is in.
  void set_unit(Dwarf_Die entry) { unit_ = entry; }

  /// As it lies in memory, and how it is passed by value. `named`: what a mangled name says of the
  /// same type; null: nothing.
  proto::CppValue value(const Peeled& type, const names::CppType* named = nullptr) {
    return value(type, named, 0);
  }

  /// Of a parameter that is passed by value as `value` says: what takes the same place. Null where
  /// that can't be said.
  const proto::Type* passed(const Peeled& type, const proto::CppValue& value);

  const proto::Type* reference_to(const proto::Type* type) { return known_.reference_to(type); }
  /// A word that takes a place and is not shown.
  const proto::Type* hidden_word();
  /// `...`: something that is not shown, and takes no place.
  const proto::Type* elided() { return known_.opaque(0); }

private:
  proto::CppValue value(const Peeled& type, const names::CppType* named, int depth);
  proto::CppValue scalar(Dwarf_Die base, bool is_wide);
  proto::CppValue class_value(const Peeled& type, const names::CppType* named, int depth);
  std::optional<proto::CppValue> known_class(const Peeled& type, const names::CppType* named);
  bool is_by_reference_by_name(const Peeled& type, const names::CppType* named);
  proto::CppValue inner_value(const names::CppType& type);
  const proto::Type* enumeration(Dwarf_Die die);
  const proto::Type* pointer(Dwarf_Die die, int depth);
  const proto::Type* reference(Dwarf_Die die, const names::CppType* named, int depth);
  const proto::Type* structure(Dwarf_Die die, int depth);
  const proto::Type* make_structure(Dwarf_Die die, int depth);
  const proto::Type* array(Dwarf_Die die, int depth);
  const proto::Type* text(proto::Lens lens, proto::TypeKind kind, std::uint8_t size);
  const proto::Type* plain(proto::TypeKind kind, std::uint64_t size,
                           proto::Lens lens = proto::Lens::Plain);
  const proto::Type* hidden_bytes(std::uint64_t count);

  proto::TypeArena& arena_;
  UnitTable& units_;
  std::optional<Dwarf_Die> unit_;
  CppNames names_;
  proto::CppTypes known_;
  bool is_cpp_ = false;
  std::map<const void*, const proto::Type*> enumerations_;
  std::map<const void*, const proto::Type*> structures_; ///< null: can't be said, or not yet
};

} // namespace sonictrace::debuginfo
