#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace sonictrace::names {

/// What the names in a module tell of scopes and classes. `foo::bar(int)` does not say whether
/// `foo` is a namespace or a class; that the module has an `operator+` of two operands in `foo`
/// does. A scope that is neither here nor there may be anything: there is no guessing.
class ScopeFacts {
public:
  /// One name of a symbol, of a function or of data, defined or not. Most tell nothing, quickly.
  void add(std::string_view mangled);

  /// `scope` as FunctionSignature::scope has it. A namespace for certain: what is in it has no
  /// `this`.
  bool is_namespace(std::string_view scope) const { return namespaces_.contains(scope); }
  /// `name` as CppType::name has it, without template arguments. A class for certain that is not
  /// trivially copied (Itanium C++ ABI, 3.1.1): it is passed as a pointer.
  bool is_passed_by_reference(std::string_view name) const { return copied_.contains(name); }

private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Names = std::unordered_set<std::string, Hash, std::equal_to<>>;

  void add_function(std::string_view mangled);
  void add_namespace(const std::string& scope);

  Names namespaces_, copied_;
};

} // namespace sonictrace::names
