#include <algorithm>
#include <utility>
#include <vector>

#include "names/rust_v0_printer.hpp"
#include "names/utf8.hpp"

namespace sonictrace::names {

void RustV0Printer::path(bool in_value) {
  const Level level(*this);
  const char tag = next();
  switch (tag) {
    case 'C': // a crate
      tagged_base_62('s');
      print(identifier());
      return;
    case 'N': return nested_path(in_value);
    case 'M': // <TYPE>
    case 'X': // <TYPE as TRAIT>, in an impl
    case 'Y': // the same, in the trait's definition
      return impl_path(tag);
    case 'I':
      path(in_value);
      if (in_value) print("::");
      print("<");
      generic_args();
      return print(">");
    case 'B': return back_reference([&] { path(in_value); });
    default: return fail();
  }
}

void RustV0Printer::nested_path(bool in_value) {
  const char space = next();
  const bool is_special = 'A' <= space && space <= 'Z';
  if (!is_special && (space < 'a' || 'z' < space)) return fail();
  path(in_value);
  const std::uint64_t disambiguator = tagged_base_62('s');
  const Identifier name = identifier();
  if (!is_special) {
    if (name.is_empty()) return;
    print("::");
    return print(name);
  }
  print("::{");
  if (space == 'C') {
    print("closure");
  } else if (space == 'S') {
    print("shim");
  } else {
    print(std::string_view(&space, 1));
  }
  if (!name.is_empty()) {
    print(":");
    print(name);
  }
  print("#");
  print(disambiguator);
  print("}");
}

void RustV0Printer::impl_path(char tag) {
  if (tag != 'Y') { // where the impl is
    tagged_base_62('s');
    const bool was_silent = std::exchange(is_silent_, true);
    path(false);
    is_silent_ = was_silent;
  }
  print("<");
  type();
  if (tag != 'M') {
    print(" as ");
    path(false);
  }
  print(">");
}

bool RustV0Printer::path_with_open_generics() {
  const Level level(*this);
  bool is_open = false;
  if (take('B')) {
    back_reference([&] { is_open = path_with_open_generics(); });
  } else if (take('I')) {
    path(false);
    print("<");
    generic_args();
    is_open = true;
  } else {
    path(false);
  }
  return is_open;
}

void RustV0Printer::generic_args() {
  for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
    if (!is_first) print(", ");
    generic_arg();
  }
}

void RustV0Printer::generic_arg() {
  if (take('L')) return lifetime(base_62());
  if (take('K')) return constant(false);
  type();
}

void RustV0Printer::print(const Identifier& name) {
  if (name.punycode.empty()) return print(name.ascii);
  if (!is_silent_ && !failed_) print_punycode(name);
}

/// RFC 3492, 6.2, with the numbers that Rust uses for digits.
void RustV0Printer::print_punycode(const Identifier& name) {
  constexpr std::uint32_t kBase = 36, kLowest = 1, kHighest = 26, kSkew = 38, kDamp = 700;
  constexpr std::size_t kMostCharacters = 512; // inserting makes it quadratic
  std::vector<std::uint32_t> characters(name.ascii.begin(), name.ascii.end());
  std::uint32_t character = 0x80, bias = 72;
  std::uint64_t index = 0;
  for (std::size_t at = 0; at < name.punycode.size();) {
    const std::uint64_t before = index;
    std::uint64_t weight = 1;
    for (std::uint32_t k = kBase;; k += kBase) {
      if (at >= name.punycode.size()) return fail();
      const char c = name.punycode[at++];
      std::uint32_t digit = 0;
      if ('a' <= c && c <= 'z') {
        digit = static_cast<std::uint32_t>(c - 'a');
      } else if ('0' <= c && c <= '9') {
        digit = static_cast<std::uint32_t>(c - '0') + 26;
      } else {
        return fail();
      }
      index += digit * weight;
      const std::uint32_t threshold = k <= bias ? kLowest : std::clamp(k - bias, kLowest, kHighest);
      if (digit < threshold) break;
      weight *= kBase - threshold;
      if (weight > 0x7fff'ffff || index > 0x7fff'ffff) return fail();
    }
    const std::uint64_t count = characters.size() + 1;
    std::uint64_t delta = (index - before) / (before == 0 ? kDamp : 2);
    delta += delta / count;
    bias = 0;
    for (; delta > (kBase - kLowest) * kHighest / 2; bias += kBase)
      delta /= kBase - kLowest;
    bias += static_cast<std::uint32_t>((kBase - kLowest + 1) * delta / (delta + kSkew));
    if (index / count > 0x10ffff || count > kMostCharacters) return fail();
    character += static_cast<std::uint32_t>(index / count);
    index %= count;
    characters.insert(characters.begin() + static_cast<std::ptrdiff_t>(index), character);
    ++index;
  }
  std::string text;
  for (const std::uint32_t c : characters)
    if (!append_utf8(text, c)) return fail();
  print(std::string_view(text));
}

} // namespace sonictrace::names
