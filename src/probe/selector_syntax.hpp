#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonictrace {

/// Tells the characters of a filter that may separate something from those that belong to a name:
/// what is inside <> () [], behind the word `operator`, behind a backslash, or in a /RE/.
class FilterSyntax {
public:
  explicit FilterSyntax(std::string_view text);

  bool is_free(std::size_t at) const { return free_[at]; }
  /// Whether an arrow, the `->` behind a caller, begins here.
  bool is_arrow(std::size_t at) const { return at + 1 < free_.size() && arrow_[at]; }
  /// What is wrong with the filter; empty: nothing.
  const std::string& fault() const { return fault_; }

private:
  std::size_t name_length(std::size_t at) const;
  std::size_t regex_length(std::size_t at) const;
  void open_bracket(char close, std::size_t at);
  void close_bracket(char close, std::size_t at);
  void forget_last_open();
  std::size_t& open_count(char close);

  struct Open {
    char close;
    std::size_t at;
  };

  std::string_view text_;
  std::vector<bool> free_;
  std::vector<bool> arrow_;
  std::vector<Open> open_;
  std::array<std::size_t, 3> open_counts_{};                ///< of open_, for each kind
  std::vector<std::pair<std::size_t, std::size_t>> inside_; ///< from an opening to its closing
  std::string fault_;
};

/// The text of a pattern as a glob: `[]` and `[abi:...]` are parts of C++ names, not sets.
std::string to_glob(std::string_view text);

} // namespace sonictrace
