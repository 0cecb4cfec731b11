#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sonictrace/proto/type.hpp"

namespace sonictrace::proto {

// What a text may have at most: beyond that somebody has lost a parenthesis, or wants to harm.
inline constexpr std::size_t kMostParameters = 32;
inline constexpr std::size_t kMostFields = 256;

/// What is found out about a type while it is built. Types refer to each other in circles, so
/// nothing walks over them afterwards.
struct TypeFacts {
  std::uint32_t size = 0;     ///< bytes by value, where words have 8
  std::uint32_t weight = 1;   ///< types in it, by value
  std::uint32_t nesting = 1;  ///< how deep types are in each other, pointers counted
  std::uint32_t argument = 0; ///< the highest N of an argN in it
  std::uint32_t element = 0;  ///< the highest N of an eltN that belongs to a struct around it
  bool result = false;        ///< it has a length that is the result
  std::bitset<kMostParameters + 1> arguments = {}; ///< each such N that there can be
  std::bitset<kMostFields + 1> elements = {};      ///< the same
};

struct KnownType {
  Type* type = nullptr; ///< not to be changed, except when a declared struct is defined
  TypeFacts facts;
};

/// Typedefs by name, as one text sees them.
class ConfScope {
public:
  /// Its own, else an imported one; null where the name is not known.
  const KnownType* find(std::string_view name) const;
  /// Of its own, not an imported one.
  KnownType* find_own(std::string_view name);
  const KnownType* find_own(std::string_view name) const;
  void define(std::string_view name, const KnownType& type);
  void import(const ConfScope& scope) { imports_.push_back(&scope); }
  const std::vector<const ConfScope*>& imports() const { return imports_; }

private:
  /// Lets views look for strings.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  std::unordered_map<std::string, KnownType, Hash, std::equal_to<>> own_;
  std::vector<const ConfScope*> imports_;
};

} // namespace sonictrace::proto
