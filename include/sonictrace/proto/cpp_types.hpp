#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/type.hpp"

namespace sonictrace::proto {

class CppPack;

/// What is known of a type of C++ that a mangled name has.
struct CppValue {
  /// How it is passed by value (Itanium C++ ABI, 3.1.1; psABI, 3.2.3).
  enum class Passed : std::uint8_t {
    Plainly,     ///< as the `type` says: in registers, or on the stack
    ByReference, ///< a class that is not trivially copied: a pointer to it
    Unknown,     ///< a class or an enumeration, of whatever size
  };

  const Type* type = nullptr; ///< as it lies in memory; null: not known
  Passed passed = Passed::Unknown;
};

/// Turns types of mangled names into types of prototypes. Layouts are those of libstdc++ (both of
/// its ABIs) and libc++, which their namespaces tell apart, and of classes of some other libraries
/// that have not changed for long.
class CppTypes {
public:
  /// `pack`: what is known of enumerations and classes of one library; null where nothing.
  explicit CppTypes(TypeArena& arena, const CppPack* pack = nullptr) : arena_(arena), pack_(pack) {}

  CppValue value(const names::CppType& type) { return value(type, 0); }
  /// Who is asked about types that are not known here, but stand in others: `std::vector<Color>`.
  using Resolver = std::function<CppValue(const names::CppType&)>;
  void set_resolver(Resolver resolver) { resolver_ = std::move(resolver); }
  /// Of a parameter or a result that is passed as a pointer to `type`, or null for any object.
  const Type* reference_to(const Type* type);
  /// A number whose values have the names of an enumeration; null where that can't be.
  const Type* named_values(const Type& number, std::string_view enumeration);
  /// `words` of which nothing is known.
  const Type* opaque(std::uint8_t words, Lens lens = Lens::Plain);

private:
  CppValue value(const names::CppType& type, int depth);
  CppValue builtin(const names::CppType& type);
  CppValue named(const names::CppType& type, int depth);
  CppValue packed(std::string_view name, int depth);
  CppValue string(const names::CppType& type, wire::SequenceLayout layout);
  CppValue sequence(const names::CppType& type, wire::SequenceLayout layout,
                    CppValue::Passed passed, int depth);
  CppValue optional(const names::CppType& type, wire::SequenceLayout layout, int depth,
                    bool is_in_union = false);
  CppValue tensor();
  const Type* matrix();
  const Type* input_array();
  CppValue array(const names::CppType& type, int depth);
  CppValue structure(const names::CppType& type, std::size_t fields, int depth);
  const Type* referred(const names::CppType& type, int depth);
  const Type* pointer(const names::CppType& target);
  const Type* text(TypeKind kind, std::uint8_t size);
  const Type* scalar(TypeKind kind, std::uint8_t size, Lens lens = Lens::Plain);

  TypeArena& arena_;
  const CppPack* pack_;
  Resolver resolver_;
};

} // namespace sonictrace::proto
