#include "proto/parser.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "proto/parser_cursor.hpp"
#include "proto/parser_types.hpp"

namespace sonictrace::proto {
namespace {

// What a text may have at most, kMostParameters and kMostFields besides.
constexpr std::size_t kMostImports = 32;
constexpr std::size_t kMostNames = 4096; ///< of an enumeration
constexpr int kMostLenses = 16;          ///< in each other, so that no text exhausts the stack
constexpr std::uint32_t kMostElements = 1'000'000;
constexpr std::size_t kMostErrors = 100; ///< told one by one

struct Problem {
  ConfCursor::Place place;
  std::string what;
};

using Parsed = std::optional<KnownType>;

/// One item after the other. A member that fails leaves a Problem and returns nothing or false.
class ConfParser {
public:
  ConfParser(std::string_view text, const ConfContext& context)
      : context_(context), current_(context.dialect == Dialect::Current),
        cursor_(current_ ? without_mark(text) : text, current_, current_),
        types_(context.arena, current_) {}

  bool at_end() const { return cursor_.at_text_end(); }

  /// The prototype of the next item; none if it is blank, a comment, a typedef, or wrong.
  std::optional<Prototype> next() {
    problem_.reset();
    std::optional<Prototype> prototype;
    if (cursor_.peek() != '\0' && !cursor_.at_comment()) prototype = item();
    cursor_.next_item();
    if (problem_) return std::nullopt;
    return prototype;
  }

  /// The same, without a look at what is in the prototype.
  std::optional<DeferredPrototype> next_deferred() {
    problem_.reset();
    std::optional<DeferredPrototype> deferred;
    if (cursor_.peek() != '\0' && !cursor_.at_comment() && !definition()) {
      const ConfCursor begin = cursor_;
      const std::string_view name = cursor_.skim_prototype();
      deferred = DeferredPrototype{name, cursor_.since(begin)};
    }
    cursor_.next_item();
    return deferred;
  }

  /// Of the last item.
  const std::optional<Problem>& problem() const { return problem_; }

private:
  /// Editors that put a byte order mark in front of UTF-8 don't show it.
  static std::string_view without_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    return text.substr(0, kMark.size()) == kMark ? text.substr(kMark.size()) : text;
  }

  std::optional<Prototype> item() {
    if (definition()) return std::nullopt;
    return prototype();
  }

  /// False where the item is neither a typedef nor an import.
  bool definition() {
    if (cursor_.accept_word("typedef")) return type_definition(), true;
    if (current_ && cursor_.accept_word("import")) return import(), true;
    return false;
  }

  void import() {
    cursor_.peek();
    const ConfCursor begin = cursor_;
    const auto name = cursor_.quoted();
    if (!name || name->empty()) return fail("a name in quotation marks expected behind import");
    if (++imports_ > kMostImports) return fail_at(begin, "too many imports");
    if (!context_.import) return fail_at(begin, "nothing can be imported here");
    const auto imported = context_.import(*name);
    if (!imported) return fail_at(begin, imported.error().message());
    context_.scope.import(**imported);
  }

  void type_definition() {
    cursor_.peek();
    const ConfCursor begin = cursor_;
    const std::string_view name = cursor_.word();
    if (name.empty()) return fail("a name expected behind typedef");
    KnownType* const old = context_.scope.find_own(name);
    const bool is_declared = old != nullptr && old->type->is_declared_only;
    if ((old != nullptr && !is_declared) || TypeBuilder::plain(name, current_) != nullptr)
      return fail_at(begin, "`" + std::string(name) + "` is defined already");
    if (!expect('=')) return;
    cursor_.peek();
    const ConfCursor definition = cursor_;
    if (cursor_.accept_word("struct") && cursor_.peek() != '(') {
      if (!expect_end()) return;
      if (!is_declared) context_.scope.define(name, types_.declared_struct());
      return;
    }
    cursor_.back_to(definition);
    const auto type = lens(0);
    if (!type || !expect_end()) return;
    if (!is_declared) return context_.scope.define(name, *type);
    // A new look: the lens may have moved what `old` points to.
    const auto defined = types_.define(*context_.scope.find_own(name), *type);
    if (!defined) fail_at(definition, defined.error().message());
  }

  std::optional<Prototype> prototype() {
    if (current_) cursor_.accept_word("function");
    Prototype prototype;
    const auto result = lens(0);
    if (!result) return std::nullopt;
    const auto decayed = decay(*result);
    if (!decayed) return std::nullopt;
    prototype.result = decayed->type;
    cursor_.peek();
    prototype.name = cursor_.word();
    if (prototype.name.empty()) {
      fail("the name of a function expected");
      return std::nullopt;
    }
    if (!expect('(')) return std::nullopt;
    TypeFacts facts = result->facts;
    if (!parameters(prototype, facts)) return std::nullopt;
    if (facts.argument > prototype.parameters.size())
      return fail("arg" + std::to_string(facts.argument) + ": there is no such parameter"),
             std::nullopt;
    if (facts.element > 0)
      return fail("elt" + std::to_string(facts.element) + ": there is no struct around it"),
             std::nullopt;
    if (facts.result && prototype.result->kind == TypeKind::Void)
      return fail("retval: the function returns nothing"), std::nullopt;
    if (current_ && !are_lengths_integers(prototype, facts)) return std::nullopt;
    if (prototype.parameters.size() > 0 && prototype.parameters.back().type->lens == Lens::VaFormat)
      return fail("vaformat: there is no parameter behind it"), std::nullopt;
    return prototype; // whatever follows the `)` is ignored, as ltrace does
  }

  bool are_lengths_integers(const Prototype& prototype, const TypeFacts& facts) {
    for (std::size_t at = 0; at < prototype.parameters.size(); ++at)
      if (facts.arguments[at + 1] && !is_integer(*prototype.parameters[at].type))
        return fail("arg" + std::to_string(at + 1) + ": a length must be an integer"), false;
    if (facts.result && !is_integer(*prototype.result))
      return fail("retval: a length must be an integer"), false;
    if (prototype.result->kind == TypeKind::Signed) return true;
    const bool asks =
        std::any_of(prototype.parameters.begin(), prototype.parameters.end(),
                    [](const Parameter& one) { return one.when == Parameter::When::IfPositive; });
    if (asks) return fail("`+?`: the function must return a signed integer"), false;
    return true;
  }

  bool parameters(Prototype& prototype, TypeFacts& facts) {
    if (cursor_.accept(')')) return true;
    do {
      Parameter added;
      if (current_ && !condition(prototype, added)) return false;
      const bool out = cursor_.accept('+');
      if (out && current_) {
        if (cursor_.accept('?'))
          added.when = Parameter::When::IfPositive;
        else if (cursor_.accept('!'))
          added.when = Parameter::When::Always;
      }
      cursor_.peek();
      const ConfCursor begin = cursor_;
      auto parameter = lens(0);
      if (!parameter) return false;
      if (parameter->type->kind == TypeKind::Void) {
        if (prototype.parameters.empty() && !out && cursor_.accept(')')) return true; // f(void)
        if (current_) return fail_at(begin, "void is no type of a parameter"), false;
        parameter = apply(*TypeBuilder::plain("int", false), Lens::Hide); // as ltrace says it does
      }
      parameter = decay(*parameter);
      if (!parameter) return false;
      if (prototype.parameters.size() == kMostParameters)
        return fail_at(begin, "too many parameters"), false;
      facts.argument = std::max(facts.argument, parameter->facts.argument);
      facts.element = std::max(facts.element, parameter->facts.element);
      facts.arguments |= parameter->facts.arguments;
      facts.result |= parameter->facts.result;
      added.type = parameter->type;
      added.out = out;
      prototype.parameters.push_back(std::move(added));
    } while (cursor_.accept(','));
    if (cursor_.accept(')')) return true;
    return fail("`,` or `)` expected"), false;
  }

  /// `unless[argN](NAME, NUMBER, ...)`, if it is there.
  bool condition(const Prototype& prototype, Parameter& parameter) {
    cursor_.peek();
    const ConfCursor begin = cursor_;
    if (!cursor_.accept_word("unless")) return true;
    if (cursor_.peek() != '[') return cursor_.back_to(begin), true; // a type of that name
    if (!expect('[')) return false;
    cursor_.peek();
    const ConfCursor argument = cursor_;
    const auto term = length_term();
    if (!term) return false;
    if (term->source != Length::Source::Argument || term->number > prototype.parameters.size())
      return fail_at(argument, "argN expected, an earlier parameter"), false;
    const Type& type = *prototype.parameters[term->number - 1].type;
    if (!is_integer(type))
      return fail_at(argument, "arg" + std::to_string(term->number) + ": an integer expected"),
             false;
    if (!expect(']') || !expect('(')) return false;
    do {
      const auto value = value_of(type);
      if (!value) return false;
      if (parameter.absent_for.size() == kMostNames) return fail("too many values"), false;
      parameter.absent_for.push_back(*value);
    } while (cursor_.accept(','));
    if (!cursor_.accept(')')) return fail("`,` or `)` expected"), false;
    parameter.depends_on = static_cast<std::uint8_t>(term->number);
    return true;
  }

  /// One of the names that a type has, or a number.
  std::optional<std::int64_t> value_of(const Type& type) {
    if (const auto number = cursor_.number()) return number;
    const ConfCursor begin = cursor_;
    const std::string_view name = cursor_.word();
    if (name.empty()) return fail("a name or a number expected"), std::nullopt;
    if (type.names != nullptr)
      for (const auto& [known, value] : *type.names)
        if (known == name) return value;
    return fail_at(begin, "`" + std::string(name) + "` is no name of a value of that parameter"),
           std::nullopt;
  }

  /// An array that is a parameter or a result is a pointer to it, as in C.
  Parsed decay(const KnownType& type) {
    if (type.type->kind != TypeKind::Array) return type;
    auto pointer = types_.pointer_to(type);
    if (!pointer) return failed(pointer.error().message());
    pointer->type->lens = type.type->lens == Lens::BitVector ? Lens::Plain : type.type->lens;
    return *pointer;
  }

  Parsed lens(int nesting) {
    cursor_.peek();
    const ConfCursor begin = cursor_;
    if (nesting > kMostLenses) return failed("lenses nested too deep");
    Parsed type = lens_without_stars(nesting);
    if (!type) return std::nullopt;
    while (cursor_.accept('*')) {
      const auto pointer = types_.pointer_to(*type);
      if (!pointer) return failed(pointer.error().message());
      type = *pointer;
    }
    if (type->type->is_declared_only) return failed_at(begin, "the struct is not defined yet");
    return type;
  }

  Parsed lens_without_stars(int nesting) {
    const ConfCursor begin = cursor_;
    const std::string_view name = cursor_.word();
    if (name.empty()) return failed("a type expected");
    if (const auto applied = lens_of(name); applied && cursor_.peek() == '(')
      return applied_lens(*applied, nesting);
    if (name == "struct") return structure(nesting);
    if (name == "array") return array(nesting);
    if (name == "enum") return names(Lens::Enumeration, nesting);
    if (current_ && name == "flags") return names(Lens::Flags, nesting);
    if (cursor_.peek() == '[') {
      if (name == "string") return counted_text(Lens::Text, false);
      if (current_ && name == "bytes") return counted_text(Lens::Bytes, false);
      if (current_ && name == "path") return counted_text(Lens::Path, false);
      if (current_ && name == "wstring") return counted_text(Lens::Text, true);
    }
    if (const auto* const own = context_.scope.find(name)) return *own;
    if (const auto* const plain = TypeBuilder::plain(name, current_)) return *plain;
    if (const auto numbered = numbered_text(name)) return numbered;
    if (problem_) return std::nullopt;
    return failed_at(begin, "unknown type `" + std::string(name) + "`");
  }

  std::optional<Lens> lens_of(std::string_view name) const {
    if (name == "hex") return Lens::Hex;
    if (name == "oct") return Lens::Octal;
    if (name == "bool") return Lens::Bool;
    if (name == "hide") return Lens::Hide;
    if (name == "bitvec") return Lens::BitVector;
    if (name == "guess") return Lens::Guess;
    if (name == "string") return Lens::Text;
    if (current_ && name == "path") return Lens::Path;
    if (current_ && name == "bytes") return Lens::Bytes;
    return std::nullopt;
  }

  /// `(TYPE)`.
  Parsed applied_lens(Lens applied, int nesting) {
    if (!expect('(')) return std::nullopt;
    const auto inner = lens(nesting + 1);
    if (!inner || !expect(')')) return std::nullopt;
    return apply(*inner, applied);
  }

  Parsed apply(const KnownType& type, Lens applied) {
    const bool is_text = applied == Lens::Text || applied == Lens::Path || applied == Lens::Bytes;
    return taken(is_text ? types_.with_text_lens(type, applied) : types_.with_lens(type, applied));
  }

  /// `(LENS, ...)`.
  Parsed structure(int nesting) {
    if (!expect('(')) return std::nullopt;
    std::vector<KnownType> fields;
    if (!cursor_.accept(')')) {
      do {
        const auto field = lens(nesting + 1);
        if (!field) return std::nullopt;
        if (fields.size() == kMostFields) return failed("too many elements");
        fields.push_back(*field);
      } while (cursor_.accept(','));
      if (!cursor_.accept(')')) return failed("`,` or `)` expected");
    }
    return taken(types_.struct_of(fields));
  }

  /// `(LENS, LENGTH)`.
  Parsed array(int nesting) {
    if (!expect('(')) return std::nullopt;
    const auto element = lens(nesting + 1);
    if (!element || !expect(',')) return std::nullopt;
    const auto length = expression(nesting);
    if (!length || !expect(')')) return std::nullopt;
    return taken(types_.array_of(*element, *length));
  }

  /// `[LENGTH]`.
  Parsed counted_text(Lens lens, bool wide) {
    if (!expect('[')) return std::nullopt;
    auto length = expression(0);
    if (!length || !expect(']')) return std::nullopt;
    length->until_zero |= lens != Lens::Bytes;
    return taken(types_.text(lens, wide, *length));
  }

  /// stringN, ltrace's old way to write string[argN]; string0 is string[retval].
  Parsed numbered_text(std::string_view name) {
    if (name.substr(0, 6) != "string") return std::nullopt;
    const auto n = small_number(name.substr(6));
    if (!n || *n > kMostParameters) return std::nullopt;
    const Length length = {*n == 0 ? Length::Source::Result : Length::Source::Argument, *n, true};
    return taken(types_.text(Lens::Text, false, length));
  }

  /// `[TYPE](NAME[=VALUE], ...)`, or, as an enumeration of ints, without the first part.
  Parsed names(Lens applied, int nesting) {
    KnownType type = *TypeBuilder::plain(applied == Lens::Flags ? "uint" : "int", false);
    if (cursor_.accept('[')) {
      const auto given = lens(nesting + 1);
      if (!given || !expect(']')) return std::nullopt;
      type = *given;
    }
    if (!expect('(')) return std::nullopt;
    NameTable table;
    std::int64_t value = 0;
    do {
      cursor_.peek();
      std::string name(cursor_.word());
      if (name.empty()) return failed("a name expected");
      if (cursor_.accept('=')) {
        const auto given = cursor_.number();
        if (!given) return failed("a number expected");
        value = *given;
      } else if (applied == Lens::Flags) {
        return failed("`=` and the flag's value expected");
      } else if (!table.empty()) {
        if (value == std::numeric_limits<std::int64_t>::max()) return failed("value too large");
        ++value;
      }
      if (table.size() == kMostNames) return failed("too many names");
      table.emplace_back(std::move(name), value);
    } while (cursor_.accept(','));
    if (!cursor_.accept(')')) return failed("`,` or `)` expected");
    return taken(types_.with_names(type, applied, std::move(table)));
  }

  /// TERM, zero, zero(LENGTH), min(TERM, TERM), TERM*TERM.
  std::optional<Length> expression(int nesting) {
    if (nesting > kMostLenses) return fail("expressions nested too deep"), std::nullopt;
    cursor_.peek();
    const ConfCursor begin = cursor_;
    if (cursor_.accept_word("zero")) {
      Length length{Length::Source::Unlimited, 0, true};
      if (!cursor_.accept('(')) return length;
      const auto most = expression(nesting + 1);
      if (!most || !expect(')')) return std::nullopt;
      length = *most;
      length.until_zero = true;
      return length;
    }
    if (current_ && cursor_.accept_word("min")) {
      if (!expect('(')) return std::nullopt;
      const auto first = length_term();
      if (!first || !expect(',')) return std::nullopt;
      const auto second = length_term();
      if (!second || !expect(')')) return std::nullopt;
      return combined(*first, Length::Combine::Least, *second, begin);
    }
    const auto first = length_term();
    if (!first || !current_ || !cursor_.accept('*')) return first;
    const auto second = length_term();
    if (!second) return std::nullopt;
    return combined(*first, Length::Combine::Product, *second, begin);
  }

  std::optional<Length> combined(Length first, Length::Combine combine, Length second,
                                 const ConfCursor& begin) {
    using Source = Length::Source;
    if (first.source == Source::Element || second.source == Source::Element)
      return fail_at(begin, "eltN can't be combined with another length"), std::nullopt;
    // So that what has a constant source is of constant size.
    if (first.source == Source::Constant) std::swap(first, second);
    if (first.source == Source::Constant) {
      const std::uint64_t value = combine == Length::Combine::Least
                                      ? std::min(first.number, second.number)
                                      : std::uint64_t{first.number} * second.number;
      if (value > kMostElements)
        return fail_at(begin, "a length of 0 to 1000000 expected"), std::nullopt;
      first.number = static_cast<std::uint32_t>(value);
      return first;
    }
    first.combine = combine;
    first.second_source = second.source;
    first.second_number = second.number;
    return first;
  }

  /// N, argN, retval, eltN.
  std::optional<Length> length_term() {
    cursor_.peek();
    const ConfCursor begin = cursor_;
    if (const auto number = cursor_.number()) {
      if (*number >= 0 && *number <= kMostElements)
        return Length{Length::Source::Constant, static_cast<std::uint32_t>(*number), false};
      return fail_at(begin, "a length of 0 to 1000000 expected"), std::nullopt;
    }
    const std::string_view word = cursor_.word();
    if (word == "retval" || word == "arg0") return Length{Length::Source::Result, 0, false};
    const auto n = small_number(word.size() > 3 ? word.substr(3) : std::string_view());
    if (n && *n > 0 && word.substr(0, 3) == "arg")
      return Length{Length::Source::Argument, *n, false};
    if (n && *n > 0 && word.substr(0, 3) == "elt")
      return Length{Length::Source::Element, *n, false};
    fail_at(begin, "a length expected: a number, argN, retval, eltN or zero");
    return std::nullopt;
  }

  static std::optional<std::uint32_t> small_number(std::string_view digits) {
    std::uint16_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
  }

  /// Behind a typedef.
  bool expect_end() {
    if (!current_ || cursor_.peek() == '\0' || cursor_.at_comment()) return true;
    return expect(';');
  }

  bool expect(char c) {
    if (cursor_.accept(c)) return true;
    fail(std::string("`") + c + "` expected");
    return false;
  }

  Parsed taken(const Result<KnownType>& built) {
    if (built) return *built;
    return failed(built.error().message());
  }

  void fail(std::string what) { fail_at(cursor_, std::move(what)); }
  void fail_at(const ConfCursor& where, std::string what) {
    if (!problem_) problem_ = Problem{where.place(), std::move(what)};
  }
  std::nullopt_t failed(std::string what) { return failed_at(cursor_, std::move(what)); }
  std::nullopt_t failed_at(const ConfCursor& where, std::string what) {
    fail_at(where, std::move(what));
    return std::nullopt;
  }

  const ConfContext& context_;
  const bool current_; ///< dialect
  ConfCursor cursor_;
  TypeBuilder types_;
  std::size_t imports_ = 0;
  std::optional<Problem> problem_;
};

/// Collects what is told of a text.
class ErrorList {
public:
  explicit ErrorList(std::string_view file) : file_(file) {}

  void add(const std::optional<Problem>& problem) {
    if (!problem || ++count_ > kMostErrors) return;
    errors_.push_back(file_ + ":" + std::to_string(problem->place.line) + ":" +
                      std::to_string(problem->place.column) + ": error: " + problem->what);
  }

  std::vector<std::string> take() {
    if (count_ > kMostErrors)
      errors_.push_back(file_ + ": " + std::to_string(count_ - kMostErrors) + " more errors");
    return std::move(errors_);
  }

private:
  const std::string file_;
  std::size_t count_ = 0;
  std::vector<std::string> errors_;
};

} // namespace

ParsedConf parse_conf(std::string_view text, std::string_view file, const ConfContext& context) {
  ParsedConf parsed;
  ConfParser parser(text, context);
  ErrorList errors(file);
  while (!parser.at_end()) {
    if (auto prototype = parser.next()) parsed.prototypes.push_back(std::move(*prototype));
    errors.add(parser.problem());
  }
  parsed.errors = errors.take();
  return parsed;
}

IndexedConf index_conf(std::string_view text, std::string_view file, const ConfContext& context) {
  IndexedConf indexed;
  ConfParser parser(text, context);
  ErrorList errors(file);
  while (!parser.at_end()) {
    if (const auto deferred = parser.next_deferred()) indexed.prototypes.push_back(*deferred);
    errors.add(parser.problem());
  }
  indexed.errors = errors.take();
  return indexed;
}

} // namespace sonictrace::proto
