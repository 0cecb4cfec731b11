#include "sonictrace/base/glob.hpp"

#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace sonictrace {

namespace {

constexpr const char* kUnmatched = "Unmatched [, [^, [:, [., or [=";

struct NamedClass {
  std::string_view name;
  int (*test)(int);
};

// POSIX 9.3.5. In the C locale, whatever the tracer's: a trace must not depend on it.
constexpr NamedClass kClasses[] = {
    {"alpha", std::isalpha}, {"digit", std::isdigit}, {"alnum", std::isalnum},
    {"upper", std::isupper}, {"lower", std::islower}, {"space", std::isspace},
    {"punct", std::ispunct}, {"print", std::isprint}, {"graph", std::isgraph},
    {"cntrl", std::iscntrl}, {"blank", std::isblank}, {"xdigit", std::isxdigit},
};

constexpr unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

/// Length of `[:name:]`, `[=x=]` or `[.x.]` at the beginning of `text`; 0: none.
std::size_t inner_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '[') return 0;
  const char kind = text[1];
  if (kind != ':' && kind != '=' && kind != '.') return 0;
  const char end[] = {kind, ']'};
  const auto found = text.find(std::string_view(end, 2), 2);
  return found == std::string_view::npos ? 0 : found + 2;
}

} // namespace

std::size_t Glob::bracket_length(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  std::size_t at = 1;
  if (at < text.size() && (text[at] == '!' || text[at] == '^')) ++at;
  if (at < text.size() && text[at] == ']') ++at; // first in the list it is an ordinary character
  while (at < text.size() && text[at] != ']') {
    const std::size_t inner = inner_length(text.substr(at));
    // An opened [: that nothing closes leaves the whole expression unmatched, as in regcomp(3).
    if (inner == 0 && text[at] == '[' && at + 1 < text.size() &&
        std::strchr(":=.", text[at + 1]) != nullptr)
      return 0;
    at += inner == 0 ? 1 : inner;
  }
  return at < text.size() ? at + 1 : 0;
}

void Glob::append(Run& run, char byte) {
  run.bytes.push_back(byte);
  if (!run.sets.empty()) run.sets.push_back(0);
}

void Glob::append_set(Run& run, const Set& set) {
  std::size_t index = 0;
  while (index < sets_.size() && sets_[index] != set)
    ++index;
  if (index == sets_.size()) sets_.push_back(set);
  run.sets.resize(run.bytes.size());
  run.bytes.push_back('\0');
  run.sets.push_back(static_cast<std::uint16_t>(index + 1));
}

Result<void> Glob::append_set(Run& run, std::string_view bracket) {
  std::string_view list = bracket.substr(1, bracket.size() - 2);
  const bool negated = !list.empty() && (list[0] == '!' || list[0] == '^');
  if (negated) list.remove_prefix(1);
  Set set;
  // The character that `list` begins with, taken off; [=x=] and [.x.] are one, too.
  const auto take = [&list]() -> std::optional<unsigned char> {
    const std::size_t inner = inner_length(list);
    if (inner == 0) {
      const unsigned char c = byte_of(list[0]);
      list.remove_prefix(1);
      return c;
    }
    if (inner != 5) return std::nullopt; // "[=x=]": we know no names of more than one character
    const unsigned char c = byte_of(list[2]);
    list.remove_prefix(inner);
    return c;
  };
  while (!list.empty()) {
    if (list.substr(0, 2) == "[:") {
      const std::size_t length = inner_length(list);
      const std::string_view name = list.substr(2, length - 4);
      const NamedClass* known = nullptr;
      for (const NamedClass& one : kClasses)
        if (one.name == name) known = &one;
      if (known == nullptr) return Error::saying("Invalid character class name");
      for (int c = 0; c < 128; ++c)
        if (known->test(c) != 0) set.set(static_cast<std::size_t>(c));
      list.remove_prefix(length);
      continue;
    }
    const auto first = take();
    if (!first) return Error::saying("Invalid collation character");
    auto last = first;
    if (list.size() >= 2 && list[0] == '-') {
      list.remove_prefix(1);
      last = take();
      if (!last) return Error::saying("Invalid collation character");
    }
    if (*last < *first) return Error::saying("Invalid range end");
    for (unsigned c = *first; c <= *last; ++c)
      set.set(c);
  }
  append_set(run, negated ? ~set : set);
  return {};
}

Result<Glob> Glob::compile(std::string_view pattern) {
  Glob glob;
  glob.floating_ = false;
  std::vector<Run> runs(1);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '*') {
      if (!glob.floating_ || runs.back().size() != 0) runs.emplace_back();
      glob.floating_ = true;
    } else if (c == '?') {
      glob.append_set(runs.back(), ~Set());
    } else if (c == '[') {
      const std::size_t length = bracket_length(pattern.substr(at));
      if (length == 0) return Error::saying(kUnmatched);
      // Every different set costs an index; more than fit can't be written by hand.
      if (glob.sets_.size() + 1 >= std::numeric_limits<std::uint16_t>::max())
        return Error::saying("too many bracket expressions");
      if (auto added = glob.append_set(runs.back(), pattern.substr(at, length)); !added)
        return std::move(added).error();
      at += length - 1;
    } else {
      // A backslash at the very end stands for itself.
      if (c == '\\' && at + 1 < pattern.size()) ++at;
      glob.append(runs.back(), pattern[at]);
    }
  }
  glob.head_ = std::move(runs.front());
  if (glob.floating_) {
    glob.tail_ = std::move(runs.back());
    runs.pop_back();
    glob.middle_.assign(std::make_move_iterator(runs.begin() + 1),
                        std::make_move_iterator(runs.end()));
  }
  return glob;
}

bool Glob::matches_at(const Run& run, const char* text) const {
  if (run.sets.empty()) return std::memcmp(run.bytes.data(), text, run.size()) == 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const std::uint16_t set = run.sets[i];
    const bool fits = set == 0 ? run.bytes[i] == text[i] : sets_[set - 1u].test(byte_of(text[i]));
    if (!fits) return false;
  }
  return true;
}

std::size_t Glob::find(const Run& run, std::string_view text) const {
  if (run.sets.empty()) return text.find(run.bytes);
  for (std::size_t at = 0; at + run.size() <= text.size(); ++at)
    if (matches_at(run, text.data() + at)) return at;
  return std::string_view::npos;
}

bool Glob::matches(std::string_view text) const {
  if (!floating_) return text.size() == head_.size() && matches_at(head_, text.data());
  if (text.size() < head_.size() + tail_.size()) return false;
  if (!matches_at(head_, text.data())) return false;
  if (!matches_at(tail_, text.data() + (text.size() - tail_.size()))) return false;
  text.remove_prefix(head_.size());
  text.remove_suffix(tail_.size());
  // The leftmost place for each run leaves the most room for the next: no backtracking is needed.
  for (const Run& run : middle_) {
    const std::size_t at = find(run, text);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + run.size());
  }
  return true;
}

} // namespace sonictrace
