#include "sonictrace/names/demangle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "names/itanium_reader.hpp"
#include "names/rust_legacy.hpp"
#include "names/rust_v0.hpp"

namespace sonictrace {
namespace {

/// No real name is longer; one that is would cost too much. Bytes.
constexpr std::size_t kLongestInput = 64 * 1024;
constexpr std::uint64_t kLongestOutput = 256 * 1024;

/// The C++ runtime's demangler. It limits its own recursion by refusing names of more than 1024
/// bytes, as c++filt does; it does not limit its output.
std::optional<std::string> demangle_by_runtime(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (!text) return std::nullopt;
  return std::string(text.get());
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// What people call things by.
std::string with_short_words(std::string text) {
  replace_all(text, "(anonymous namespace)", "{anonymous}");
  for (const std::string_view space : {"std::__cxx11::", "std::__1::", "std::"}) {
    std::string expansion(space);
    expansion += "basic_string<char, std::char_traits<char>, std::allocator<char> >";
    if (space == "std::__1::") replace_all(expansion, ", std::", ", std::__1::");
    replace_all(text, expansion, "std::string");
  }
  replace_all(text, "std::string >", "std::string>"); // the space kept two `>` apart
  return text;
}

/// The mangled name of a variable of the same name: without the types of the function's parameters
/// and of its result, and without the qualifiers of `this`, which are printed behind them.
std::string as_variable(const names::ItaniumName& name) {
  std::string text;
  std::size_t at = 0;
  for (const std::size_t qualifier : name.qualifiers) {
    text += name.name.substr(at, qualifier - at);
    at = qualifier + 1;
  }
  return text.append(name.name.substr(at));
}

/// ` [clone .isra.0] [clone .cold]`, as the C++ runtime has it for a function with parameters.
std::string clone_words(std::string_view clone) {
  constexpr std::string_view kDigits = "0123456789";
  std::string text;
  while (!clone.empty()) {
    std::size_t end = clone.find('.', 1); // a name, and the numbers that follow it
    while (end < clone.size() && end + 1 < clone.size() &&
           kDigits.find(clone[end + 1]) != std::string_view::npos)
      end = clone.find('.', end + 1);
    end = std::min(end, clone.size());
    text.append(" [clone ").append(clone.substr(0, end)).append("]");
    clone.remove_prefix(end);
  }
  return text;
}

std::optional<std::string> demangle_itanium(std::string_view mangled, DemangleStyle style) {
  // The runtime may take for ever on what is malformed, so that it gets nothing else.
  const auto name = names::ItaniumReader::read(mangled);
  if (!name || name->printed_size > kLongestOutput) return std::nullopt;
  if (style == DemangleStyle::Short)
    if (auto text = demangle_by_runtime(as_variable(*name)))
      return with_short_words(*std::move(text)) + clone_words(name->clone);
  auto text = demangle_by_runtime(std::string(mangled));
  if (text && style == DemangleStyle::Short) text = with_short_words(*std::move(text));
  return text;
}

/// Names are identifiers, maybe in UTF-8, and a few signs.
bool has_odd_bytes(std::string_view mangled) {
  return std::any_of(mangled.begin(), mangled.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f;
  });
}

} // namespace

std::string demangle(std::string_view mangled, DemangleStyle style) {
  std::optional<std::string> text;
  if (style != DemangleStyle::None && mangled.size() <= kLongestInput && !has_odd_bytes(mangled)) {
    if (mangled.starts_with("_R")) text = names::demangle_rust_v0(mangled);
    if (mangled.starts_with("_ZN")) text = names::demangle_rust_legacy(mangled);
    if (!text && mangled.starts_with("_Z")) text = demangle_itanium(mangled, style);
  }
  return text ? *std::move(text) : std::string(mangled);
}

} // namespace sonictrace
