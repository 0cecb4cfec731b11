#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sonictrace/base/result.hpp"

namespace sonictrace::log {

/// Which module a function is in, known from elsewhere than the log that is read: by the function's
/// name.
class ModuleMap {
public:
  /// The first one of a function stays.
  void add(std::string_view function, std::string_view module) {
    modules_.try_emplace(std::string(function), module);
  }
  void add(const ModuleMap& other) {
    modules_.insert(other.modules_.begin(), other.modules_.end());
  }
  /// Empty where it is not known.
  std::string_view module_of(const std::string& function) const {
    const auto known = modules_.find(function);
    return known == modules_.end() ? std::string_view() : std::string_view(known->second);
  }
  std::size_t size() const { return modules_.size(); }

  /// Lines `MODULE FUNCTION`, or a log of sonictrace, of which it takes the lines
  /// `+++ FUNCTION is in MODULE +++`; also packed. `#` begins a comment. Fails with `NAME:LINE:
  /// what`.
  static Result<ModuleMap> read(const std::string& path);

private:
  std::unordered_map<std::string, std::string> modules_;
};

} // namespace sonictrace::log
