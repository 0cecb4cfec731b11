#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/selector_pattern.hpp"

namespace sonictrace {

/// The option that a filter was given to.
enum class FilterOption { Calls, Libraries, Entries }; // -e, -l, -x

const char* to_string(FilterOption option);

/// `[CALLER->]SYMBOL[@LIBRARY]`, compiled.
struct SelectorRule {
  bool adds = true; ///< otherwise it subtracts
  NamePattern symbol;
  ModulePattern caller;  ///< who makes the call
  ModulePattern library; ///< who has the function
  std::string text;      ///< as the user wrote it, without the sign
  std::string library_text;
  std::string caller_text;
  bool names_caller = false; ///< has a `CALLER->`

  /// It has a `+0x`, as the names of functions that are called after their place do.
  bool names_places() const { return text.find("+0x") != std::string::npos; }
  bool is_everything() const {
    return symbol.is_everything() && caller.is_everything() && library.is_everything();
  }
};

/// The rules of one option, from left to right; the last that matches decides.
struct SelectorFilter {
  FilterOption option = FilterOption::Calls;
  std::string text;      ///< as the user wrote it
  bool from_all = false; ///< selects what no rule matches
  std::vector<SelectorRule> rules;
};

/// sonictrace's grammar. Fails with what is wrong, in one line without the option's name.
Result<SelectorFilter> parse_filter(FilterOption option, std::string_view text);

/// ltrace's grammar. Never fails: what can't be used is left out, and a line added to `warnings`.
SelectorFilter parse_ltrace_filter(FilterOption option, std::string_view text,
                                   std::vector<std::string>& warnings);

} // namespace sonictrace
