#include "names/rust_legacy.hpp"

#include <array>
#include <bitset>
#include <charconv>
#include <vector>

#include "names/utf8.hpp"

namespace sonictrace::names {
namespace {

struct Escape {
  std::string_view code;
  char character;
};

constexpr std::array kEscapes = {Escape{"SP", '@'}, Escape{"BP", '*'}, Escape{"RF", '&'},
                                 Escape{"LT", '<'}, Escape{"GT", '>'}, Escape{"LP", '('},
                                 Escape{"RP", ')'}, Escape{"C", ','}};

/// Splits `_ZN 3foo 3bar E` into its parts; `rest` is what comes behind.
std::optional<std::vector<std::string_view>> split(std::string_view mangled,
                                                   std::string_view& rest) {
  if (!mangled.starts_with("_ZN")) return std::nullopt;
  std::vector<std::string_view> parts;
  mangled.remove_prefix(3);
  while (!mangled.empty() && mangled[0] != 'E') {
    std::size_t size = 0;
    const auto [end, error] =
        std::from_chars(mangled.data(), mangled.data() + mangled.size(), size);
    if (error != std::errc{} || size == 0) return std::nullopt;
    mangled.remove_prefix(static_cast<std::size_t>(end - mangled.data()));
    if (size > mangled.size()) return std::nullopt;
    parts.push_back(mangled.substr(0, size));
    mangled.remove_prefix(size);
  }
  if (mangled.empty()) return std::nullopt;
  rest = mangled.substr(1);
  return parts;
}

/// `h` and 16 hexadecimal digits. A C++ name of that form would hardly have as many different ones.
bool is_hash(std::string_view part) {
  constexpr std::size_t kFewestDifferent = 5;
  if (part.size() != 17 || part[0] != 'h') return false;
  std::bitset<16> seen;
  for (const char c : part.substr(1)) {
    const bool is_digit = '0' <= c && c <= '9';
    if (!is_digit && (c < 'a' || 'f' < c)) return false;
    seen.set(static_cast<std::size_t>(is_digit ? c - '0' : c - 'a' + 10));
  }
  return seen.count() >= kFewestDifferent;
}

/// Appends the character of the escape between two `$`; false where it is unknown.
bool append_escape(std::string& out, std::string_view code) {
  for (const Escape& escape : kEscapes)
    if (escape.code == code) {
      out += escape.character;
      return true;
    }
  if (!code.starts_with('u')) return false;
  std::uint32_t character = 0;
  const char* const last = code.data() + code.size();
  const auto [end, error] = std::from_chars(code.data() + 1, last, character, 16);
  return error == std::errc{} && end == last && append_utf8(out, character);
}

bool append_part(std::string& out, std::string_view part) {
  if (part.starts_with("_$")) part.remove_prefix(1); // as a name must not begin with a `$`
  while (!part.empty()) {
    if (part[0] == '$') {
      const std::size_t end = part.find('$', 1);
      if (end == std::string_view::npos || !append_escape(out, part.substr(1, end - 1)))
        return false;
      part.remove_prefix(end + 1);
    } else if (part.starts_with("..")) {
      out += "::";
      part.remove_prefix(2);
    } else {
      out += part[0];
      part.remove_prefix(1);
    }
  }
  return true;
}

} // namespace

std::optional<std::string> demangle_rust_legacy(std::string_view mangled) {
  std::string_view rest;
  auto parts = split(mangled, rest);
  if (!parts || parts->size() < 2 || !is_hash(parts->back())) return std::nullopt;
  if (!rest.empty() && rest[0] != '.') return std::nullopt;
  parts->pop_back();
  std::string out;
  for (const std::string_view part : *parts) {
    if (!out.empty()) out += "::";
    if (!append_part(out, part)) return std::nullopt;
  }
  // LLVM tells copies of local functions apart by a hash; what else follows is a clone's name.
  if (!rest.empty() && !rest.starts_with(".llvm.")) out += " [clone " + std::string(rest) + "]";
  return out;
}

} // namespace sonictrace::names
