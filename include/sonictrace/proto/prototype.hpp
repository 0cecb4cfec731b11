#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sonictrace::proto {

/// How one word is shown. Grows to ltrace.conf's whole set of types and lenses.
enum class Lens : std::uint8_t {
  Void,  ///< as a result: `<void>`
  Guess, ///< no prototype: -10000..10000 in decimal, else hex
  Char,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Bool,
  Hex,     ///< of `width` bytes
  Octal,   ///< of `width` bytes
  Pointer, ///< null is `nil`
  Address, ///< ltrace.conf's `addr`: as Pointer, but null is `0` where ltrace's ways are kept
  String,  ///< `char const*` up to its NUL, or to the length that another argument gives:
           ///< string[argN]
  Path,    ///< a String that is a file name: shown whole
  Bytes,   ///< memory of a length that another argument gives, NULs included: bytes[argN]
  Hide,    ///< not shown
};

struct Parameter {
  Lens lens = Lens::Guess;
  std::uint8_t width = 8; ///< bytes of the value
  /// Of Bytes and String: 1-based index of the argument that holds the length; 0: none.
  std::uint8_t length_argument = 0;
  bool operator==(const Parameter&) const = default;
};

struct Prototype {
  std::string name;
  Parameter result;
  std::vector<Parameter> parameters;
  bool guessed = false; ///< four words and a result, because nothing is known

  /// The one for a function of which nothing is known.
  static std::shared_ptr<const Prototype> unknown();
};

} // namespace sonictrace::proto
