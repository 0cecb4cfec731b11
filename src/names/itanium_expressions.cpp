#include <array>

#include "names/itanium_reader.hpp"

namespace sonictrace::names {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }

struct Operator {
  std::string_view code;
  int operands;
};

// Itanium C++ ABI, 5.1.3 "Operator Encodings" and 5.1.6 "Expressions".
constexpr std::array kOperators = {
    Operator{"aN", 2}, Operator{"aS", 2}, Operator{"aa", 2}, Operator{"ad", 1}, Operator{"an", 2},
    Operator{"aw", 1}, Operator{"az", 1}, Operator{"cm", 2}, Operator{"co", 1}, Operator{"dV", 2},
    Operator{"da", 1}, Operator{"de", 1}, Operator{"dl", 1}, Operator{"ds", 2}, Operator{"dv", 2},
    Operator{"eO", 2}, Operator{"eo", 2}, Operator{"eq", 2}, Operator{"ge", 2}, Operator{"gt", 2},
    Operator{"ix", 2}, Operator{"lS", 2}, Operator{"le", 2}, Operator{"ls", 2}, Operator{"lt", 2},
    Operator{"mI", 2}, Operator{"mL", 2}, Operator{"mi", 2}, Operator{"ml", 2}, Operator{"mm", 1},
    Operator{"ne", 2}, Operator{"ng", 1}, Operator{"nt", 1}, Operator{"nx", 1}, Operator{"oR", 2},
    Operator{"oo", 2}, Operator{"or", 2}, Operator{"pL", 2}, Operator{"pl", 2}, Operator{"pm", 2},
    Operator{"pp", 1}, Operator{"ps", 1}, Operator{"qu", 3}, Operator{"rM", 2}, Operator{"rS", 2},
    Operator{"rm", 2}, Operator{"rs", 2}, Operator{"sp", 1}, Operator{"ss", 2}, Operator{"sz", 1},
    Operator{"te", 1}, Operator{"tw", 1}, Operator{"pt", 2},
};

} // namespace

ItaniumReader::Size ItaniumReader::expression() {
  const Level level(*this);
  if (has_failed()) return 0;
  take("gs"); // ::
  const char c = peek();
  if (c == 'L') return primary();
  if (c == 'T') return template_param();
  if (is_digit(c) || starts_with("on") || starts_with("dn") || starts_with("sr"))
    return unresolved_name();
  if (c == 'f') return function_param();
  if (take("tr")) return 8; // throw;
  if (take("sZ")) return (peek() == 'T' ? template_param() : function_param()) + 12;
  if (take("sP")) {
    Size size = 12;
    while (!at_end() && peek() != 'E')
      size += template_arg();
    expect('E');
    return size;
  }
  if (take("st") || take("at") || take("ti")) return type() + 10; // sizeof, alignof, typeid
  if (take("tl")) {
    const Size size = type();
    return size + expressions_until_end() + 2;
  }
  if (take("cl") || take("cp") || take("il")) return expressions_until_end() + 4;
  if (take("cv")) return conversion();
  if (take("dc") || take("sc") || take("cc") || take("rc")) { // the casts with a name
    const Size size = type();
    return size + expression() + 24;
  }
  if (starts_with("nw") || starts_with("na")) return new_expression();
  if (take("dt")) {
    const Size size = expression();
    return size + unresolved_name() + 2;
  }
  if (starts_with("pp_") || starts_with("mm_")) { // before its operand, not behind it
    at_ += 3;
    return expression() + 4;
  }
  if (take("di")) {
    const Size size = source_name();
    return size + expression() + 4;
  }
  if (take("dx") || take("dX")) {
    const bool is_range = text_[at_ - 1] == 'X';
    Size size = expression();
    if (is_range) size += expression();
    return size + expression() + 8;
  }
  if (take('u')) { // a vendor's
    const Size size = source_name();
    Size arguments = 0;
    while (!at_end() && peek() != 'E')
      arguments += template_arg() + 2;
    expect('E');
    return size + arguments;
  }
  for (const Operator& known : kOperators) {
    if (!take(known.code)) continue;
    Size size = 12;
    for (int i = 0; i < known.operands; ++i)
      size += expression();
    return size;
  }
  return fail();
}

ItaniumReader::Size ItaniumReader::expressions_until_end() {
  Size size = 0;
  while (!at_end() && peek() != 'E')
    size += expression() + 2;
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::primary() {
  const Level level(*this);
  expect('L');
  Size size = 4;
  if (take("_Z") || peek() == 'Z') { // an old g++ left the underscore out
    take('Z');
    size += encoding(false);
  } else {
    size += type();
    while (!at_end() && peek() != 'E') { // the value, as the type has it
      ++at_;
      ++size;
    }
  }
  expect('E');
  return size;
}

ItaniumReader::Size ItaniumReader::unresolved_name() {
  const Level level(*this);
  if (starts_with("sr")) return scoped_name();
  Size size = 0;
  if (take("on")) {
    size = operator_name();
  } else if (take("dn")) {
    size = 1 + (is_digit(peek()) ? source_name() : type());
  } else {
    size = unqualified_name();
  }
  return peek() == 'I' ? size + template_args() : size;
}

ItaniumReader::Size ItaniumReader::scoped_name() {
  expect('s');
  expect('r');
  Size size = 0;
  if (take('N')) { // srN TYPE LEVEL+ E NAME
    size = type() + 2;
    while (!at_end() && peek() != 'E') {
      size += source_name() + 2;
      if (peek() == 'I') size += template_args();
    }
    expect('E');
    return size + unresolved_name();
  }
  if (!is_digit(peek())) {
    size = type() + 2;
    return size + unresolved_name();
  }
  // LEVEL+ E NAME; an older g++ wrote LEVEL NAME
  while (is_digit(peek())) {
    size += source_name() + 2;
    if (peek() == 'I') size += template_args();
  }
  return take('E') ? size + unresolved_name() : size;
}

/// A parameter of the function (fp_), or a fold of an operator over a pack (fl, fr, fL, fR).
ItaniumReader::Size ItaniumReader::function_param() {
  expect('f');
  if (take("pT")) return 4; // this
  if ((peek() == 'l' || peek() == 'r' || peek() == 'L' || peek() == 'R') && !is_digit(peek(1))) {
    const bool has_initial_value = peek() == 'L' || peek() == 'R';
    ++at_;
    operator_name();
    Size size = expression() + 16;
    if (has_initial_value) size += expression();
    return size;
  }
  if (take('L')) { // of a function further out
    number();
    expect('p');
  } else {
    expect('p');
  }
  while (peek() == 'r' || peek() == 'V' || peek() == 'K')
    ++at_;
  if (is_digit(peek())) number();
  expect('_');
  return 14; // {parm#1}
}

ItaniumReader::Size ItaniumReader::conversion() {
  const Size size = type() + 4;
  if (take('_')) return size + expressions_until_end();
  return size + expression();
}

ItaniumReader::Size ItaniumReader::new_expression() {
  at_ += 2;
  Size size = 10;
  while (!at_end() && peek() != '_')
    size += expression();
  expect('_');
  size += type();
  if (take("pi")) return size + expressions_until_end();
  if (starts_with("il")) return size + expression();
  expect('E');
  return size;
}

} // namespace sonictrace::names
