#include "sonictrace/names/scope_facts.hpp"

#include <array>
#include <cstddef>

#include "sonictrace/names/signature.hpp"

namespace sonictrace::names {
namespace {

constexpr std::size_t kMostParts = 16;

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_lower(char c) { return 'a' <= c && c <= 'z'; }

/// The plain names that a nested name begins with: `5kinds7Account`.
struct Path {
  std::array<std::string_view, kMostParts> parts;
  std::size_t count = 0;
  std::string_view rest; ///< what is behind them

  std::string joined(std::size_t first_parts) const {
    std::string text;
    for (std::size_t at = 0; at < first_parts; ++at)
      (text += at == 0 ? "" : "::") += parts[at];
    return text;
  }
};

Path path_of(std::string_view text) {
  Path path;
  while (path.count < kMostParts && !text.empty() && is_digit(text[0])) {
    std::size_t length = 0, at = 0;
    for (; at < text.size() && is_digit(text[at]) && length < text.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(text[at] - '0');
    if (length == 0 || length > text.size() - at) break;
    path.parts[path.count++] = text.substr(at, length);
    text.remove_prefix(at + length);
  }
  path.rest = text;
  return path;
}

/// How a nested name of `count` parts refers to itself: each part is a substitution (5.1.10).
std::string substitution(std::size_t count) {
  if (count == 1) return "S_";
  const std::size_t number = count - 2;
  return "S" + std::string(1, static_cast<char>(number < 10 ? '0' + number : 'A' + number - 10)) +
         "_";
}

/// What stands behind the name of a class in its copy or move constructor: `C1ERKS0_`.
bool is_copying(const Path& path) {
  std::string_view rest = path.rest;
  if (rest.size() < 3 || rest[0] != 'C' || !is_digit(rest[1]) || rest[2] != 'E') return false;
  rest.remove_prefix(3);
  return rest == "RK" + substitution(path.count) || rest == "O" + substitution(path.count);
}

/// In a destructor: `D1Ev`.
bool is_destroying(std::string_view rest) {
  return rest.size() == 4 && rest[0] == 'D' && is_digit(rest[1]) && rest.substr(2) == "Ev";
}

} // namespace

void ScopeFacts::add(std::string_view mangled) {
  constexpr std::string_view kTable = "_ZTV";
  if (mangled.starts_with(kTable)) { // who has virtual functions is not trivially copied
    mangled.remove_prefix(kTable.size());
    const bool is_nested = mangled.starts_with('N');
    const Path path = path_of(mangled.substr(is_nested ? 1 : 0));
    if (path.count != 0 && path.rest == (is_nested ? "E" : ""))
      copied_.insert(path.joined(path.count));
    return;
  }
  add_function(mangled);
}

void ScopeFacts::add_function(std::string_view mangled) {
  constexpr std::string_view kNested = "_ZN";
  constexpr std::string_view kAnonymous = "_GLOBAL__N_1";
  if (!mangled.starts_with(kNested)) return;
  const Path path = path_of(mangled.substr(kNested.size()));
  if (path.count == 0 || path.rest.empty()) return;

  // A namespace without a name is in no class.
  for (std::size_t at = 1; at < path.count; ++at)
    if (path.parts[at] == kAnonymous) add_namespace(path.joined(at));
  // Internal linkage is marked in namespaces, and in nothing else: the ABI does not know the mark.
  const bool is_internal = path.rest.size() > 1 && path.rest[0] == 'L' && is_digit(path.rest[1]);
  if (is_internal) return add_namespace(path.joined(path.count));
  // One that is trivial is never called, and so has no code.
  if (is_copying(path) || is_destroying(path.rest)) {
    copied_.insert(path.joined(path.count));
    return;
  }
  // An operator that is no member for having as many parameters as operands.
  if (path.rest.size() < 2 || !is_lower(path.rest[0])) return;
  const auto signature = read_signature(mangled);
  const bool is_free = signature && signature->object == FunctionSignature::Object::No &&
                       !path.rest.starts_with("nw") && !path.rest.starts_with("na") &&
                       !path.rest.starts_with("dl") && !path.rest.starts_with("da");
  if (is_free) add_namespace(path.joined(path.count));
}

/// What a namespace is in is one too.
void ScopeFacts::add_namespace(const std::string& scope) {
  for (std::size_t end = scope.size(); end != std::string::npos; end = scope.rfind("::", end - 1)) {
    if (!namespaces_.insert(scope.substr(0, end)).second || end == 0) return;
  }
}

} // namespace sonictrace::names
