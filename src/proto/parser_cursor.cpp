#include "proto/parser_cursor.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace sonictrace::proto {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters)
    table[static_cast<unsigned char>(c)] = true;
  return table;
}

/// Letters, digits, and what else names may hold.
constexpr auto kNameCharacters =
    table_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.@:~");
/// What matters to skim_prototype() within parentheses.
constexpr auto kEndsOfParameters = table_of("()\n;#");

bool is_name_char(char c) { return kNameCharacters[static_cast<unsigned char>(c)]; }

} // namespace

bool ConfCursor::at_comment() {
  const char c = peek();
  return c == ';' || (c == '#' && hash_is_comment_);
}

void ConfCursor::to_line_end() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end;
}

bool ConfCursor::continues_at(std::size_t line_begin) const {
  if (line_begin >= text_.size()) return false;
  const char c = text_[line_begin];
  // Comments and empty lines between the lines of an item do not end it.
  return is_blank(c) || c == ')' || c == ';' || c == '#' || c == '\n';
}

void ConfCursor::skip_blanks() {
  const auto skip_on_line = [this] {
    while (!at_text_end() && is_blank(text_[at_]))
      ++at_;
  };
  skip_on_line();
  if (!may_continue_ || open_ <= 0 || at_text_end()) return;
  if (text_[at_] != '\n' && text_[at_] != ';' && text_[at_] != '#') return;
  const ConfCursor here = *this;
  for (;;) {
    if (!at_text_end() && (text_[at_] == ';' || text_[at_] == '#')) to_line_end();
    if (at_text_end()) break;
    if (text_[at_] != '\n') return;
    if (!continues_at(at_ + 1)) break;
    line_begin_ = ++at_;
    ++line_;
    skip_on_line();
  }
  back_to(here); // nothing of the item follows: it ends where it seemed to
}

void ConfCursor::back_to(const ConfCursor& earlier) {
  at_ = earlier.at_;
  line_begin_ = earlier.line_begin_;
  line_ = earlier.line_;
  open_ = earlier.open_;
}

bool ConfCursor::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  if (c == '(') ++open_;
  if (c == ')') --open_;
  return true;
}

std::string_view ConfCursor::word() {
  const std::size_t begin = at_;
  while (!at_text_end() && is_name_char(text_[at_]))
    ++at_;
  return text_.substr(begin, at_ - begin);
}

bool ConfCursor::accept_word(std::string_view wanted) {
  peek();
  const std::size_t begin = at_;
  if (word() == wanted) return true;
  at_ = begin;
  return false;
}

std::optional<std::int64_t> ConfCursor::number() {
  peek();
  const std::size_t begin = at_;
  const bool negative = !at_end() && text_[at_] == '-';
  if (negative || (!at_end() && text_[at_] == '+')) ++at_;
  std::string_view digits = word();
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (digits.empty() || error != std::errc{} || stop != end || (negative && value > kLowest)) {
    at_ = begin;
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::optional<std::string_view> ConfCursor::quoted() {
  if (peek() != '"') return std::nullopt;
  const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
  if (end == std::string_view::npos || text_[end] != '"') return std::nullopt;
  const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return inside;
}

std::string_view ConfCursor::skim_prototype() {
  std::string_view name, last;
  while (peek() != '\0' && (open_ > 0 || !at_comment())) {
    if (open_ <= 0 && is_name_char(text_[at_])) {
      last = word();
      continue;
    }
    const char c = text_[at_++];
    if (c == '(' && open_++ == 0) name = last;
    if (c == ')') --open_;
    if (open_ <= 0) continue;
    while (!at_text_end() && !kEndsOfParameters[static_cast<unsigned char>(text_[at_])])
      ++at_;
  }
  return name;
}

void ConfCursor::next_item() {
  for (;;) {
    // Of an item that was given up in its middle, what is left; of others, the rest of the line.
    while (open_ > 0 && !at_end()) {
      const char c = text_[at_];
      if (c == ';' || c == '#') break;
      open_ += c == '(' ? 1 : c == ')' ? -1 : 0;
      ++at_;
    }
    to_line_end();
    if (at_text_end()) return;
    line_begin_ = ++at_;
    ++line_;
    if (!may_continue_ || open_ <= 0 || !continues_at(at_)) break;
  }
  open_ = 0;
}

ConfCursor::Place ConfCursor::place() const {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::size_t column = at_ - line_begin_ + 1;
  return {line_, static_cast<std::uint32_t>(column < kMost ? column : kMost)};
}

} // namespace sonictrace::proto
