// What the log should show of a call, told by the callee. Each value has two texts: what it is
// where debug information describes the function, and what it is where only the function's name is
// known, which does not tell classes from enumerations, nor whether there is a `this`. In the
// second a `?` stands for what a name says nothing about.
#ifndef SHOWN_H
#define SHOWN_H

#include <array>
#include <complex>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace told {

using Text = std::string;

struct Shown {
  Text described, named;
};

inline Shown both(const Text& text) { return {text, text}; }

inline Text quoted(std::string_view text, char quote = '"') {
  constexpr std::size_t kLimit = 32; // sonictrace -s
  constexpr char kLetters[] = "abtnvfr";
  Text out(1, quote);
  for (const char c : text.substr(0, kLimit)) {
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c >= '\a' && c <= '\r')
      (out += '\\') += kLetters[c - '\a'];
    else if (c < ' ' || c > '~')
      out += c == '\0' && quote == '\'' ? "\\0" : octal;
    else
      out += c;
  }
  out += quote;
  return out + (text.size() > kLimit ? "..." : "");
}

/// None of the texts is longer than what is shown, or holds what is not ASCII.
inline Text quoted_wide(std::wstring_view text) {
  return "L" + quoted(std::string(text.begin(), text.end()));
}

inline Text address(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return pointer == nullptr ? "nil" : text;
}

inline Text decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {
    char fewer[64];
    std::snprintf(fewer, sizeof fewer, "%.*g", digits, value);
    if (std::stod(fewer) != value) continue;
    return Text(fewer).find_first_of(".en") == Text::npos ? fewer + Text(".0") : Text(fewer);
  }
  return text;
}

// Numbers and characters.

inline Shown shown(bool value) { return both(value ? "true" : "false"); }
inline Shown shown(char value) { return both(quoted({&value, 1}, '\'')); }
inline Shown shown(wchar_t value) {
  const char narrow = static_cast<char>(value);
  return both("L" + quoted({&narrow, 1}, '\''));
}
inline Shown shown(char32_t value) { return shown(static_cast<wchar_t>(value)); }
inline Shown shown(float value) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value)); // of few digits, all of them
  return both(Text(text).find_first_of(".en") == Text::npos ? text + Text(".0") : Text(text));
}
inline Shown shown(double value) { return both(decimal(value)); }
inline Shown shown(long double value) { return both(decimal(static_cast<double>(value))); }
template <class Number>
std::enable_if_t<std::is_integral_v<Number>, Shown> shown(Number value) {
  return both(std::to_string(value));
}

// Pointers.

inline Shown shown(const char* text) { return both(text == nullptr ? "nil" : quoted(text)); }
inline Shown shown(const wchar_t* text) { return both(quoted_wide(text)); }
/// Text that may be about to be overwritten.
inline Shown shown(char* text) { return {quoted(text), address(text)}; }
inline Shown shown(std::nullptr_t) { return both("nil"); }
template <class Target>
Shown shown(Target* pointer) {
  if constexpr (std::is_function_v<Target>)
    return both(address(reinterpret_cast<void*>(pointer)));
  else
    return both(address(pointer));
}
template <class Target>
Shown shown(const std::shared_ptr<Target>& pointer) {
  return shown(pointer.get());
}
template <class Target>
Shown shown(const std::unique_ptr<Target>& pointer) {
  return shown(pointer.get());
}

// Texts.

inline Shown shown(const std::string& text) { return both(quoted(text)); }
inline Shown shown(std::string_view text) { return both(quoted(text)); }
inline Shown shown(const std::wstring& text) { return both(quoted_wide(text)); }

// What has elements, each of which may be any of these.

template <class First, class Second>
Shown shown(const std::pair<First, Second>& pair);
template <class Value>
Shown shown(const std::optional<Value>& value);
template <class Element>
Shown shown(const std::vector<Element>& values);

template <class Each>
Shown joined_with(const char* open, const char* more, const char* close, const Each& elements) {
  constexpr std::size_t kLimit = 4; // sonictrace -A
  Shown out = both(open);
  std::size_t at = 0;
  for (const auto& element : elements) {
    if (at == kLimit) {
      out.described += more;
      out.named += more;
      break;
    }
    const Shown one = shown(element);
    out.described += (at == 0 ? "" : ", ") + one.described;
    out.named += (at == 0 ? "" : ", ") + one.named;
    ++at;
  }
  out.described += close;
  out.named += close;
  return out;
}

template <class Element>
Shown shown(const std::vector<Element>& values) {
  return joined_with("[", ", ...", "]", values);
}
template <class Element>
Shown shown(std::initializer_list<Element> values) {
  return joined_with("[", ", ...", "]", values);
}
template <class Element, std::size_t kSize>
Shown shown(const std::array<Element, kSize>& values) {
  return joined_with("[ ", "...", " ]", values);
}
template <class Number>
Shown shown(const std::complex<Number>& number) {
  return both("{ " + shown(number.real()).named + ", " + shown(number.imag()).named + " }");
}
template <class Value>
Shown shown(const std::optional<Value>& value) {
  return value ? shown(*value) : both("nullopt");
}
template <class First, class Second>
Shown shown(const std::pair<First, Second>& pair) {
  const Shown first = shown(pair.first), second = shown(pair.second);
  return {"{ " + first.described + ", " + second.described + " }",
          "{ " + first.named + ", " + second.named + " }"};
}

// Objects of classes.

/// One of which nothing is shown but where it is.
template <class Object>
Shown at(const Object& object) {
  return both(address(static_cast<const void*>(std::addressof(object))));
}
/// A reference to one, the fields of which are shown where they are known.
template <class Object>
Shown behind(const Object& object) {
  return {shown(object).described, at(object).named};
}
/// Passed in registers or on the stack, and not shown.
inline Shown elided() { return {"...", "?"}; }
/// Not passed at all, being empty: debug information says so.
inline Shown absent() { return {"", "?"}; }

/// One call: the arguments as they are when it begins, the result, and, when it ends, the line.
class Call {
public:
  explicit Call(const char* name) : name_(name) {}
  Call(const Call&) = delete;
  ~Call() {
    std::printf("kinds::%s\t%s)\t%s\t%s)\t%s\n", name_, arguments_.described.c_str(),
                result_.described.c_str(), arguments_.named.c_str(), result_.named.c_str());
  }

  /// The `this` of a function whose name tells that there is one.
  Call& of(const void* object) { return add(both(address(object))); }
  /// The `this` of a function whose name does not.
  Call& of_unnamed(const void* object) { return add({address(object), ""}); }
  template <class... Values>
  Call& with(const Values&... values) {
    (add(as_shown(values)), ...);
    return *this;
  }

  /// A result that a name says nothing about.
  template <class Value>
  Call& gives(const Value& value) {
    result_ = {as_shown(value).described, "?"};
    return *this;
  }
  /// One of a template, or of a conversion, whose names have it.
  template <class Value>
  Call& tells(const Value& value) {
    result_ = as_shown(value);
    return *this;
  }
  Call& gives_nothing() {
    result_ = {"<void>", "?"};
    return *this;
  }
  Call& tells_nothing() {
    result_ = both("<void>");
    return *this;
  }
  Call& throws() {
    result_ = both("<unwound>");
    return *this;
  }

private:
  static Shown as_shown(const Shown& value) { return value; }
  template <class Value>
  static Shown as_shown(const Value& value) {
    return shown(value);
  }
  Call& add(const Shown& value) {
    for (auto [text, more] : {std::pair(&arguments_.described, &value.described),
                              std::pair(&arguments_.named, &value.named)}) {
      if (more->empty()) continue;
      *text += (*text == "(" ? "" : ", ") + *more;
    }
    return *this;
  }

  const char* name_;
  Shown arguments_ = both("("), result_ = both("<void>");
};

} // namespace told

#endif
