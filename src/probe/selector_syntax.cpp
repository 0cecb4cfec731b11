#include "probe/selector_syntax.hpp"

#include <algorithm>

#include "sonictrace/base/glob.hpp"

namespace sonictrace {

namespace {

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Length of the operator that a C++ operator function's name ends with; 0: none (`operator new`).
std::size_t operator_length(std::string_view text) {
  // [over.oper]; a longer one before each that it begins with. Those without a character that
  // means something in a filter need no entry.
  static constexpr std::string_view kOperators[] = {
      "->*", "->",  "--",  "-=", "-",  "++", "+=",  "+",  ",",  "()",
      "[]",  "<=>", "<<=", "<<", "<=", "<",  ">>=", ">>", ">=", ">",
  };
  for (const std::string_view one : kOperators)
    if (text.substr(0, one.size()) == one) return one.size();
  return 0;
}

bool is_literal_bracket(std::string_view text) {
  return text.substr(0, 2) == "[]" || text.substr(0, 5) == "[abi:";
}

constexpr std::string_view kSeparators = ",+-@";

/// Length of the name of a place that the text begins with, `libfoo.so+0x1234`, perhaps with
/// wildcards in the number; 0: of none. It ends before a comma, `@`, a blank, or another rule.
std::size_t place_length(std::string_view text) {
  constexpr std::string_view kNumber = "+0x";
  constexpr std::size_t kLongest = 1024; // a filter of nothing but signs is to take linear time
  text = text.substr(0, kLongest);
  std::size_t end = text.find_first_of(",@ />");
  if (end == std::string_view::npos) end = text.size();
  const std::size_t number = text.substr(0, end).find(kNumber);
  if (number == std::string_view::npos || number == 0) return 0;
  std::size_t at = number + kNumber.size();
  while (at < end &&
         std::string_view("0123456789abcdef*?").find(text[at]) != std::string_view::npos)
    ++at;
  const bool is_whole = at == end || text[at] == '+' || text[at] == '-';
  return is_whole && at > number + kNumber.size() ? at : 0;
}

} // namespace

FilterSyntax::FilterSyntax(std::string_view text)
    : text_(text), free_(text.size(), true), arrow_(text.size(), false) {
  bool at_start = true; // of a pattern: the only place where a slash opens a regular expression
  for (std::size_t at = 0; at < text_.size() && fault_.empty();) {
    const char c = text_[at];
    if (at_start && c == '/') {
      if (const std::size_t length = regex_length(at); length > 0) {
        std::fill_n(free_.begin() + static_cast<std::ptrdiff_t>(at), length, false);
        at += length;
        at_start = false;
        continue;
      }
    }
    const std::size_t place = at_start && kSeparators.find(c) == std::string_view::npos
                                  ? place_length(text_.substr(at))
                                  : 0;
    if (const std::size_t length = std::max(place, name_length(at)); length > 0) {
      std::fill_n(free_.begin() + static_cast<std::ptrdiff_t>(at), length, false);
      at += length;
      at_start = false;
      continue;
    }
    if (text_.substr(at, 2) == "->") {
      arrow_[at] = true;
      at += 2;
      at_start = true;
      continue;
    }
    switch (c) {
      case '<': open_bracket('>', at); break;
      case '(': open_bracket(')', at); break;
      case '[':
        if (is_literal_bracket(text_.substr(at)))
          open_bracket(']', at);
        else
          fault_ = "Unmatched [, [^, [:, [., or [=";
        break;
      case '>':
      case ')':
      case ']': close_bracket(c, at); break;
      case '@': // is in no name: what is still open never closes
        open_.clear();
        open_counts_ = {};
        break;
      default: break;
    }
    at_start = kSeparators.find(c) != std::string_view::npos || (at_start && c == ' ');
    ++at;
  }
  for (const auto& [from, to] : inside_) {
    std::fill(free_.begin() + static_cast<std::ptrdiff_t>(from),
              free_.begin() + static_cast<std::ptrdiff_t>(to), false);
    std::fill(arrow_.begin() + static_cast<std::ptrdiff_t>(from),
              arrow_.begin() + static_cast<std::ptrdiff_t>(to), false);
  }
}

/// Length of what belongs to a name as a whole at this place; 0: an ordinary character.
std::size_t FilterSyntax::name_length(std::size_t at) const {
  constexpr std::string_view kOperator = "operator";
  const std::string_view rest = text_.substr(at);
  if (rest[0] == '\\') return std::min<std::size_t>(2, rest.size());
  if (rest[0] == '[') return is_literal_bracket(rest) ? 0 : Glob::bracket_length(rest);
  if (rest.substr(0, kOperator.size()) != kOperator) return 0;
  if (at > 0 && is_word(text_[at - 1])) return 0;
  return kOperator.size() + operator_length(rest.substr(kOperator.size()));
}

/// Length of the /RE/ that begins here; 0: it is none, as the path in `@/usr/lib/libx*`.
std::size_t FilterSyntax::regex_length(std::size_t at) const {
  for (std::size_t end = at + 1; end < text_.size(); ++end) {
    if (text_[end] == '\\') {
      ++end;
    } else if (text_[end] == '/') {
      const bool is_last = end + 1 == text_.size();
      const bool is_library = at > 0 && text_[at - 1] == '@';
      const std::string_view may_follow = is_library ? "," : kSeparators;
      if (is_last || may_follow.find(text_[end + 1]) != std::string_view::npos) return end - at + 1;
      return 0;
    }
  }
  return 0;
}

void FilterSyntax::open_bracket(char close, std::size_t at) {
  open_.push_back({close, at});
  ++open_count(close);
}

void FilterSyntax::close_bracket(char close, std::size_t at) {
  if (open_count(close) == 0) return; // without a search: `<<<<))))` is to take linear time
  // What was opened after the partner and is still open is an ordinary character: `(a<b)`.
  while (open_.back().close != close)
    forget_last_open();
  const std::size_t begin = open_.back().at;
  forget_last_open();
  // An outer pair replaces those inside it, so that marking them stays linear, too.
  while (!inside_.empty() && inside_.back().first > begin)
    inside_.pop_back();
  inside_.emplace_back(begin, at + 1);
}

void FilterSyntax::forget_last_open() {
  --open_count(open_.back().close);
  open_.pop_back();
}

std::size_t& FilterSyntax::open_count(char close) {
  return open_counts_[close == '>' ? 0 : close == ')' ? 1 : 2];
}

std::string to_glob(std::string_view text) {
  std::string glob;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    std::size_t length = 1;
    if (is_literal_bracket(rest))
      glob += '\\';
    else if (rest[0] == '\\')
      length = 2;
    else if (rest[0] == '[')
      length = std::max<std::size_t>(1, Glob::bracket_length(rest));
    glob += rest.substr(0, length);
    at += length - 1;
  }
  return glob;
}

} // namespace sonictrace
