#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonictrace::names {

/// Prints what it reads, as it reads it. RFC 2603, "Syntax of mangled names".
class RustV0Printer {
public:
  /// `text` is what follows `_R`.
  explicit RustV0Printer(std::string_view text) : text_(text) {}

  /// A path as the name of a value, the crate that it was made for behind it, and nothing else.
  bool print_symbol();
  std::string take() { return std::move(out_); }

private:
  struct Identifier {
    std::string_view ascii, punycode;
    bool is_empty() const { return ascii.empty() && punycode.empty(); }
  };

  // rust_v0_paths.cpp
  void path(bool in_value);
  void nested_path(bool in_value);
  void impl_path(char tag);
  bool path_with_open_generics(); ///< true where a `<` is still open
  void generic_args();
  void generic_arg();
  void print(const Identifier& name);
  void print_punycode(const Identifier& name);

  // rust_v0_types.cpp
  void type();
  void reference(bool is_mutable);
  void tuple();
  void function();
  void dyn();
  void dyn_trait();
  void binder();
  void lifetime(std::uint64_t index);
  void constant(bool in_value);
  void constant_integer(bool is_signed);
  void constant_text();
  void constant_fields();
  void print_character(std::uint32_t character, char quote);

  // The text, from where it has been read up to.
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  char next();
  bool take(char what);
  std::uint64_t decimal();
  std::uint64_t base_62();                ///< up to its `_`
  std::uint64_t tagged_base_62(char tag); ///< 0 without the tag, else one more
  std::string_view hex_digits();          ///< up to their `_`
  Identifier identifier();
  void fail();

  template <class Read>
  void back_reference(Read read);

  void print(std::string_view text);
  void print(std::uint64_t number) { print(std::string_view(std::to_string(number))); }

  /// Counts levels of recursion and all steps, and fails on too many.
  class Level {
  public:
    explicit Level(RustV0Printer& printer);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --printer_.depth_; }

  private:
    RustV0Printer& printer_;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool failed_ = false;
  bool is_silent_ = false;
  int depth_ = 0;
  int steps_ = 0;
  std::uint64_t bound_lifetimes_ = 0;
};

/// Reads at an earlier place, as `B` and an offset say.
template <class Read>
void RustV0Printer::back_reference(Read read) {
  const std::size_t begin = at_ - 1; // of the B
  const std::uint64_t target = base_62();
  if (failed_ || target >= begin) return fail();
  if (is_silent_) return; // it was read there, and nothing is to be printed
  const std::size_t behind = at_;
  at_ = target;
  read();
  if (!failed_) at_ = behind;
}

} // namespace sonictrace::names
