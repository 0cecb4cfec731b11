#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonictrace::proto {

/// Reads a .conf text from left to right. An item is a line; where `may_continue`, a line that is
/// indented, or that begins with `)`, goes on with the one before it while a parenthesis is open.
class ConfCursor {
public:
  ConfCursor(std::string_view text, bool may_continue, bool hash_is_comment)
      : text_(text), may_continue_(may_continue), hash_is_comment_(hash_is_comment) {}

  bool at_text_end() const { return at_ == text_.size(); }
  /// The end of the item's last line.
  bool at_end() const { return at_text_end() || text_[at_] == '\n'; }
  /// Behind blanks, the next character of the item; NUL at its end.
  char peek() {
    skip_blanks();
    return at_end() ? '\0' : text_[at_];
  }
  bool accept(char c);
  /// As many characters of names as there are; maybe none. Does not skip blanks.
  std::string_view word();
  /// Behind blanks; puts itself back where the next word is another one.
  bool accept_word(std::string_view word);
  /// A number in C's notation; leaves the place as it is where there is none, or one that does not
  /// fit 64 bits.
  std::optional<std::int64_t> number();
  /// `"NAME"`, on this line.
  std::optional<std::string_view> quoted();
  bool at_comment();
  /// Goes over a prototype, and returns its name: the word before the last parenthesis that is in
  /// no other. What is malformed gives any answer.
  std::string_view skim_prototype();
  /// What lies between `begin`, an earlier copy, and here.
  std::string_view since(const ConfCursor& begin) const {
    return text_.substr(begin.at_, at_ - begin.at_);
  }

  /// To the beginning of the next item.
  void next_item();

  struct Place {
    std::uint32_t line = 1;
    std::uint32_t column = 1; ///< in bytes
  };
  Place place() const;
  /// `earlier`: a copy of this one.
  void back_to(const ConfCursor& earlier);

private:
  void skip_blanks();
  bool continues_at(std::size_t line_begin) const;
  void to_line_end();

  std::string_view text_;
  const bool may_continue_;
  const bool hash_is_comment_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  int open_ = 0; ///< parentheses of the item
};

} // namespace sonictrace::proto
