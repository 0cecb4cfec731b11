#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/wire/capture.hpp"

namespace sonictrace::proto {

enum class TypeKind : std::uint8_t {
  Void,
  Signed,
  Unsigned,
  Character,     ///< one byte, shown as 'c'
  WideCharacter, ///< wchar_t: four bytes
  Float,         ///< of 4 or 8 bytes; 16: long double (10 of them used)
  Pointer,
  Array,
  Struct,
  Sequence, ///< an object of C++'s libraries that has elements: see wire::SequenceLayout
  Opaque, ///< `size` words of which nothing is known, shown as `...`; Lens::Address: the first one
          ///< is an address
};

/// How a value is shown, where that does not follow from its type.
enum class Lens : std::uint8_t {
  Plain,
  Guess, ///< -10000..10000 in decimal, else hex
  Hex,
  Octal,
  Bool,
  BitVector,     ///< `<3-5,7>`
  Enumeration,   ///< one of `names`
  Flags,         ///< bits of `names`, joined by `|`
  Text,          ///< a pointer to an array of characters, or such an array itself: "..."
  TextOrAddress, ///< Text if what is there is text: printable up to its end; else an address
  Path,          ///< Text that is a file name: shown whole
  Bytes,         ///< a pointer to a counted array of characters, NULs included: "..."
  Format,        ///< Text that is a printf format, its arguments follow the last parameter
  VaFormat,      ///< the same, its arguments in the va_list that the next parameter points to
  ScanFormat,    ///< Text that is a scanf format
  Address,       ///< of a pointer: not followed
  Hide,          ///< not shown
  Matrix,        ///< of 16 bytes: the type, dimensions, rows and columns of a cv::Mat
};

/// How many elements an array has.
struct Length {
  enum class Source : std::uint8_t {
    Unlimited, ///< until a zero element
    Constant,
    Argument, ///< parameter `number`, 1-based
    Result,   ///< what the function returns: known at the return
    Element,  ///< element `number`, 1-based, of the innermost struct around the array
  };
  /// With a second length: `min(arg2, retval)`, `arg2*arg3`.
  enum class Combine : std::uint8_t { Alone, Least, Product };

  Source source = Source::Unlimited;
  std::uint32_t number = 0;
  bool until_zero = false; ///< ends at a zero element, if that comes first
  Combine combine = Combine::Alone;
  Source second_source = Source::Constant; ///< Constant, Argument or Result
  std::uint32_t second_number = 0;

  bool operator==(const Length&) const = default;
};

/// Names of an enumeration's or a flag set's values, in the order given.
using NameTable = std::vector<std::pair<std::string, std::int64_t>>;

/// A type as a prototype has it. Types refer to each other freely (recursive structs), so they live
/// in a TypeArena, which is never smaller than what refers to it.
struct Type {
  TypeKind kind = TypeKind::Void;
  Lens lens = Lens::Plain;
  std::uint8_t size = 0; ///< bytes of a scalar; a `long` and a pointer have 0: the machine's word
  const Type* target =
      nullptr;   ///< what a pointer points to (never null; Void for `void*`); an element
  Length length; ///< of an array
  wire::SequenceLayout layout = wire::SequenceLayout::None;
  /// Of an optional: the value lies in a union with a char (libc++, c10), so that it is never
  /// passed in a vector register, whatever it is.
  bool is_in_union = false;
  /// Of a struct: what its first four bytes are, of those in `sign_mask`, if it is one. It is shown
  /// without braces. 0: any.
  std::uint32_t sign_mask = 0, sign = 0;
  bool is_one_of_several = false; ///< another sign is not wrong, but then nothing is known
  /// Of a pointer: a reference of C++, which leads somewhere, or is none.
  bool is_reference = false;
  std::vector<const Type*> fields;
  std::shared_ptr<const NameTable> names;
  bool null_is_zero = false; ///< ltrace.conf's `addr`: its null is `0` where ltrace's ways are kept
  bool is_declared_only = false; ///< `typedef NAME = struct;` that was never defined
};

/// Owns types. Addresses stay.
class TypeArena {
public:
  Type* make(Type type) { return &types_.emplace_back(std::move(type)); }

  // The plain ones.
  const Type* integer(bool is_signed, std::uint8_t size) {
    Type type;
    type.kind = is_signed ? TypeKind::Signed : TypeKind::Unsigned;
    type.size = size;
    return make(std::move(type));
  }
  const Type* void_type() { return make({}); }
  const Type* address() {
    Type type;
    type.kind = TypeKind::Pointer;
    type.lens = Lens::Address;
    type.target = void_type();
    type.null_is_zero = true;
    return make(std::move(type));
  }

private:
  std::deque<Type> types_;
};

} // namespace sonictrace::proto
