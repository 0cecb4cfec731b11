#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/names/signature.hpp"
#include "sonictrace/proto/type.hpp"

namespace sonictrace::proto {

/// What the headers of a C++ library say that mangled names don't: src/proto/prototypes/*.pack,
/// whose form docs/PROTOTYPES.md has. For one thread.
class CppPack {
public:
  /// Of `text` only where its lines are is noted, and it must stay. A line that can't be read says
  /// nothing.
  explicit CppPack(std::string_view text);

  /// What the pack of `text` is about: sonames with their versions.
  static std::vector<std::string_view> libraries_of(std::string_view text);

  struct Enumeration {
    TypeKind kind = TypeKind::Signed;
    std::uint8_t size = 4;
    bool is_flags = false;
    std::shared_ptr<const NameTable> names;
  };
  std::optional<Enumeration> enumeration(std::string_view name) const;

  /// How a class is passed by value: `R`, by reference; `0`, not at all; `*N`, as N words of which
  /// nothing is known; else the mangled types of its fields. Empty: not known.
  std::string_view passing(std::string_view name) const;

  struct Function {
    std::optional<bool> is_member; ///< with a `this`
    bool has_table = true;         ///< base constructors and destructors have one of virtual bases
    std::optional<names::CppType> result;
    std::vector<std::pair<std::uint32_t, std::string_view>> enumerations; ///< by parameter, 1-based
  };
  Function function(const names::FunctionSignature& signature, std::string_view mangled) const;

  /// What it says of functions, a line each: `static at::Tensor at::_ops::abs::*(...)`, where `*`
  /// is all of its scope.
  std::vector<std::string> list() const;

private:
  struct Row {
    std::string_view key, rest;
  };
  struct Scope {
    std::string_view key, rest;
    std::string_view lines; ///< of its functions, each with a space in front
  };

  std::string shown(std::string_view says, char kind, std::string_view mark) const;
  void read_says(std::string_view says, std::optional<bool> is_member, Function& function) const;

  std::vector<Row> enumerations_, flags_, classes_;
  std::vector<Scope> scopes_;
  std::vector<std::string_view> results_;
  mutable std::map<std::string, Enumeration, std::less<>> read_;
};

} // namespace sonictrace::proto
