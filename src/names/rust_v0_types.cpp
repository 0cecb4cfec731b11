#include <array>
#include <charconv>

#include "names/rust_v0_printer.hpp"
#include "names/utf8.hpp"

namespace sonictrace::names {
namespace {

// By letter, from a to z.
constexpr std::array<std::string_view, 26> kBasicTypes = {
    "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
    "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};

std::string_view basic_type(char tag) {
  if (tag < 'a' || 'z' < tag) return {};
  return kBasicTypes[static_cast<std::size_t>(tag - 'a')];
}

} // namespace

void RustV0Printer::type() {
  const Level level(*this);
  const char tag = next();
  if (const std::string_view basic = basic_type(tag); !basic.empty()) return print(basic);
  switch (tag) {
    case 'R': return reference(false);
    case 'Q': return reference(true);
    case 'P': print("*const "); return type();
    case 'O': print("*mut "); return type();
    case 'A':
      print("[");
      type();
      print("; ");
      constant(true);
      return print("]");
    case 'S':
      print("[");
      type();
      return print("]");
    case 'T': return tuple();
    case 'F': return function();
    case 'D': return dyn();
    case 'B': return back_reference([&] { type(); });
    default:
      if (failed_) return;
      --at_; // a path
      return path(false);
  }
}

void RustV0Printer::reference(bool is_mutable) {
  print("&");
  if (take('L'))
    if (const std::uint64_t index = base_62(); index != 0) {
      lifetime(index);
      print(" ");
    }
  if (is_mutable) print("mut ");
  type();
}

void RustV0Printer::tuple() {
  print("(");
  int count = 0;
  for (; !failed_ && !take('E'); ++count) {
    if (count > 0) print(", ");
    type();
  }
  print(count == 1 ? ",)" : ")");
}

void RustV0Printer::function() {
  const std::uint64_t outer_lifetimes = bound_lifetimes_;
  binder();
  if (take('U')) print("unsafe ");
  if (take('K')) {
    print("extern \"");
    if (take('C')) {
      print("C");
    } else {
      const Identifier abi = identifier();
      if (!abi.punycode.empty()) fail();
      for (const char c : abi.ascii)
        print(c == '_' ? std::string_view("-") : std::string_view(&c, 1));
    }
    print("\" ");
  }
  print("fn(");
  for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
    if (!is_first) print(", ");
    type();
  }
  print(")");
  if (!take('u')) { // a result of () is not shown
    print(" -> ");
    type();
  }
  bound_lifetimes_ = outer_lifetimes;
}

void RustV0Printer::dyn() {
  print("dyn ");
  const std::uint64_t outer_lifetimes = bound_lifetimes_;
  binder();
  for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
    if (!is_first) print(" + ");
    dyn_trait();
  }
  bound_lifetimes_ = outer_lifetimes;
  if (!take('L')) return fail();
  if (const std::uint64_t index = base_62(); index != 0) {
    print(" + ");
    lifetime(index);
  }
}

void RustV0Printer::dyn_trait() {
  bool is_open = path_with_open_generics();
  while (take('p')) {
    print(is_open ? ", " : "<");
    is_open = true;
    print(identifier());
    print(" = ");
    if (take('K')) {
      constant(false);
    } else {
      type();
    }
  }
  if (is_open) print(">");
}

void RustV0Printer::binder() {
  constexpr std::uint64_t kMost = 1000; // each is printed
  const std::uint64_t count = tagged_base_62('G');
  if (count == 0) return;
  if (count > kMost) return fail();
  print("for<");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) print(", ");
    ++bound_lifetimes_;
    lifetime(1);
  }
  print("> ");
}

/// De Bruijn: 1 is the innermost one that is bound; 0 is not named.
void RustV0Printer::lifetime(std::uint64_t index) {
  print("'");
  if (index == 0) return print("_");
  if (index > bound_lifetimes_) return fail();
  const std::uint64_t depth = bound_lifetimes_ - index;
  if (depth < 26) {
    const char name = static_cast<char>('a' + depth);
    return print(std::string_view(&name, 1));
  }
  print("_");
  print(depth);
}

/// `in_value`: where an expression would need no braces.
void RustV0Printer::constant(bool in_value) {
  const Level level(*this);
  const char tag = next();
  switch (tag) {
    case 'p': return print("_");
    case 'B': return back_reference([&] { constant(in_value); });
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i': return constant_integer(true);
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j': return constant_integer(false);
    case 'b': {
      const std::string_view digits = hex_digits();
      if (digits == "0") return print("false");
      return digits == "1" ? print("true") : fail();
    }
    case 'c': {
      const std::string_view digits = hex_digits();
      std::uint32_t character = 0;
      const char* const last = digits.data() + digits.size();
      const auto [end, error] = std::from_chars(digits.data(), last, character, 16);
      if (error != std::errc{} || end != last) return fail();
      print("'");
      print_character(character, '\'');
      return print("'");
    }
    default: break;
  }
  if (!in_value) print("{");
  switch (tag) {
    case 'e': // a str, which its & has been left off: *"..."
      print("*");
      constant_text();
      break;
    case 'R':
      if (take('e')) { // &str
        constant_text();
        break;
      }
      [[fallthrough]];
    case 'Q':
      print(tag == 'R' ? "&" : "&mut ");
      constant(true);
      break;
    case 'A':
    case 'T': {
      print(tag == 'A' ? "[" : "(");
      int count = 0;
      for (; !failed_ && !take('E'); ++count) {
        if (count > 0) print(", ");
        constant(true);
      }
      if (tag == 'T' && count == 1) print(",");
      print(tag == 'A' ? "]" : ")");
      break;
    }
    case 'V':
      path(true);
      constant_fields();
      break;
    default: return fail();
  }
  if (!in_value) print("}");
}

void RustV0Printer::constant_integer(bool is_signed) {
  if (is_signed && take('n')) print("-");
  const std::string_view digits = hex_digits();
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, 16);
  if (error == std::errc{} && end == last) return print(value);
  print("0x"); // more than 64 bits
  print(digits);
}

void RustV0Printer::constant_text() {
  std::string_view digits = hex_digits();
  std::string text;
  if (digits.size() % 2 != 0) return fail();
  for (; !digits.empty(); digits.remove_prefix(2)) {
    unsigned byte = 0;
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    text += static_cast<char>(byte);
  }
  print("\"");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) {
      print_character(static_cast<unsigned char>(c), '"');
    } else {
      print(std::string_view(&c, 1));
    }
  }
  print("\"");
}

void RustV0Printer::constant_fields() {
  const char kind = next();
  if (kind == 'U') return; // a unit
  if (kind != 'T' && kind != 'S') return fail();
  print(kind == 'T' ? "(" : " { ");
  for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
    if (!is_first) print(", ");
    if (kind == 'S') {
      tagged_base_62('s');
      print(identifier());
      print(": ");
    }
    constant(true);
  }
  print(kind == 'T' ? ")" : " }");
}

/// As Rust would write it in a literal.
void RustV0Printer::print_character(std::uint32_t character, char quote) {
  std::string text;
  switch (character) {
    case '\t': text = "\\t"; break;
    case '\r': text = "\\r"; break;
    case '\n': text = "\\n"; break;
    case '\0': text = "\\0"; break;
    case '\\': text = "\\\\"; break;
    default:
      if (character == static_cast<unsigned char>(quote)) {
        text = {'\\', quote};
      } else if (!append_utf8(text, character)) {
        std::array<char, 8> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), character, 16);
        text = "\\u{" + std::string(digits.data(), end.ptr) + "}";
      }
  }
  print(std::string_view(text));
}

} // namespace sonictrace::names
