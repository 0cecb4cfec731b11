#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "debuginfo/peeled.hpp"

namespace sonictrace::debuginfo {

/// psABI 3.2.3: where a class that is passed by value lies.
struct ValueClasses {
  enum class Class : std::uint8_t { None, Integer, Vector, X87 };

  bool in_memory = false;
  bool is_wide = false; ///< something in it is aligned to 16 bytes
  std::array<Class, 2> eightbytes = {Class::None, Class::None};

  bool is_empty() const {
    return !in_memory && eightbytes[0] == Class::None && eightbytes[1] == Class::None;
  }
  bool has(Class wanted) const { return eightbytes[0] == wanted || eightbytes[1] == wanted; }
};

/// Nothing where it holds something of which that is not known.
std::optional<ValueClasses> classes_of(const Peeled& type);

/// Itanium C++ ABI, 3.1.1: is an object of the class copied as its bytes are? Then it is passed by
/// value, else by the address of a copy. Nothing where that is not known.
std::optional<bool> is_passed_by_value(Dwarf_Die type, bool is_cpp);

} // namespace sonictrace::debuginfo
