#include <array>
#include <cstddef>
#include <string_view>

#include "sonictrace/log/line.hpp"

namespace sonictrace::log {
namespace {

constexpr auto npos = std::string_view::npos;

/// Behind the sign of an operator that `at` follows: `operator<<`, `operator()`; `at` where it is
/// one with a name (`operator new`, `operator bool`).
std::size_t skip_operator_sign(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("()") || text.substr(at).starts_with("[]")) return at + 2;
  while (at < text.size() && std::string_view("<>=+-*/%!&|^~,").find(text[at]) != npos)
    ++at;
  return at;
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

std::size_t find_close_parenthesis(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    switch (text[i]) {
      case '(': ++depth; break;
      case ')':
        if (depth-- == 0) return i;
        break;
      case '"': // a string; one that is not closed is none
      {
        std::size_t j = i + 1;
        while (j < text.size() && text[j] != '"')
          j += text[j] == '\\' ? 2 : 1;
        if (j < text.size()) i = j;
        break;
      }
      case '\'': // a character: 'a' or '\n' or '\033'
        if (i + 2 < text.size() && text[i + 1] != '\\' && text[i + 2] == '\'') i += 2;
        if (i + 3 < text.size() && text[i + 1] == '\\') {
          const auto end = text.find('\'', i + 3);
          if (text[i + 3] == '\'')
            i += 3;
          else if (end != npos && end <= i + 5)
            i = end;
        }
        break;
      default: break;
    }
  }
  return npos;
}

std::size_t find_open_parenthesis(std::string_view text) {
  int depth = 0; // of <>, {} and []
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20) return npos;
    if (c == 'o' && text.substr(i).starts_with("operator") &&
        (i == 0 || !is_name_byte(text[i - 1])) &&
        (i + 8 >= text.size() || !is_name_byte(text[i + 8]))) {
      i = skip_operator_sign(text, i + 8) - 1;
      continue;
    }
    switch (c) {
      case '-':
        if (i + 1 < text.size() && text[i + 1] == '>') ++i;
        break;
      case '<':
      case '{':
      case '[': ++depth; break;
      case '>':
      case '}':
      case ']': --depth; break;
      case '(': {
        const auto close = find_close_parenthesis(text, i + 1);
        if (depth > 0) { // parameters within a template's arguments
          if (close == npos) return npos;
          i = close;
          break;
        }
        if (i == 0 || text[i - 1] == ':' || text[i - 1] == ' ') {
          // `(anonymous namespace)::f`; a call's name is never empty. `void (*f<int>())(int)`
          // begins likewise.
          if (text.substr(i).starts_with("(anonymous ") && close != npos) {
            i = close;
            break;
          }
          // ltrace knows no name of what an IRELATIVE relocation is for: `(0x7ff1, 3) = 0x7ff1`.
          if (i == 0)
            return text.size() > 1 && std::string_view("0123456789-n)\"").find(text[1]) != npos
                       ? 0
                       : npos;
        }
        // The full form has the types of the parameters in front of the arguments.
        if (close != npos) {
          auto rest = text.substr(close + 1);
          for (const std::string_view qualifier :
               {" const", " volatile", " &&", " &"}) // a member's
            if (rest.starts_with(qualifier)) rest.remove_prefix(qualifier.size());
          if (rest.starts_with(" [clone ")) // as c++filt writes .isra.0
            if (const auto end = rest.find(']'); end != npos) rest.remove_prefix(end + 1);
          if (rest.starts_with("(")) return text.size() - rest.size();
          if (rest.starts_with("::")) { // a local name of a function: f(int)::{lambda()#1}
            i = close + 2;
            break;
          }
        }
        return i;
      }
      default: break;
    }
  }
  return npos;
}

} // namespace sonictrace::log
