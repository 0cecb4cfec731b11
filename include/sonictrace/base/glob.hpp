#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace {

/// The pattern language of selectors, compiled: `*`, `?`, `[ab]`, `[a-z]`, `[!a]`, `[^a]`,
/// `[[:alpha:]]`, and `\` that makes the next character an ordinary one. Works on bytes, and
/// always on the whole text. Time to match: at most length of pattern times length of text.
class Glob {
public:
  /// The glob that matches every text, `*`.
  Glob() = default;

  /// Fails with regcomp(3)'s words for what is wrong with a bracket expression.
  static Result<Glob> compile(std::string_view pattern);

  bool matches(std::string_view text) const;

  /// `*`, however many of them.
  bool is_everything() const {
    return floating_ && middle_.empty() && head_.size() + tail_.size() == 0;
  }
  /// The one text that it matches, when it has no wildcard; else null.
  const std::string* literal() const {
    return !floating_ && head_.sets.empty() ? &head_.bytes : nullptr;
  }

  /// Length of the bracket expression that `text` begins with; 0 when it doesn't or is not closed.
  static std::size_t bracket_length(std::string_view text);

private:
  /// Characters between two stars.
  struct Run {
    std::string bytes; ///< one for each character; '\0' where a set decides
    std::vector<std::uint16_t>
        sets; ///< empty: all are ordinary; else index + 1 into `sets_`, 0: ordinary

    std::size_t size() const { return bytes.size(); }
  };
  using Set = std::bitset<256>;

  bool matches_at(const Run& run, const char* text) const;
  std::size_t find(const Run& run, std::string_view text) const;
  void append(Run& run, char byte);
  Result<void> append_set(Run& run, std::string_view bracket);
  void append_set(Run& run, const Set& set);

  Run head_;
  std::vector<Run> middle_; ///< each to be found behind the one before
  Run tail_;
  std::vector<Set> sets_;
  bool floating_ = true; ///< there is a star; otherwise `head_` is all
};

} // namespace sonictrace
