#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonictrace::names {

/// What the structure of a mangled name says about it.
struct ItaniumName {
  std::string_view name;  ///< up to the end of the name, without the types of its parameters
  std::string_view clone; ///< what the compiler put behind the mangled name (".cold"), or empty
  /// Offsets of the cv- and ref-qualifiers of the function, which belong to its parameter `this`.
  std::vector<std::size_t> qualifiers;
  std::uint64_t printed_size = 0; ///< bytes of the whole name in clear, at most
};

/// Reads names of the Itanium C++ ABI (section 5.1, "External Names") just far enough to know where
/// each part ends, and how long it would be in clear: substitutions let a short name stand for an
/// endless one. Prints nothing. Recursion is bounded.
class ItaniumReader {
public:
  /// Nothing where `mangled` is no such name, or one of a kind that is not known here.
  static std::optional<ItaniumName> read(std::string_view mangled);

private:
  /// Bytes in clear, saturating.
  using Size = std::uint64_t;

  explicit ItaniumReader(std::string_view text) : text_(text) {}

  // itanium_names.cpp
  Size encoding(bool top_level);
  Size special_name(bool top_level);
  Size call_offset();
  Size name(bool top_level);
  Size nested_name(bool top_level);
  Size local_name(bool top_level);
  Size prefix_component(Size so_far);
  Size unqualified_name();
  Size unnamed_type();
  Size operator_name();
  Size source_name();
  Size abi_tags();
  Size substitution();
  void discriminator();

  // itanium_types.cpp
  Size type();
  Size bare_type();
  Size builtin_or_decltype();
  Size types_until_end();
  Size function_type();
  Size array_type();
  Size template_param();
  Size template_param_declaration();
  Size template_args();
  Size template_arg();

  // itanium_expressions.cpp
  Size expression();
  Size expressions_until_end();
  Size primary();
  Size unresolved_name();
  Size scoped_name();
  Size function_param();
  Size conversion();
  Size new_expression();

  // The text, from where it has been read up to.
  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool starts_with(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(char what);
  bool take(std::string_view what);
  void expect(char what);
  std::uint64_t number();         ///< decimal, with an `n` for minus
  void sequence_id();             ///< what stands between S, T and the like and their `_`
  std::uint64_t sequence_value(); ///< the same, base 36
  bool has_failed() const { return failed_; }
  Size fail();
  Size add_substitution(Size size);

  /// Counts the levels of recursion while it lives, and fails the reader on too many.
  class Level {
  public:
    explicit Level(ItaniumReader& reader);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --reader_.depth_; }

  private:
    ItaniumReader& reader_;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  std::vector<Size> substitutions_;
  Size longest_substitution_ = 0;
  Size longest_argument_ = 0; ///< of the template arguments so far: what a T_ may stand for
  std::size_t name_end_ = 0;  ///< of the top-level name, once known
  std::vector<std::size_t> qualifiers_;
};

} // namespace sonictrace::names
