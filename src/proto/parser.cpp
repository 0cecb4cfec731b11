#include "proto/parser.hpp"

#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

namespace sonictrace::proto {
namespace {

/// What a prototype may have at most: beyond that somebody has lost a parenthesis.
constexpr std::size_t kMaxParameters = 32;
constexpr int kMaxNesting = 16; ///< of lenses in each other, so that no text exhausts the stack

const std::unordered_map<std::string_view, Parameter>& plain_types() {
  static const std::unordered_map<std::string_view, Parameter> types = {
      {"void", {Lens::Void, 0, 0}},     {"char", {Lens::Char, 1, 0}},
      {"short", {Lens::Short, 2, 0}},   {"ushort", {Lens::UShort, 2, 0}},
      {"int", {Lens::Int, 4, 0}},       {"uint", {Lens::UInt, 4, 0}},
      {"long", {Lens::Long, 8, 0}},     {"ulong", {Lens::ULong, 8, 0}},
      {"addr", {Lens::Address, 8, 0}},  {"file", {Lens::Address, 8, 0}},
      {"octal", {Lens::Octal, 4, 0}},   {"string", {Lens::String, 8, 0}},
      {"format", {Lens::String, 8, 0}}, {"path", {Lens::Path, 8, 0}},
  };
  return types;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '.' || c == '@' || c == ':' || c == '~';
}

struct Problem {
  std::size_t column; ///< 1-based
  std::string what;
};

using Typedefs = std::unordered_map<std::string, Parameter>;

/// One line, read from left to right. A member that fails leaves a Problem and returns nothing.
class LineParser {
public:
  LineParser(std::string_view line, Typedefs& typedefs) : line_(line), typedefs_(typedefs) {}

  /// The prototype of the line; none if it is blank, a comment, a typedef, or wrong.
  std::optional<Prototype> parse() {
    skip_blanks();
    if (at_end() || peek() == ';' || peek() == '#') return std::nullopt;
    const std::size_t start = at_;
    const std::string_view first = word();
    if (first == "typedef") {
      parse_typedef();
      return std::nullopt;
    }
    if (first != "function") at_ = start;
    return parse_prototype();
  }

  const std::optional<Problem>& problem() const { return problem_; }

private:
  void parse_typedef() {
    skip_blanks();
    const std::string_view name = word();
    if (name.empty()) return fail("a name expected behind typedef");
    if (!expect('=')) return;
    if (const auto type = parse_lens(0)) typedefs_.insert_or_assign(std::string(name), *type);
  }

  std::optional<Prototype> parse_prototype() {
    Prototype prototype;
    const auto result = parse_lens(0);
    if (!result) return std::nullopt;
    prototype.result = *result;
    skip_blanks();
    prototype.name = word();
    if (prototype.name.empty()) return failed("the name of a function expected");
    if (!expect('(')) return std::nullopt;
    if (!parse_parameters(prototype.parameters)) return std::nullopt;
    return prototype; // whatever follows the `)` is ignored, as ltrace does
  }

  bool parse_parameters(std::vector<Parameter>& parameters) {
    skip_blanks();
    if (accept(')')) return true;
    do {
      skip_blanks();
      const bool out = accept('+');
      auto parameter = parse_lens(0);
      if (!parameter) return false;
      // The value of an out-parameter is only known at the return, which is not captured yet.
      if (out) parameter = Parameter{Lens::Pointer, 8, 0};
      if (parameters.size() == kMaxParameters) return fail("too many parameters"), false;
      parameters.push_back(*parameter);
      skip_blanks();
    } while (accept(','));
    if (!accept(')')) return fail("`,` or `)` expected"), false;
    // `f(void)` has no parameters.
    if (parameters.size() == 1 && parameters[0].lens == Lens::Void) parameters.clear();
    for (const Parameter& parameter : parameters) {
      if (parameter.lens == Lens::Void) return fail("void is no type of a parameter"), false;
      if (parameter.length_argument > parameters.size())
        return fail("the argument that gives a length does not exist"), false;
    }
    return true;
  }

  std::optional<Parameter> parse_lens(int nesting) {
    skip_blanks();
    const std::size_t start = at_;
    if (nesting > kMaxNesting) return failed("lenses nested too deep");
    const std::string_view name = word();
    if (name.empty()) return failed("a type expected");

    std::optional<Parameter> type;
    if (name == "hex" || name == "oct" || name == "bool" || name == "hide") {
      type = parse_applied(name, nesting);
    } else if ((name == "string" || name == "bytes") && accept('[')) {
      type = parse_counted(name);
    } else if (const auto numbered = numbered_string(name)) {
      type = numbered;
    } else if (const auto plain = plain_types().find(name); plain != plain_types().end()) {
      type = plain->second;
    } else if (const auto own = typedefs_.find(std::string(name)); own != typedefs_.end()) {
      type = own->second;
    } else {
      at_ = start;
      return failed("unknown type `" + std::string(name) + "`");
    }
    if (!type) return std::nullopt;
    while (skip_blanks(), accept('*'))
      type = Parameter{Lens::Pointer, 8, 0};
    return type;
  }

  /// hex(T), oct(T), bool(T), hide(T), behind their name.
  std::optional<Parameter> parse_applied(std::string_view lens, int nesting) {
    if (!expect('(')) return std::nullopt;
    auto inner = parse_lens(nesting + 1);
    if (!inner) return std::nullopt;
    if (!expect(')')) return std::nullopt;
    if (lens == "hide") {
      inner->lens = Lens::Hide;
    } else if (inner->lens == Lens::Void) {
      return failed("void has no value to show");
    } else {
      inner->lens = lens == "hex" ? Lens::Hex : lens == "oct" ? Lens::Octal : Lens::Bool;
    }
    inner->length_argument = 0;
    return inner;
  }

  /// string[argN], bytes[argN], behind the `[`.
  std::optional<Parameter> parse_counted(std::string_view name) {
    skip_blanks();
    const std::string_view expression = word();
    const auto n = expression.substr(0, 3) == "arg" ? number(expression.substr(3)) : std::nullopt;
    if (!n || *n == 0) return failed("argN expected between `[` and `]`");
    if (!expect(']')) return std::nullopt;
    return Parameter{name == "string" ? Lens::String : Lens::Bytes, 8, *n};
  }

  /// ltrace's old way to write string[argN]; string0 is string[retval].
  static std::optional<Parameter> numbered_string(std::string_view name) {
    if (name.size() < 7 || name.substr(0, 6) != "string") return std::nullopt;
    const auto n = number(name.substr(6));
    if (!n) return std::nullopt;
    // The length is only known at the return, which is not captured yet.
    if (*n == 0) return Parameter{Lens::Pointer, 8, 0};
    return Parameter{Lens::String, 8, *n};
  }

  static std::optional<std::uint8_t> number(std::string_view digits) {
    std::uint8_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  bool at_end() const { return at_ == line_.size(); }
  char peek() const { return line_[at_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(peek()))
      ++at_;
  }
  bool accept(char c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  bool expect(char c) {
    skip_blanks();
    if (accept(c)) return true;
    fail(std::string("`") + c + "` expected");
    return false;
  }
  std::string_view word() {
    const std::size_t start = at_;
    while (!at_end() && is_name_char(peek()))
      ++at_;
    return line_.substr(start, at_ - start);
  }

  void fail(std::string what) {
    if (!problem_) problem_ = Problem{at_ + 1, std::move(what)};
  }
  std::nullopt_t failed(std::string what) {
    fail(std::move(what));
    return std::nullopt;
  }

  std::string_view line_;
  Typedefs& typedefs_;
  std::size_t at_ = 0;
  std::optional<Problem> problem_;
};

} // namespace

ParsedConf parse_conf(std::string_view text, std::string_view file) {
  ParsedConf parsed;
  Typedefs typedefs;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    LineParser parser(text.substr(0, end), typedefs);
    if (auto prototype = parser.parse(); prototype && !parser.problem())
      parsed.prototypes.push_back(std::move(*prototype));
    if (const auto& problem = parser.problem()) {
      parsed.errors.push_back(std::string(file) + ":" + std::to_string(number) + ":" +
                              std::to_string(problem->column) + ": " + problem->what);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parsed;
}

} // namespace sonictrace::proto
