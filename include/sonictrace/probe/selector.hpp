#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// A module as selectors see it.
struct ModuleName {
  std::string_view soname; ///< DT_SONAME, or the file's base name where there is none
  std::string_view path;   ///< as mapped
  bool is_main = false;
};

/// A function as selectors see it.
struct FunctionName {
  std::string_view mangled;
  std::string_view short_name; ///< demangled, without parameters; equal to `mangled` for C
  /// It is called after its place, `libfoo.so+0x1234`: only rules that say so (+0x) select it.
  bool is_place = false;
};

/// What the user wrote.
struct SelectorOptions {
  std::vector<std::string> calls;     ///< -e
  std::vector<std::string> libraries; ///< -l
  std::vector<std::string> entries;   ///< -x
  bool no_default = false;            ///< -L
  bool ltrace = false;                ///< --ltrace: its grammar and meaning
};

/// The -e, -l, -x and -L of one session, compiled. Grammar and meaning: docs/man/sonictrace.1.
/// Used by one thread: it remembers what it has seen.
class SelectorSet {
public:
  /// Fails with one line that names the option, the pattern and what is wrong with it.
  /// Never fails with `options.ltrace`: a bad rule is left out there, see `warnings`.
  static Result<SelectorSet> parse(const SelectorOptions& options);
  SelectorSet(SelectorSet&&) noexcept;
  SelectorSet& operator=(SelectorSet&&) noexcept;
  ~SelectorSet();

  /// Neither -e, -l nor -L was given: the caller decides what the default set is.
  bool uses_default() const;
  /// What ltrace says of filters that it can't use, a line each; only with
  /// `SelectorOptions::ltrace`.
  const std::vector<std::string>& warnings() const;
  /// Lines must show who calls (`CALLER->`): a rule selects by it, or, as ltrace does it, there
  /// is an -e or -l. `NAME@MAIN` alone does not count: there is one caller only.
  bool shows_caller() const;
  bool has_call_rules() const;     ///< any -e or -l
  bool has_only_libraries() const; ///< -l, and no -e
  bool has_entry_rules() const;    ///< any -x

  /// Whether a call of `function`, made by `caller`, is wanted. `callee` is the module that
  /// implements it; null while that is not known (a rule with a library then does not match).
  /// Remembers which patterns matched anything.
  bool selects_call(const ModuleName& caller, const FunctionName& function,
                    const ModuleName* callee);
  /// Whether any -x may select a function by its place.
  bool names_places() const;
  /// Whether the entry point of `function` in `module` is wanted.
  bool selects_entry(const ModuleName& module, const FunctionName& function);

  /// The module is there: `unmatched` must not say that none of its name is.
  void see_module(const ModuleName& module);
  /// False when no module that might implement it would make this call a wanted one: then nobody
  /// need search for that module.
  bool may_select_call(const ModuleName& caller, const FunctionName& function) const;
  /// Cheap pre-checks: false when no rule can match anything called by / contained in the module.
  bool may_select_calls_of(const ModuleName& caller) const;
  bool may_select_entries_of(const ModuleName& module) const;

  /// One line for each pattern that has matched nothing so far, with advice where there is some
  /// (a LIBRARY with + or - in it that matches no module: write a comma). None with
  /// `SelectorOptions::ltrace`, since ltrace is silent about it.
  std::vector<std::string> unmatched() const;

private:
  struct Rules;
  explicit SelectorSet(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

} // namespace sonictrace
