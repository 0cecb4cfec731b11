// sonictrace's own grammar of filters; docs/man/sonictrace.1 has it in words.

#include <utility>

#include "probe/selector_rule.hpp"
#include "probe/selector_syntax.hpp"

namespace sonictrace {

namespace {

using Against = ModulePattern::Against;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool is_regex(std::string_view text) {
  return text.size() >= 2 && text.front() == '/' && text.back() == '/';
}

Error unusable(std::string_view part, const Error& why) {
  return Error::saying(std::string(part) + ": " + why.message());
}

Result<NamePattern> compile_symbol(std::string_view text) {
  if (text.empty()) return NamePattern();
  if (text.front() == '/' && !is_regex(text))
    return Error::saying(std::string(text) + ": a regular expression ends with /, too");
  auto pattern = is_regex(text) ? NamePattern::regex(text.substr(1, text.size() - 2))
                                : NamePattern::glob(to_glob(text));
  if (!pattern) return unusable(text, pattern.error());
  return pattern;
}

Result<ModulePattern> compile_module(std::string_view text) {
  if (text.empty()) return ModulePattern();
  if (text == "MAIN") return ModulePattern(Against::Main);
  if (text.front() == '@')
    return Error::saying("@" + std::string(text) + ": symbol versions can't be selected");
  auto pattern = is_regex(text) ? NamePattern::regex(text.substr(1, text.size() - 2))
                                : NamePattern::glob(to_glob(text));
  if (!pattern) return unusable(text, pattern.error());
  const Against against = is_regex(text)                             ? Against::AnyName
                          : text.find('/') != std::string_view::npos ? Against::Path
                                                                     : Against::SonameOrFile;
  return ModulePattern(against, *std::move(pattern));
}

/// A rule cut into its parts.
struct Parts {
  bool has_caller = false;
  std::string_view caller;
  std::string_view symbol;
  std::string_view library;
};

Result<SelectorRule> compile_rule(FilterOption option, bool adds, std::string_view text,
                                  Parts parts) {
  // /S@L/ is /S/@/L/, as with ltrace.
  std::string symbol(parts.symbol);
  std::string library(parts.library);
  if (is_regex(symbol)) {
    if (const auto at = symbol.find('@'); at != std::string::npos) {
      library = "/" + symbol.substr(at + 1);
      symbol = symbol.substr(0, at) + "/";
    }
  }
  SelectorRule rule;
  rule.adds = adds;
  rule.text = text;
  auto compiled = compile_symbol(symbol);
  if (!compiled) return std::move(compiled).error();
  rule.symbol = *std::move(compiled);

  auto where = compile_module(library);
  if (!where) return std::move(where).error();
  // A call has two modules. Without a CALLER-> before it, MAIN is the one that makes the call:
  // who writes `malloc@MAIN` wants the program's own calls of malloc.
  if (library == "MAIN" && option != FilterOption::Entries && !parts.has_caller) {
    rule.caller = *std::move(where);
    return rule;
  }
  rule.library = *std::move(where);
  rule.library_text = library;
  if (!parts.has_caller) return rule;

  if (option == FilterOption::Entries)
    return Error::saying("-x watches functions, whoever calls them; give CALLER-> to -e");
  auto caller = compile_module(parts.caller);
  if (!caller) return std::move(caller).error();
  rule.caller = *std::move(caller);
  rule.caller_text = parts.caller;
  rule.names_caller = true;
  return rule;
}

/// Cuts one filter into rules.
class Parser {
public:
  Parser(FilterOption option, std::string_view text) : text_(text), syntax_(text) {
    filter_.option = option;
    filter_.text = text;
  }

  Result<SelectorFilter> parse() {
    if (!syntax_.fault().empty())
      return Error::saying(syntax_.fault() + "; write \\[ for a bracket that is part of a name");
    const auto sign = text_.find_first_not_of(' ');
    if (sign != std::string_view::npos && filter_.option != FilterOption::Libraries)
      filter_.from_all = text_[sign] == '!' || (text_[sign] == '-' && !syntax_.is_arrow(sign));
    for (std::size_t begin = 0; begin <= text_.size();) {
      const std::size_t end = find_free(",", begin, text_.size());
      auto added = parse_between_commas(begin, end);
      if (!added) return std::move(added).error();
      begin = end + 1;
    }
    // An empty filter is an empty pattern: everything.
    if (filter_.rules.empty() && !filter_.from_all) filter_.rules.emplace_back();
    return std::move(filter_);
  }

private:
  std::size_t find_free(std::string_view any_of, std::size_t from, std::size_t end) const {
    for (std::size_t at = from; at < end; ++at)
      if (syntax_.is_free(at) && any_of.find(text_[at]) != std::string_view::npos) return at;
    return end;
  }

  std::size_t find_arrow(std::size_t from, std::size_t end) const {
    for (std::size_t at = from; at < end; ++at)
      if (syntax_.is_arrow(at)) return at;
    return end;
  }

  std::string_view between(std::size_t begin, std::size_t end) const {
    return trimmed(text_.substr(begin, end - begin));
  }

  Result<void> parse_between_commas(std::size_t begin, std::size_t end) {
    if (filter_.option == FilterOption::Libraries) {
      const std::string_view library = between(begin, end);
      return library.empty() ? Result<void>() : add(true, library, {false, {}, {}, library});
    }
    bool adds = true;
    std::size_t at = begin;
    while (at < end && text_[at] == ' ')
      ++at;
    if (at < end && (text_[at] == '+' || text_[at] == '-' || (text_[at] == '!' && begin == 0)) &&
        !syntax_.is_arrow(at)) {
      adds = text_[at] == '+';
      ++at;
    }
    const std::size_t library_sign = find_free("@", at, end);
    std::size_t arrow = find_arrow(at, library_sign);
    while (at < end) {
      const std::size_t rule_begin = at;
      Parts parts;
      // A name of a caller, as one of a library, may have + and - in it: all before the arrow is.
      if (arrow < at) arrow = find_arrow(at, library_sign);
      if (arrow != library_sign) {
        parts.has_caller = true;
        parts.caller = between(at, arrow);
        at = arrow + 2;
      }
      std::size_t next = find_free("+-", at, library_sign);
      if (next != library_sign && syntax_.is_arrow(next))
        return Error::saying(std::string(between(rule_begin, end)) + ": more than one ->");
      parts.symbol = between(at, next);
      if (next == library_sign && library_sign != end) { // behind @ all belongs to the name
        parts.library = between(library_sign + 1, end);
        next = end;
      }
      auto added = add(adds, between(rule_begin, next), parts);
      if (!added) return added;
      if (next == end) break;
      adds = text_[next] == '+';
      at = next + 1;
    }
    return {};
  }

  Result<void> add(bool adds, std::string_view text, const Parts& parts) {
    if (text.empty()) return {}; // nothing between two separators
    auto rule = compile_rule(filter_.option, adds, text, parts);
    if (!rule) return std::move(rule).error();
    filter_.rules.push_back(*std::move(rule));
    return {};
  }

  std::string_view text_;
  FilterSyntax syntax_;
  SelectorFilter filter_;
};

} // namespace

const char* to_string(FilterOption option) {
  switch (option) {
    case FilterOption::Calls: return "-e";
    case FilterOption::Libraries: return "-l";
    case FilterOption::Entries: return "-x";
  }
  return "?";
}

Result<SelectorFilter> parse_filter(FilterOption option, std::string_view text) {
  return Parser(option, text).parse();
}

} // namespace sonictrace
