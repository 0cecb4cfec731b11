// The grammar of ltrace 0.7.3, found by running it: every corner here was seen there.

#include <algorithm>
#include <optional>
#include <utility>

#include "probe/selector_rule.hpp"

namespace sonictrace {

namespace {

/// ltrace turns its globs into regular expressions and leaves `\x` as it is. That shows only
/// where `\x` means something there, as in `a\|b`.
bool needs_regex(std::string_view glob) {
  for (std::size_t at = 0; at + 1 < glob.size(); ++at) {
    if (glob[at] != '\\') continue;
    ++at;
    if (std::string_view("*?[]\\./").find(glob[at]) == std::string_view::npos) return true;
  }
  return false;
}

std::string to_regex(std::string_view glob) {
  std::string regex;
  for (std::size_t at = 0; at < glob.size(); ++at) {
    const char c = glob[at];
    if (c == '*') {
      regex += ".*";
    } else if (c == '?') {
      regex += '.';
    } else if (c == '\\' && at + 1 < glob.size()) {
      regex += c;
      regex += glob[++at];
    } else if (const std::size_t length = Glob::bracket_length(glob.substr(at)); length > 0) {
      regex += glob.substr(at, length);
      if (glob[at + 1] == '!') regex[regex.size() - length + 1] = '^';
      at += length - 1;
    } else {
      if (std::string_view(".^$[\\").find(c) != std::string_view::npos) regex += '\\';
      regex += c;
    }
  }
  return regex;
}

Result<NamePattern> compile(std::string_view text, bool is_regex) {
  if (is_regex) return NamePattern::ltrace_regex(text);
  if (needs_regex(text)) return NamePattern::ltrace_regex(to_regex(text));
  return NamePattern::glob(text);
}

/// A part of a rule with its slashes taken off.
struct Part {
  std::string_view text;
  bool is_regex = false;
  bool matches_nothing = false;
};

bool begins_with_slash(std::string_view text) { return !text.empty() && text.front() == '/'; }
bool ends_with_slash(std::string_view text) { return !text.empty() && text.back() == '/'; }

struct Parts {
  Part symbol;
  Part library;
};

Parts take_apart(std::string_view rule, std::vector<std::string>& warnings) {
  const std::size_t at = rule.find('@');
  const std::string_view symbol = rule.substr(0, at);
  const std::string_view library = at == std::string_view::npos ? "" : rule.substr(at + 1);
  Parts parts{{symbol}, {library}};

  const bool symbol_closed = symbol.size() >= 2 && ends_with_slash(symbol);
  if (begins_with_slash(symbol) && !symbol_closed && ends_with_slash(library)) { // /S@L/
    parts.symbol = {symbol.substr(1), true};
    parts.library = {library.substr(0, library.size() - 1), true};
    return parts;
  }
  if (begins_with_slash(symbol)) {
    parts.symbol = {symbol.substr(1, symbol.size() - (symbol_closed ? 2 : 1)), true};
    if (!symbol_closed) {
      warnings.emplace_back("Unmatched '/' in symbol name.");
      parts.symbol.matches_nothing = library.empty() || library == "*";
    }
  }
  if (begins_with_slash(library) && ends_with_slash(library) && library.size() >= 3) {
    parts.library = {library.substr(1, library.size() - 2), true};
  } else if (ends_with_slash(library)) {
    warnings.emplace_back("Unmatched '/' in library name.");
    parts.library = {library.substr(0, library.size() - 1), true, begins_with_slash(library)};
  } else if (begins_with_slash(library)) {
    parts.library.matches_nothing = true; // meant to be a path, but never compared with one
  }
  return parts;
}

ModulePattern against_soname(NamePattern pattern) {
  return {ModulePattern::Against::Soname, std::move(pattern)};
}

/// `rest` is what follows the rule in its filter; ltrace quotes it.
std::optional<SelectorRule> parse_rule(FilterOption option, std::string_view text, bool adds,
                                       std::string_view rest, std::vector<std::string>& warnings) {
  const auto ignored = [&](const Error& error) {
    warnings.push_back("Rule near '" + std::string(rest) + "' will be ignored: " + error.message() +
                       ".");
    return std::nullopt;
  };
  const Parts parts = take_apart(text, warnings);
  if (parts.symbol.matches_nothing) return std::nullopt;

  SelectorRule rule;
  rule.adds = adds;
  rule.text = text;
  if (!parts.symbol.text.empty() || parts.symbol.is_regex) {
    auto symbol = compile(parts.symbol.text, parts.symbol.is_regex);
    if (!symbol) return ignored(symbol.error());
    rule.symbol = *std::move(symbol);
  }

  ModulePattern module;
  if (parts.library.matches_nothing) {
    module = ModulePattern(ModulePattern::Against::Nothing);
  } else if (parts.library.text == "MAIN" && !parts.library.is_regex) {
    module = ModulePattern(ModulePattern::Against::Main);
  } else if (!parts.library.text.empty() || parts.library.is_regex) {
    auto library = compile(parts.library.text, parts.library.is_regex);
    if (!library) return ignored(library.error());
    module = against_soname(*std::move(library));
  }
  (option == FilterOption::Calls ? rule.caller : rule.library) = std::move(module);
  return rule;
}

/// -l takes one pattern for a module, in which + - @ ! are ordinary characters.
void parse_library(SelectorFilter& filter, std::string_view text,
                   std::vector<std::string>& warnings) {
  SelectorRule rule;
  rule.text = text;
  const bool is_regex = text.size() >= 2 && begins_with_slash(text) && ends_with_slash(text);
  if (!text.empty()) {
    auto library = compile(is_regex ? text.substr(1, text.size() - 2) : text, is_regex);
    if (!library) {
      warnings.push_back("Rule near '' will be ignored: " + library.error().message() + ".");
      return;
    }
    rule.library = against_soname(*std::move(library));
    if (begins_with_slash(text) && !is_regex)
      rule.library = ModulePattern(ModulePattern::Against::Nothing);
  }
  filter.rules.push_back(std::move(rule));
}

} // namespace

SelectorFilter parse_ltrace_filter(FilterOption option, std::string_view text,
                                   std::vector<std::string>& warnings) {
  SelectorFilter filter;
  filter.option = option;
  filter.text = text;
  if (option == FilterOption::Libraries) {
    parse_library(filter, text, warnings);
    return filter;
  }
  bool adds = true;
  if (!text.empty() && (text[0] == '+' || text[0] == '-' || text[0] == '!')) {
    // A leading + starts from everything, too.
    filter.from_all = true;
    adds = text[0] == '+';
    text.remove_prefix(1);
  }
  // The signs separate wherever they stand, in brackets and in names of libraries as well. A
  // rule between two of them may be empty, and then is everything; none follows a last one.
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("+-"), text.size());
    // A sign that follows an @ at once is not taken with the rule: an empty rule comes before it.
    const bool keeps_sign = end > 0 && end < text.size() && text.find('@') == end - 1;
    const std::string_view rest = text.substr(std::min(text.size(), end + (keeps_sign ? 0 : 1)));
    if (auto rule = parse_rule(option, text.substr(0, end), adds, rest, warnings))
      filter.rules.push_back(*std::move(rule));
    if (end < text.size() && !keeps_sign) adds = text[end] == '+';
    text = rest;
  }
  return filter;
}

} // namespace sonictrace
