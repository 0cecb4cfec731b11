#pragma once

#include <map>
#include <optional>

#include "debuginfo/peeled.hpp"
#include "debuginfo/unit_table.hpp"
#include "sonictrace/names/signature.hpp"

namespace sonictrace::debuginfo {

/// Names C++'s types as mangled names do, so that what is known of a library's classes by their
/// names holds for both.
class CppNames {
public:
  explicit CppNames(UnitTable& units) : units_(units) {}

  /// Of kind Unknown where the name can't be told.
  names::CppType type(const Peeled& type) { return this->type(type, 0); }
  /// The class or the enumeration that a type was made of here.
  std::optional<Dwarf_Die> origin_of(const names::CppType& type) const;

private:
  names::CppType type(const Peeled& type, int depth);
  names::CppType named(Dwarf_Die die, int depth);
  names::CppType of_the_same(const Peeled& type, Dwarf_Die of, const names::CppType& named);
  void append_arguments(Dwarf_Die die, names::CppType& type, int depth);

  UnitTable& units_;
  std::map<const void*, Dwarf_Die> origins_;
};

} // namespace sonictrace::debuginfo
