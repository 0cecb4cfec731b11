#include "proto/cpp_pack.hpp"

#include <algorithm>
#include <charconv>

#include "sonictrace/names/demangle.hpp"

namespace sonictrace::proto {
namespace {

/// Cuts the text up to the next `end` off its front; all of it where there is none.
std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return front;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The tool writes them in this order.
template <class Rows>
void order(Rows& rows) {
  const auto less = [](const auto& a, const auto& b) { return a.key < b.key; };
  if (!std::is_sorted(rows.begin(), rows.end(), less))
    std::stable_sort(rows.begin(), rows.end(), less);
}

template <class Rows>
auto find_row(const Rows& rows, std::string_view key) -> decltype(rows.data()) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), key,
                       [](const auto& row, std::string_view of) { return row.key < of; });
  return at == rows.end() || at->key != key ? nullptr : &*at;
}

/// What is behind `key` and a space in one of the lines, which are in order; nothing where there is
/// none. An empty rest is no result.
std::optional<std::string_view> find_line(std::string_view lines, const std::string& key) {
  const std::string begin = " " + key + " ";
  const auto line_at = [&](std::size_t at) {
    const std::size_t newline = at == 0 ? std::string_view::npos : lines.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
  };
  std::size_t low = 0, high = lines.size(); // of lines, where they begin; high: beyond them
  while (low < high) {
    const std::size_t middle = line_at(low + (high - low) / 2);
    const std::size_t end = std::min(lines.find('\n', middle), lines.size());
    const std::string_view line = lines.substr(middle, end - middle);
    const std::string_view head = line.substr(0, std::min(begin.size(), line.size()));
    if (head == begin) return line.substr(begin.size());
    if (head < begin)
      low = std::min(end + 1, lines.size());
    else
      high = middle;
  }
  return std::nullopt;
}

/// FNV-1a, folded: it stands for the mangled name of an overload.
std::string hash_of(std::string_view mangled) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : mangled)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  constexpr int kDigits = 8;
  std::string text(kDigits, '0');
  auto rest = static_cast<std::uint32_t>(hash >> 32 ^ hash);
  for (int digit = kDigits; digit-- > 0; rest >>= 4)
    text[static_cast<std::size_t>(digit)] = "0123456789abcdef"[rest & 15];
  return text;
}

/// A type as it is mangled.
std::optional<names::CppType> type_of(std::string_view mangled) {
  if (mangled == "v") return names::CppType{.kind = names::CppType::Kind::Builtin, .name = "void"};
  // Such a function has the type as its parameter, with the same substitutions.
  auto signature = names::read_signature("_Z1f" + std::string(mangled));
  if (!signature || signature->parameters.size() != 1) return std::nullopt;
  return std::move(signature->parameters.front());
}

} // namespace

std::vector<std::string_view> CppPack::libraries_of(std::string_view text) {
  std::vector<std::string_view> libraries;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view word = cut(line, ' ');
    if (word == "library")
      libraries.push_back(line);
    else if (word != "#")
      break; // they are the first
  }
  return libraries;
}

CppPack::CppPack(std::string_view text) {
  while (!text.empty()) {
    const char* const begin = text.data();
    std::string_view line = cut(text, '\n');
    if (line.starts_with(' ')) {
      if (scopes_.empty()) continue;
      std::string_view& lines = scopes_.back().lines;
      if (lines.empty()) lines = {begin, 0};
      lines = {lines.data(), static_cast<std::size_t>(line.data() + line.size() - lines.data())};
      continue;
    }
    const std::string_view word = cut(line, ' ');
    if (word == "result") {
      results_.push_back(line);
      continue;
    }
    const std::string_view key = cut(line, ' ');
    if (word == "enum") enumerations_.push_back({key, line});
    if (word == "flags") flags_.push_back({key, line});
    if (word == "class") classes_.push_back({key, line});
    if (word == "scope") scopes_.push_back({key == "-" ? std::string_view() : key, line, {}});
  }
  order(enumerations_);
  order(flags_);
  order(classes_);
  order(scopes_);
}

/// In front of a function's name: what of it is known.
std::string CppPack::shown(std::string_view says, char kind, std::string_view mark) const {
  if (says.starts_with('m') || says.starts_with('s')) {
    kind = says[0];
    says.remove_prefix(1);
  }
  std::string text = kind == 's' && mark != "n" ? "static " : "";
  const auto result = number<std::uint32_t>(cut(says, ' '));
  if (!result || *result >= results_.size()) return text;
  const std::string_view mangled = results_[*result];
  if (mangled == "v") return text + "void ";
  const std::string whole = demangle("_Z1f" + std::string(mangled), DemangleStyle::Full);
  if (whole.starts_with("f(") && whole.ends_with(")"))
    text += whole.substr(2, whole.size() - 3) + ' ';
  return text;
}

std::vector<std::string> CppPack::list() const {
  std::vector<std::string> all;
  for (const Scope& scope : scopes_) {
    std::string_view rest = scope.rest;
    const std::string_view mark = cut(rest, ' ');
    const std::string inside = scope.key.empty() ? "" : std::string(scope.key) + "::";
    const char kind = rest.empty() ? '\0' : rest[0];
    if (scope.lines.empty() && rest.size() > 1)
      all.push_back(shown(rest, kind, mark) + inside + "*(...);");
    for (std::string_view lines = scope.lines; !lines.empty();) {
      std::string_view line = cut(lines, '\n');
      cut(line, ' ');
      std::string_view name = line;
      // What stands behind the name: [m|s][NUMBER], and PARAMETER=ENUMERATION.
      std::size_t at = line.find(' ');
      while (at != std::string_view::npos && at + 1 < line.size() &&
             std::string_view("ms0123456789").find(line[at + 1]) == std::string_view::npos)
        at = line.find(' ', at + 1);
      std::string_view says;
      if (at != std::string_view::npos) {
        name = line.substr(0, at);
        says = line.substr(at + 1);
      }
      name = name.substr(0, name.rfind('#'));
      all.push_back(shown(says, kind, mark) + inside + std::string(name) + "(...);");
    }
  }
  return all;
}

std::optional<CppPack::Enumeration> CppPack::enumeration(std::string_view name) const {
  if (const auto known = read_.find(name); known != read_.end()) return known->second;
  const Row* row = find_row(enumerations_, name);
  const Row* const flags = row == nullptr ? find_row(flags_, name) : nullptr;
  if (flags != nullptr) row = flags;
  if (row == nullptr) return std::nullopt;

  Enumeration made;
  made.is_flags = flags != nullptr;
  std::string_view rest = row->rest;
  const std::string_view code = cut(rest, ' ');
  const auto size = number<std::uint8_t>(code.substr(std::min<std::size_t>(1, code.size())));
  if (!size || (*size != 1 && *size != 2 && *size != 4 && *size != 8)) return std::nullopt;
  made.size = *size;
  made.kind = code[0] == 'i' || code[0] == 'c' ? TypeKind::Signed : TypeKind::Unsigned;
  auto names = std::make_shared<NameTable>();
  std::uint64_t following = 0;
  while (!rest.empty()) {
    std::string_view value = cut(rest, ' ');
    const std::string_view own = cut(value, '=');
    if (!value.empty()) {
      if (const auto given = number<std::int64_t>(value))
        following = static_cast<std::uint64_t>(*given);
      else
        following = number<std::uint64_t>(value).value_or(following);
    }
    names->emplace_back(std::string(own), static_cast<std::int64_t>(following++));
  }
  made.names = std::move(names);
  return read_.emplace(std::string(name), std::move(made)).first->second;
}

std::string_view CppPack::passing(std::string_view name) const {
  const Row* const row = find_row(classes_, name);
  return row == nullptr ? std::string_view() : row->rest;
}

/// `[m|s][NUMBER] [PARAMETER=ENUMERATION]...`
void CppPack::read_says(std::string_view says, std::optional<bool> is_member,
                        Function& function) const {
  std::string_view first = cut(says, ' ');
  function.is_member = is_member;
  if (first.starts_with('m') || first.starts_with('s')) {
    function.is_member = first[0] == 'm';
    first.remove_prefix(1);
  }
  const auto result = number<std::uint32_t>(first);
  if (result && *result < results_.size()) function.result = type_of(results_[*result]);
  while (!says.empty()) {
    std::string_view name = cut(says, ' ');
    const auto parameter = number<std::uint32_t>(cut(name, '='));
    if (parameter && !name.empty()) function.enumerations.emplace_back(*parameter, name);
  }
}

CppPack::Function CppPack::function(const names::FunctionSignature& signature,
                                    std::string_view mangled) const {
  Function function;
  const Scope* const scope = find_row(scopes_, signature.scope);
  if (scope == nullptr) return function;
  std::string_view rest = scope->rest;
  const std::string_view mark = cut(rest, ' ');
  function.has_table = mark == "v";
  if (signature.name.empty()) return function;
  if (scope->lines.empty()) { // the same holds for all of them
    read_says(rest, std::nullopt, function);
    return function;
  }
  std::optional<bool> is_member;
  if (!rest.empty()) is_member = rest.starts_with('m');
  auto says = find_line(scope->lines, signature.name + "#" + hash_of(mangled));
  if (!says) says = find_line(scope->lines, signature.name);
  if (says)
    read_says(*says, is_member, function);
  else if (mark == "n")
    function.is_member = false; // there are no members of namespaces
  return function;
}

} // namespace sonictrace::proto
