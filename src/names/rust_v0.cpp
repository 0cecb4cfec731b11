#include "names/rust_v0.hpp"

#include "names/rust_v0_printer.hpp"

namespace sonictrace::names {
namespace {

constexpr int kDeepest = 200;
constexpr int kMostSteps = 100'000;
constexpr std::size_t kLongestOutput = 64 * 1024;

} // namespace

std::optional<std::string> demangle_rust_v0(std::string_view mangled) {
  if (!mangled.starts_with("_R")) return std::nullopt;
  mangled.remove_prefix(2);
  const std::size_t dot = mangled.find_first_of(".$"); // a vendor's suffix
  const std::string_view suffix =
      dot == std::string_view::npos ? std::string_view() : mangled.substr(dot);
  RustV0Printer printer(mangled.substr(0, dot));
  if (!printer.print_symbol()) return std::nullopt;
  std::string out = printer.take();
  if (!suffix.empty() && !suffix.starts_with(".llvm."))
    out += " [clone " + std::string(suffix) + "]";
  return out;
}

bool RustV0Printer::print_symbol() {
  // A path begins with a capital letter; a digit would be the version of a later scheme.
  if (peek() < 'A' || 'Z' < peek()) return false;
  path(true);
  if (!failed_ && !at_end()) {
    is_silent_ = true;
    path(false);
  }
  return !failed_ && at_end();
}

RustV0Printer::Level::Level(RustV0Printer& printer) : printer_(printer) {
  if (++printer_.depth_ > kDeepest || ++printer_.steps_ > kMostSteps) printer_.fail();
}

/// What comes after a failure sees the end of the text, so that every loop ends.
void RustV0Printer::fail() {
  failed_ = true;
  at_ = text_.size();
}

void RustV0Printer::print(std::string_view text) {
  if (is_silent_ || failed_) return;
  if (text.size() > kLongestOutput - out_.size()) return fail();
  out_ += text;
}

char RustV0Printer::next() {
  if (at_end()) {
    fail();
    return '\0';
  }
  return text_[at_++];
}

bool RustV0Printer::take(char what) {
  if (at_end() || text_[at_] != what) return false;
  ++at_;
  return true;
}

std::uint64_t RustV0Printer::decimal() {
  if (take('0')) return 0;
  std::uint64_t value = 0;
  if (peek() < '0' || '9' < peek()) fail();
  while ('0' <= peek() && peek() <= '9') {
    value = value * 10 + static_cast<std::uint64_t>(next() - '0');
    if (value > text_.size()) { // it is the length of something in it
      fail();
      return 0;
    }
  }
  return value;
}

std::uint64_t RustV0Printer::base_62() {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 56;
  if (take('_')) return 0;
  std::uint64_t value = 0;
  while (!take('_')) {
    const char c = next();
    std::uint64_t digit = 0;
    if ('0' <= c && c <= '9') {
      digit = static_cast<std::uint64_t>(c - '0');
    } else if ('a' <= c && c <= 'z') {
      digit = static_cast<std::uint64_t>(c - 'a' + 10);
    } else if ('A' <= c && c <= 'Z') {
      digit = static_cast<std::uint64_t>(c - 'A' + 36);
    } else {
      fail();
      return 0;
    }
    // The hash of a crate has 64 bits and is not shown; everything else is small.
    value = value > kLargest ? kLargest : value * 62 + digit;
  }
  return value + 1;
}

std::uint64_t RustV0Printer::tagged_base_62(char tag) { return take(tag) ? base_62() + 1 : 0; }

std::string_view RustV0Printer::hex_digits() {
  const std::size_t begin = at_;
  while (!take('_')) {
    const char c = next();
    if ((c < '0' || '9' < c) && (c < 'a' || 'f' < c)) {
      fail();
      return {};
    }
  }
  return text_.substr(begin, at_ - 1 - begin);
}

RustV0Printer::Identifier RustV0Printer::identifier() {
  const bool is_punycode = take('u');
  const std::uint64_t size = decimal();
  take('_'); // in front of a name that begins with a digit or with a `_`
  if (failed_ || size > text_.size() - at_) {
    fail();
    return {};
  }
  const std::string_view name = text_.substr(at_, size);
  at_ += size;
  if (!is_punycode) return {name, {}};
  const std::size_t delimiter = name.rfind('_');
  if (delimiter == std::string_view::npos) return {{}, name};
  return {name.substr(0, delimiter), name.substr(delimiter + 1)};
}

} // namespace sonictrace::names
