#include <algorithm>

#include "names/itanium_reader.hpp"

namespace sonictrace::names {
namespace {

constexpr int kDeepest = 300;
constexpr std::uint64_t kEndless = std::uint64_t{1} << 40; ///< where sizes stop to grow

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_upper(char c) { return 'A' <= c && c <= 'Z'; }
bool is_lower(char c) { return 'a' <= c && c <= 'z'; }

} // namespace

std::optional<ItaniumName> ItaniumReader::read(std::string_view mangled) {
  ItaniumReader reader(mangled);
  if (!reader.take("_Z")) return std::nullopt;
  const Size size = reader.encoding(true);
  if (reader.failed_) return std::nullopt;
  const std::string_view rest = mangled.substr(reader.at_);
  if (!rest.empty() && rest[0] != '.') return std::nullopt;
  return ItaniumName{mangled.substr(0, reader.name_end_), rest, std::move(reader.qualifiers_),
                     size + rest.size() + 16};
}

ItaniumReader::Level::Level(ItaniumReader& reader) : reader_(reader) {
  if (++reader_.depth_ > kDeepest) reader_.fail();
}

bool ItaniumReader::take(char what) {
  if (failed_ || peek() != what || at_end()) return false;
  ++at_;
  return true;
}

bool ItaniumReader::take(std::string_view what) {
  if (failed_ || !starts_with(what)) return false;
  at_ += what.size();
  return true;
}

void ItaniumReader::expect(char what) {
  if (!take(what)) fail();
}

/// What comes after a failure sees the end of the text, so that every loop ends.
ItaniumReader::Size ItaniumReader::fail() {
  failed_ = true;
  at_ = text_.size();
  return 0;
}

std::uint64_t ItaniumReader::number() {
  take('n');
  if (!is_digit(peek())) return fail();
  std::uint64_t value = 0;
  while (is_digit(peek()))
    value = std::min(value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0'), kEndless);
  return value;
}

std::uint64_t ItaniumReader::sequence_value() {
  std::uint64_t value = 0;
  while (is_digit(peek()) || is_upper(peek())) {
    const char c = text_[at_++];
    const int digit = is_digit(c) ? c - '0' : c - 'A' + 10;
    value = std::min(value * 36 + static_cast<std::uint64_t>(digit), kEndless);
  }
  return value;
}

ItaniumReader::Size ItaniumReader::add_substitution(Size size) {
  size = std::min(size, kEndless);
  if (failed_) return 0;
  substitutions_.push_back(size);
  longest_substitution_ = std::max(longest_substitution_, size);
  return size;
}

ItaniumReader::Size ItaniumReader::encoding(bool top_level) {
  const Level level(*this);
  if (peek() == 'T' || peek() == 'G') return special_name(top_level);
  Size size = name(top_level);
  if (top_level && name_end_ == 0) name_end_ = at_;
  // A function's types follow, the result first where it is a template; nothing of a variable.
  while (!at_end() && peek() != 'E' && peek() != '.')
    size += type() + 2;
  return size;
}

ItaniumReader::Size ItaniumReader::special_name(bool top_level) {
  constexpr Size kLongestWords = 40; // "construction vtable for A-in-B"
  Size size = kLongestWords;
  if (take("TV") || take("TT") || take("TI") || take("TS") || take("TF") || take("TJ")) {
    size += type();
  } else if (starts_with("Th") || starts_with("Tv")) {
    ++at_;
    size += call_offset();
    size += encoding(top_level);
  } else if (take("Tc")) {
    size += call_offset();
    size += call_offset();
    size += encoding(top_level);
  } else if (take("TC")) {
    size += type();
    number();
    expect('_');
    size += type();
  } else if (take("TW") || take("TH") || take("GV")) {
    size += name(false);
  } else if (take("GR")) {
    size += name(false);
    sequence_value();
    take('_');
  } else if (take("GTt") || take("GTn") || take("GA")) {
    size += encoding(top_level);
  } else if (take("TA")) {
    size += template_arg();
  } else {
    return fail();
  }
  if (top_level && name_end_ == 0) name_end_ = at_;
  return size;
}

ItaniumReader::Size ItaniumReader::call_offset() {
  const bool is_virtual = take('v');
  if (!is_virtual && !take('h')) return fail();
  number();
  expect('_');
  if (is_virtual) {
    number();
    expect('_');
  }
  return 0;
}

ItaniumReader::Size ItaniumReader::name(bool top_level) {
  const Level level(*this);
  if (peek() == 'N') return nested_name(top_level);
  if (peek() == 'Z') return local_name(top_level);
  Size size = 0;
  bool is_substitution = false;
  if (peek() == 'S' && peek(1) != 't') {
    size = substitution();
    is_substitution = true;
    if (peek() != 'I') return size;
  } else {
    if (take("St")) size = 5; // std::
    size += unqualified_name();
  }
  if (peek() == 'I') {
    if (!is_substitution) add_substitution(size);
    size += template_args();
  }
  return size;
}

ItaniumReader::Size ItaniumReader::nested_name(bool top_level) {
  expect('N');
  take('H'); // an explicit object parameter
  for (char c = peek(); c == 'r' || c == 'V' || c == 'K' || c == 'R' || c == 'O'; c = peek()) {
    if (top_level) qualifiers_.push_back(at_);
    ++at_;
  }
  Size size = 0;
  while (!at_end() && peek() != 'E') {
    const bool is_substitution = peek() == 'S' && peek(1) != 't';
    const bool is_std = peek() == 'S' && peek(1) == 't';
    const bool is_scope_of_lambda = peek() == 'M';
    size = prefix_component(size);
    // The whole name is added by who reads it as a type; a substitution is there already.
    if (!is_substitution && !is_std && !is_scope_of_lambda && peek() != 'E') add_substitution(size);
  }
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::prefix_component(Size so_far) {
  switch (peek()) {
    case 'S':
      if (take("St")) return so_far + 5;
      return so_far + substitution() + 2;
    case 'I': return so_far + template_args();
    case 'T': return so_far + template_param() + 2;
    case 'M': // the variable in whose initializer a lambda is
      ++at_;
      return so_far;
    case 'D':
      if (peek(1) == 't' || peek(1) == 'T') return so_far + builtin_or_decltype() + 2;
      break;
    default: break;
  }
  // A constructor is named as its class is.
  const bool is_structor = peek() == 'C' || peek() == 'D';
  return so_far + unqualified_name() + 2 + (is_structor ? so_far : 0);
}

ItaniumReader::Size ItaniumReader::local_name(bool top_level) {
  expect('Z');
  Size size = encoding(false) + 2;
  expect('E');
  if (take('s')) {
    discriminator();
    return size + 14; // string literal
  }
  if (take('d')) { // in the default argument of a parameter
    if (is_digit(peek())) number();
    expect('_');
    size += 30;
  }
  size += name(top_level);
  discriminator();
  return size;
}

void ItaniumReader::discriminator() {
  if (peek() != '_') return;
  if (peek(1) == '_') {
    at_ += 2;
    number();
    expect('_');
  } else if (is_digit(peek(1))) {
    at_ += 2;
  }
}

ItaniumReader::Size ItaniumReader::unqualified_name() {
  const Level level(*this);
  const char c = peek();
  Size size = 0;
  if (take('F')) size += unqualified_name(); // a friend of a class that is defined in it
  if (is_digit(c)) {
    size += source_name();
  } else if (take('L')) {
    size += source_name();
    discriminator();
  } else if (c == 'C' && is_digit(peek(peek(1) == 'I' ? 2 : 1))) {
    const bool inherits = peek(1) == 'I';
    at_ += inherits ? 3 : 2;
    if (inherits) size += type();
  } else if (take("DC")) { // a structured binding
    while (!at_end() && peek() != 'E')
      size += source_name() + 2;
    expect('E');
  } else if (c == 'D' && is_digit(peek(1))) {
    at_ += 2;
    size += 1;
  } else if (c == 'U') {
    size += unnamed_type();
  } else if (is_lower(c)) {
    size += operator_name();
  } else if (c != 'F') {
    return fail();
  }
  return size + abi_tags();
}

ItaniumReader::Size ItaniumReader::unnamed_type() {
  Size size = 24; // {unnamed type#1}
  if (take("Ul")) {
    while (!at_end() && peek() != 'E')
      size += (peek() == 'T' && is_lower(peek(1)) ? template_param_declaration() : type()) + 2;
    expect('E');
  } else if (!take("Ut")) {
    return fail();
  }
  if (is_digit(peek())) number();
  expect('_');
  return size;
}

ItaniumReader::Size ItaniumReader::operator_name() {
  if (take("cv")) return type() + 10;
  if (take("li")) return source_name() + 12;
  if (peek() == 'v' && is_digit(peek(1))) {
    at_ += 2;
    return source_name() + 10;
  }
  if (!is_lower(peek(1)) && !is_upper(peek(1))) return fail();
  at_ += 2;
  return 18; // operator co_await
}

ItaniumReader::Size ItaniumReader::source_name() {
  if (!is_digit(peek())) return fail();
  const std::uint64_t size = number();
  if (size == 0 || size > text_.size() - at_) return fail();
  at_ += size;
  return size + 12; // (anonymous namespace) is longer than _GLOBAL__N_1
}

ItaniumReader::Size ItaniumReader::abi_tags() {
  Size size = 0;
  while (take('B'))
    size += source_name() + 6;
  return size;
}

ItaniumReader::Size ItaniumReader::substitution() {
  constexpr Size kLongestWords = 80; // std::basic_string<char, std::char_traits<char>, ...
  expect('S');
  if (is_lower(peek())) {
    ++at_;
    return kLongestWords + abi_tags();
  }
  const bool is_first = peek() == '_';
  const std::uint64_t index = is_first ? 0 : sequence_value() + 1;
  expect('_');
  // Compilers have differed in what they number, so that one too many is not an error.
  if (index >= substitutions_.size()) return longest_substitution_;
  return substitutions_[index];
}

} // namespace sonictrace::names
