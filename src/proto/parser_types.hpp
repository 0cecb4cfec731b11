#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proto/parser_scope.hpp"
#include "sonictrace/base/result.hpp"

namespace sonictrace::proto {

/// Can a value of this type be a length, or be compared with numbers?
bool is_integer(const Type& type);

/// Makes types for a text, within bounds: what a text can cost must not grow faster than the text.
class TypeBuilder {
public:
  /// `checks_lengths`: what a length refers to must be an integer.
  TypeBuilder(TypeArena& arena, bool checks_lengths)
      : arena_(arena), checks_lengths_(checks_lengths) {}

  /// A type that has a name of its own: int, addr, string...; null where there is none.
  /// `additions`: those that ltrace does not have too.
  static const KnownType* plain(std::string_view name, bool additions);

  Result<KnownType> pointer_to(const KnownType& target);
  Result<KnownType> array_of(const KnownType& element, const Length& length);
  Result<KnownType> struct_of(const std::vector<KnownType>& fields);
  KnownType declared_struct();
  /// Fills what declared_struct() made.
  Result<void> define(KnownType& declared, const KnownType& definition);

  /// A pointer to `length` characters.
  Result<KnownType> text(Lens lens, bool wide, const Length& length);
  /// hex, oct, bool, hide...: of a compound type they go down to its elements.
  Result<KnownType> with_lens(const KnownType& type, Lens lens);
  /// string(T), path(T), bytes(T): of what is no text, nothing changes.
  Result<KnownType> with_text_lens(const KnownType& type, Lens lens);
  Result<KnownType> with_names(const KnownType& type, Lens lens, NameTable names);

private:
  using Copies = std::unordered_map<const Type*, Type*>;

  Result<Type*> make(Type type);
  /// Null where there are too many types.
  Type* copy_with_lens(const Type& type, Lens lens, unsigned nesting, Copies& structs);

  TypeArena& arena_;
  const bool checks_lengths_;
  std::size_t made_ = 0;
};

} // namespace sonictrace::proto
