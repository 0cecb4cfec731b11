#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "sonictrace/base/glob.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/probe/selector.hpp"

namespace sonictrace {

/// A pattern for one name: everything, a glob, or a POSIX basic regular expression.
class NamePattern {
public:
  NamePattern() = default; ///< everything

  static Result<NamePattern> glob(std::string_view text);
  /// Must match the whole name.
  static Result<NamePattern> regex(std::string_view expression);
  /// As ltrace anchors: `^EXPRESSION$` as text, so that in `a\|b` each side has one anchor only.
  static Result<NamePattern> ltrace_regex(std::string_view expression);

  bool matches(std::string_view name) const;
  bool is_everything() const;
  const std::string* literal() const; ///< see Glob::literal

private:
  struct FreeRegex {
    void operator()(regex_t* regex) const;
  };
  struct Regex {
    std::unique_ptr<regex_t, FreeRegex> compiled;
    bool whole = true; ///< the match must be all of the name
  };

  static Result<NamePattern> compile(const std::string& expression, bool whole);

  std::variant<Glob, Regex> pattern_;
};

/// A pattern for a module, with what it is compared with.
class ModulePattern {
public:
  enum class Against {
    Anything, ///< always matches
    Nothing,  ///< never does
    Main,     ///< whether it is the main program
    Soname,
    SonameOrFile, ///< the soname or the file's base name
    Path,
    AnyName, ///< soname, base name or path
  };

  ModulePattern() = default; ///< every module
  explicit ModulePattern(Against against) : against_(against) {}
  ModulePattern(Against against, NamePattern pattern)
      : against_(against), pattern_(std::move(pattern)) {}

  bool matches(const ModuleName& module) const;
  bool is_everything() const;

private:
  Against against_ = Against::Anything;
  NamePattern pattern_;
};

} // namespace sonictrace
