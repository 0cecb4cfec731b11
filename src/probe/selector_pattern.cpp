#include "probe/selector_pattern.hpp"

#include <algorithm>
#include <utility>

namespace sonictrace {

namespace {

// regcomp(3) expands repetitions to copies: `a\{1,32767\}` takes 1.6 GB, nested ones all there is.
constexpr std::size_t kMostCopies = 1000;
constexpr std::size_t kLongestRegex = 1000;

/// How many copies of something the repetitions ask for together, were they all nested.
std::size_t copies_asked_for(std::string_view expression) {
  std::size_t copies = 1;
  for (std::size_t at = 0; at + 1 < expression.size(); ++at) {
    if (expression[at] != '\\') continue;
    if (expression[++at] != '{') continue;
    std::size_t largest = 1;
    std::size_t number = 0;
    for (++at; at < expression.size() && expression[at] != '\\'; ++at) {
      const char c = expression[at];
      number = c >= '0' && c <= '9' ? number * 10 + static_cast<std::size_t>(c - '0') : 0;
      largest = std::max(largest, std::min(number, kMostCopies + 1));
      number = std::min(number, kMostCopies + 1);
    }
    --at; // the backslash belongs to the closing \}
    copies = std::min(copies * largest, kMostCopies + 1);
  }
  return copies;
}

bool has_back_reference(std::string_view expression) {
  for (std::size_t at = 0; at + 1 < expression.size(); ++at)
    if (expression[at] == '\\' && expression[++at] >= '1' && expression[at] <= '9') return true;
  return false;
}

} // namespace

void NamePattern::FreeRegex::operator()(regex_t* regex) const {
  ::regfree(regex);
  delete regex;
}

Result<NamePattern> NamePattern::glob(std::string_view text) {
  auto compiled = Glob::compile(text);
  if (!compiled) return std::move(compiled).error();
  NamePattern pattern;
  pattern.pattern_ = *std::move(compiled);
  return pattern;
}

Result<NamePattern> NamePattern::compile(const std::string& expression, bool whole) {
  if (expression.size() > kLongestRegex || copies_asked_for(expression) > kMostCopies)
    return Error::saying("Regular expression too big");
  auto raw = std::make_unique<regex_t>();
  if (const int failed = ::regcomp(raw.get(), expression.c_str(), 0); failed != 0) {
    char why[128] = "";
    ::regerror(failed, raw.get(), why, sizeof why);
    return Error::saying(why); // nothing to free: regcomp(3) failed
  }
  NamePattern pattern;
  pattern.pattern_ = Regex{std::unique_ptr<regex_t, FreeRegex>(raw.release()), whole};
  // Four of them on a name of 40 characters ran for 40 seconds.
  if (has_back_reference(expression)) return Error::saying("Back references are not supported");
  return pattern;
}

Result<NamePattern> NamePattern::regex(std::string_view expression) {
  return compile(std::string(expression), true);
}

Result<NamePattern> NamePattern::ltrace_regex(std::string_view expression) {
  return compile("^" + std::string(expression) + "$", false);
}

bool NamePattern::matches(std::string_view name) const {
  if (const auto* glob = std::get_if<Glob>(&pattern_)) return glob->matches(name);
  const Regex& regex = std::get<Regex>(pattern_);
  // With REG_STARTEND the name need not end in a zero byte.
  regmatch_t match{0, static_cast<regoff_t>(name.size())};
  const char* begin = name.data() == nullptr ? "" : name.data();
  if (::regexec(regex.compiled.get(), begin, 1, &match, REG_STARTEND) != 0) return false;
  // Of the matches that begin leftmost POSIX takes the longest: when any is whole, this one is.
  return !regex.whole || (match.rm_so == 0 && static_cast<std::size_t>(match.rm_eo) == name.size());
}

bool NamePattern::is_everything() const {
  const auto* glob = std::get_if<Glob>(&pattern_);
  return glob != nullptr && glob->is_everything();
}

const std::string* NamePattern::literal() const {
  const auto* glob = std::get_if<Glob>(&pattern_);
  return glob == nullptr ? nullptr : glob->literal();
}

bool ModulePattern::matches(const ModuleName& module) const {
  const auto file = [&module] { return module.path.substr(module.path.rfind('/') + 1); };
  switch (against_) {
    case Against::Anything: return true;
    case Against::Nothing: return false;
    case Against::Main: return module.is_main;
    case Against::Soname: return pattern_.matches(module.soname);
    case Against::SonameOrFile: return pattern_.matches(module.soname) || pattern_.matches(file());
    case Against::Path: return pattern_.matches(module.path);
    case Against::AnyName:
      return pattern_.matches(module.soname) || pattern_.matches(file()) ||
             pattern_.matches(module.path);
  }
  return false;
}

bool ModulePattern::is_everything() const {
  switch (against_) {
    case Against::Anything: return true;
    case Against::Nothing:
    case Against::Main: return false;
    default: return pattern_.is_everything();
  }
}

} // namespace sonictrace
