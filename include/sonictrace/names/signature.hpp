#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonictrace::names {

/// A type of C++, as far as a mangled name tells it.
struct CppType {
  enum class Kind : std::uint8_t {
    Unknown,
    Builtin, ///< `name` is C++'s: `unsigned long`
    Named,   ///< a class or an enumeration, which names do not tell apart
    Pointer, ///< to inner[0]
    LvalueReference,
    RvalueReference,
    Array,             ///< of inner[0]
    Function,          ///< behind a pointer
    DataMemberPointer, ///< a word
    MethodPointer,     ///< two words
    Value,             ///< of a template argument: `name` is the number, or empty
  };

  Kind kind = Kind::Unknown;
  bool is_const = false;
  /// Of Named: qualified, with `<>` behind templates that it is in: `std::vector<>::iterator`.
  /// Namespaces stand as they are mangled: `std::__cxx11::basic_string`.
  std::string name = {};
  std::vector<CppType> inner =
      {}; ///< what it points to; of Named the template arguments, packs flat

  /// What the one who has made it knows it by, who had more than a name. Types are the same
  /// whatever it is.
  struct Origin {
    const void* known_by = nullptr;
    bool operator==(const Origin&) const { return true; }
  };
  Origin origin = {};

  bool operator==(const CppType&) const = default;
  bool is_reference() const {
    return kind == Kind::LvalueReference || kind == Kind::RvalueReference;
  }
};

/// What the mangled name of a function says about how it is called.
struct FunctionSignature {
  enum class Object : std::uint8_t {
    No,      ///< there is no `this`: no scope around it, operator new
    Yes,     ///< constructors, const members, operators that have to be members
    Unknown, ///< in a class or in a namespace, static or not
  };
  /// Constructors and destructors, which return nothing.
  enum class Structor : std::uint8_t {
    No,
    Complete,
    Base, ///< where there are virtual bases, behind `this` comes a pointer to a table of them
  };

  /// What the function is in, a class or a namespace: `at::native`; of templates with `<>`.
  std::string scope = {};
  /// Its own name, without what it is in and without template arguments; empty of a constructor, a
  /// destructor, a conversion.
  std::string name = {};
  Object object = Object::Unknown;
  Structor structor = Structor::No;
  std::optional<CppType> result; ///< not every name has it
  std::vector<CppType> parameters;
  bool is_variadic = false;

  bool operator==(const FunctionSignature&) const = default;
};

/// Nothing where `mangled` is no function's name of the Itanium C++ ABI, or one too long to be
/// worth it. The work and the size of what comes back are bounded.
std::optional<FunctionSignature> read_signature(std::string_view mangled);

} // namespace sonictrace::names
