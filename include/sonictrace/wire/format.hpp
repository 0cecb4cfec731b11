#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

/// What an argument behind a format string is.
enum class ArgumentTag : std::uint8_t {
  None = 0,
  Signed,
  Unsigned,
  Hex,
  Octal,
  Character,
  WideCharacter,
  Float, ///< of 4 or 8 bytes, or a long double in 16
  HexFloat,
  Text,     ///< `char*`
  WideText, ///< `wchar_t*`
  Pointer,
  Binary, ///< %b
  Count,  ///< %n: pointer to a number
  Buffer, ///< scanf's %c: characters without a NUL, as many as its width
};

constexpr std::size_t kMostFormatArguments = 32;
constexpr std::int32_t kNoPrecision = -1;
constexpr std::uint8_t kNoArgument = 0xff;

/// One argument that a format asks for.
struct FormatArgument {
  ArgumentTag tag = ArgumentTag::None;
  std::uint8_t size = 8; ///< bytes of the value; of what is stored, for scanf
  /// Which argument (0-based) holds the precision (`.*`); kNoArgument: none does.
  std::uint8_t precision_argument = kNoArgument;
  bool allocates = false; ///< scanf's %ms: the argument is a `char**`
  /// Of scanf: how many conversions have stored something when this one has; of %n those before it.
  std::uint8_t ordinal = 0;
  /// Of scanf's %n: nothing that may fail stands between it and the conversion before it.
  bool is_certain = false;
  /// Of a text printed: most bytes that are looked at. Of a scanf %c: its width.
  std::int32_t precision = kNoPrecision;
};

struct FormatArguments {
  FormatArgument list[kMostFormatArguments] = {};
  std::size_t count = 0;
  bool complete = true; ///< false: there may be more, behind what was not understood
};

/// Reads a format from a `Source`, which offers `int next()` (a byte, or a negative number at the
/// end) and `int peek()`.
///
/// `word`: bytes of a long and of a pointer in the program, 8 or 4.
template <class Source>
class FormatParser {
public:
  FormatParser(Source& source, std::uint8_t word) : source_(source), word_(word) {}

  /// fprintf(3). What follows a conversion that is not known is not looked at: the places of
  /// further arguments can't be told.
  FormatArguments parse_print() {
    while (next_conversion())
      if (!print_conversion()) {
        arguments_.complete = false;
        break;
      }
    return arguments_;
  }

  /// scanf(3). Arguments of suppressed conversions do not exist.
  FormatArguments parse_scan() {
    while (next_conversion())
      if (!scan_conversion()) {
        arguments_.complete = false;
        break;
      }
    return arguments_;
  }

private:
  static bool is_digit(int c) { return c >= '0' && c <= '9'; }

  bool next_conversion() {
    int c;
    while ((c = source_.next()) > 0) {
      if (c == '%') return true;
      if (c != ' ' && (c < '\t' || c > '\r')) may_have_failed_ = true; // scanf: a literal
    }
    return false;
  }

  std::int32_t number() {
    std::int32_t value = 0;
    while (is_digit(source_.peek())) {
      const int digit = source_.next() - '0';
      if (value < 100'000'000) value = value * 10 + digit;
    }
    return value;
  }

  bool is_flag(int c) const {
    return c == '-' || c == '+' || c == ' ' || c == '#' || c == '0' || c == '\'' || c == 'I';
  }

  static FormatArgument of(ArgumentTag tag, std::uint8_t size) {
    FormatArgument argument;
    argument.tag = tag;
    argument.size = size;
    return argument;
  }

  static bool is_whole(const FormatArgument& argument) {
    return argument.precision == kNoPrecision && argument.precision_argument == kNoArgument;
  }

  /// The next argument in order, or the one at `position` (1-based) where that is not 0.
  std::uint8_t place(std::int32_t position, const FormatArgument& argument) {
    const std::size_t at = position > 0 ? static_cast<std::size_t>(position) - 1 : ordinal_++;
    if (at >= kMostFormatArguments) {
      arguments_.complete = false;
      return kNoArgument;
    }
    // A gap between positions is some word (%1$d %3$d: printf(3) forbids it, programs do it).
    while (arguments_.count <= at)
      arguments_.list[arguments_.count++] = of(ArgumentTag::Hex, word_);
    FormatArgument& known = arguments_.list[at];
    // A text that is printed twice (%1$.3s %1$s): as much of it as either prints.
    const bool is_text = argument.tag == ArgumentTag::Text || argument.tag == ArgumentTag::WideText;
    const bool again = is_text && known.tag == argument.tag;
    const FormatArgument before = known;
    known = argument;
    if (again && is_whole(before))
      known = before;
    else if (again && !is_whole(argument) && before.precision > argument.precision)
      known.precision = before.precision;
    return static_cast<std::uint8_t>(at);
  }

  /// A `*`, perhaps with `N$`: returns where its int is.
  std::uint8_t star() {
    std::int32_t position = number();
    if (position > 0 && source_.peek() == '$') source_.next();
    return place(position, of(ArgumentTag::Signed, 4));
  }

  /// hh h l ll q L j z Z t: bytes of an integer; `long_double` for L.
  std::uint8_t integer_size(bool& wide, bool& long_double) {
    std::uint8_t size = 4;
    for (;;) {
      switch (source_.peek()) {
        case 'h': size = size == 2 ? 1 : 2; break;
        case 'l':
          size = wide ? 8 : word_;
          wide = true;
          break;
        case 'q':
        case 'j': size = 8; break;
        case 'L':
          size = 8;
          long_double = true;
          break;
        case 'z':
        case 'Z':
        case 't': size = word_; break;
        default: return size;
      }
      source_.next();
    }
  }

  bool print_conversion() {
    std::int32_t position = 0;
    std::int32_t width = 0;
    while (is_flag(source_.peek()))
      source_.next();
    if (is_digit(source_.peek())) {
      width = number();
      if (source_.peek() == '$') {
        source_.next();
        position = width;
        while (is_flag(source_.peek()))
          source_.next();
        number();
      }
    }
    if (source_.peek() == '*') {
      source_.next();
      star();
    }
    FormatArgument argument;
    if (source_.peek() == '.') {
      source_.next();
      if (source_.peek() == '*') {
        source_.next();
        argument.precision_argument = star();
      } else if (source_.peek() == '-') { // a negative one is as if there were none
        source_.next();
        number();
      } else {
        argument.precision = number();
      }
    }
    bool wide = false, long_double = false;
    argument.size = integer_size(wide, long_double);
    const int letter = source_.next();
    switch (letter) {
      case 'd':
      case 'i': argument.tag = ArgumentTag::Signed; break;
      case 'u': argument.tag = ArgumentTag::Unsigned; break;
      case 'x':
      case 'X': argument.tag = ArgumentTag::Hex; break;
      case 'o': argument.tag = ArgumentTag::Octal; break;
      case 'b':
      case 'B': argument.tag = ArgumentTag::Binary; break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        argument.tag = ArgumentTag::Float;
        argument.size = long_double ? 16 : 8;
        break;
      case 'a':
      case 'A':
        argument.tag = ArgumentTag::HexFloat;
        argument.size = long_double ? 16 : 8;
        break;
      case 'c':
        argument.tag = wide ? ArgumentTag::WideCharacter : ArgumentTag::Character;
        argument.size = 4;
        break;
      case 'C':
        argument.tag = ArgumentTag::WideCharacter;
        argument.size = 4;
        break;
      case 's':
        argument.tag = wide ? ArgumentTag::WideText : ArgumentTag::Text;
        argument.size = word_;
        break;
      case 'S':
        argument.tag = ArgumentTag::WideText;
        argument.size = word_;
        break;
      case 'p':
      case 'n':
        argument.tag = ArgumentTag::Pointer;
        argument.size = word_;
        break;
      case '%':
      case 'm': return true; // no argument
      default: return false;
    }
    if (argument.tag != ArgumentTag::Text && argument.tag != ArgumentTag::WideText) {
      argument.precision = kNoPrecision;
      argument.precision_argument = kNoArgument;
    }
    place(position, argument);
    return true;
  }

  bool scan_conversion() {
    std::int32_t position = 0;
    bool suppressed = false;
    FormatArgument argument;
    std::int32_t width = 0;
    if (is_digit(source_.peek())) {
      width = number();
      if (source_.peek() == '$') {
        source_.next();
        position = width;
        width = 0;
      }
    }
    for (;; source_.next()) {
      if (source_.peek() == '*')
        suppressed = true;
      else if (source_.peek() == 'm')
        argument.allocates = true;
      else if (source_.peek() != '\'' && source_.peek() != 'I')
        break;
    }
    if (is_digit(source_.peek())) width = number();
    if (source_.peek() == 'm') {
      source_.next();
      argument.allocates = true;
    }
    bool wide = false, long_double = false;
    argument.size = integer_size(wide, long_double);
    switch (source_.next()) {
      case 'd':
      case 'i': argument.tag = ArgumentTag::Signed; break;
      case 'u': argument.tag = ArgumentTag::Unsigned; break;
      case 'x':
      case 'X': argument.tag = ArgumentTag::Hex; break;
      case 'o': argument.tag = ArgumentTag::Octal; break;
      case 'b': argument.tag = ArgumentTag::Binary; break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        argument.tag = ArgumentTag::Float;
        argument.size = long_double ? 16 : wide ? 8 : 4;
        break;
      case 'p':
        argument.tag = ArgumentTag::Pointer;
        argument.size = word_;
        break;
      case 'n': argument.tag = ArgumentTag::Count; break;
      case 's': argument.tag = wide ? ArgumentTag::WideText : ArgumentTag::Text; break;
      case 'S': argument.tag = ArgumentTag::WideText; break;
      case '[':
        argument.tag = wide ? ArgumentTag::WideText : ArgumentTag::Text;
        skip_set();
        break;
      case 'c':
        argument.tag = wide ? ArgumentTag::WideCharacter : ArgumentTag::Buffer;
        argument.precision = width == 0 ? 1 : width;
        break;
      case 'C': argument.tag = ArgumentTag::WideCharacter; break;
      case '%': may_have_failed_ = true; return true;
      default: return false;
    }
    if (suppressed) {
      may_have_failed_ = true;
      return true;
    }
    if (argument.tag == ArgumentTag::Count) {
      argument.is_certain = !may_have_failed_;
    } else {
      ++stored_;
      may_have_failed_ = false;
    }
    argument.ordinal = stored_;
    place(position, argument);
    return true;
  }

  /// `%[abc]`, behind its `[`: a `]` that comes first belongs to the set.
  void skip_set() {
    if (source_.peek() == '^') source_.next();
    int c = source_.next();
    while (c > 0 && (c = source_.next()) != ']' && c > 0) {}
  }

  Source& source_;
  std::uint8_t word_;
  std::size_t ordinal_ = 0;
  std::uint8_t stored_ = 0; ///< scanf: conversions so far that store something
  bool may_have_failed_ = false; ///< scanf: something that may not match came behind the last of them
  FormatArguments arguments_;
};

} // namespace sonictrace::wire
