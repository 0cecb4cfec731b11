#include <algorithm>

#include "names/itanium_reader.hpp"

namespace sonictrace::names {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_qualifier(char c) { return c == 'r' || c == 'V' || c == 'K'; }

constexpr std::string_view kBuiltins = "vwbcahstijlmxynofdegz";
constexpr std::string_view kBuiltinsBehindD = "defhisuacn";

} // namespace

/// Every type but a builtin one is a substitution from then on.
ItaniumReader::Size ItaniumReader::type() {
  const Level level(*this);
  if (has_failed()) return 0;
  const char c = peek();
  if (kBuiltins.find(c) != std::string_view::npos && c != '\0' && !is_qualifier(c)) {
    ++at_;
    return 18; // unsigned long long
  }
  if (c == 'D' && kBuiltinsBehindD.find(peek(1)) != std::string_view::npos && peek(1) != '\0') {
    at_ += 2;
    return 18;
  }
  // A plain substitution is no new one.
  if (c == 'S' && peek(1) != 't') {
    const Size size = substitution();
    if (peek() != 'I') return size;
    return add_substitution(size + template_args());
  }
  return add_substitution(bare_type());
}

ItaniumReader::Size ItaniumReader::bare_type() {
  const char c = peek();
  if (is_qualifier(c)) {
    while (is_qualifier(peek()))
      ++at_;
    // The qualifiers of a function type are a part of it.
    if (peek() == 'F' || (peek() == 'D' && peek(1) == 'o')) return function_type() + 24;
    return type() + 24; // const volatile restrict
  }
  switch (c) {
    case 'P':
    case 'R':
    case 'O':
    case 'C':
    case 'G': ++at_; return type() + 4;
    case 'U':
      if (peek(1) == 't' || peek(1) == 'l') return name(false);
      ++at_;
      {
        Size size = source_name();
        if (peek() == 'I') size += template_args();
        return size + type() + 2;
      }
    case 'u': {
      ++at_;
      const Size size = source_name();
      return peek() == 'I' ? size + template_args() : size;
    }
    case 'F': return function_type();
    case 'A': return array_type();
    case 'M': {
      ++at_;
      const Size size = type();
      return size + type() + 6;
    }
    case 'D': return builtin_or_decltype();
    case 'T': {
      if (peek(1) == 's' || peek(1) == 'u' || peek(1) == 'e') { // struct, union, enum
        at_ += 2;
        return name(false) + 8;
      }
      const Size size = template_param();
      if (peek() != 'I') return size;
      add_substitution(size);
      return size + template_args();
    }
    default: return name(false);
  }
}

ItaniumReader::Size ItaniumReader::builtin_or_decltype() {
  expect('D');
  const char c = peek();
  if (!at_end()) ++at_;
  switch (c) {
    case 'p': return type() + 4; // a pack
    case 't':
    case 'T': {
      const Size size = expression();
      expect('E');
      return size + 12;
    }
    case 'o': return function_type() + 10; // noexcept
    case 'O': {
      const Size size = expression();
      expect('E');
      return size + function_type() + 12;
    }
    case 'w': {
      const Size size = types_until_end();
      return size + function_type() + 12;
    }
    case 'x': return function_type() + 20; // transaction_safe
    case 'v': {                            // a vector
      Size size = 12;
      if (is_digit(peek())) {
        number();
      } else if (peek() != '_') {
        size += expression();
      }
      expect('_');
      if (peek() == 'p') { // of pixels
        ++at_;
        return size;
      }
      return size + type();
    }
    case 'F': // _Float16, std::bfloat16_t
      number();
      if (!take('_') && !take('b') && !take('x')) return fail();
      return 18;
    case 'B':
    case 'U': // _BitInt
      if (is_digit(peek())) {
        number();
        expect('_');
        return 24;
      }
      {
        const Size size = expression();
        expect('_');
        return size + 24;
      }
    case 'k':
    case 'K': return name(false) + 16; // a constrained auto
    default: return fail();
  }
}

ItaniumReader::Size ItaniumReader::types_until_end() {
  Size size = 0;
  while (!at_end() && peek() != 'E')
    size += type() + 2;
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::function_type() {
  const Level level(*this);
  while (is_qualifier(peek()))
    ++at_;
  if (starts_with("Do")) at_ += 2;
  expect('F');
  take('Y'); // extern "C"
  Size size = 10;
  while (!at_end() && peek() != 'E') {
    if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
      ++at_;
      break;
    }
    size += type() + 2;
  }
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::array_type() {
  expect('A');
  Size size = 24;
  if (is_digit(peek())) {
    number();
  } else if (peek() != '_') {
    size += expression();
  }
  expect('_');
  return size + type();
}

ItaniumReader::Size ItaniumReader::template_param() {
  expect('T');
  if (take('L')) { // of a template further out
    number();
    expect('_');
  }
  if (is_digit(peek())) number();
  expect('_');
  return std::max<Size>(longest_argument_, 18);
}

/// Of a generic lambda: its own template parameters.
ItaniumReader::Size ItaniumReader::template_param_declaration() {
  const Level level(*this);
  expect('T');
  if (take('y')) return 12;
  if (take('n')) return type() + 2;
  if (take('p')) return template_param_declaration() + 4;
  if (take('k')) return name(false) + 4;
  if (!take('t')) return fail();
  Size size = 20;
  while (!at_end() && peek() != 'E')
    size += template_param_declaration() + 2;
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::template_args() {
  const Level level(*this);
  if (!take('I') && !take('J')) return fail();
  Size size = 4;
  while (!at_end() && peek() != 'E') {
    const Size argument = template_arg();
    longest_argument_ = std::max(longest_argument_, argument);
    size += argument + 2;
  }
  expect('E');
  longest_argument_ = std::max(longest_argument_, size); // a pack stands for all
  return size;
}

ItaniumReader::Size ItaniumReader::template_arg() {
  const Level level(*this);
  switch (peek()) {
    case 'L': return primary();
    case 'X': {
      ++at_;
      const Size size = expression();
      expect('E');
      return size + 2;
    }
    case 'I':
    case 'J': return template_args();
    case 'T':
      if (peek(1) == 'y' || peek(1) == 'n' || peek(1) == 't' || peek(1) == 'p' || peek(1) == 'k') {
        const Size size = template_param_declaration();
        return size + template_arg();
      }
      return type();
    default: return type();
  }
}

} // namespace sonictrace::names
