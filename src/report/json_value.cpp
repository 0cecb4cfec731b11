#include "report/json_value.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sonictrace/base/check.hpp"

namespace sonictrace::report {
namespace {

constexpr int kDeepest = 32;

void append_utf8(std::string& text, std::uint32_t point) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | (point >> shift & 0x3fU));
  };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0U | point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

} // namespace

class JsonValue::Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> run() {
    JsonValue value;
    if (!parse_value(value, 0)) return failure();
    skip_blanks();
    if (at_ != text_.size()) {
      why_ = "more behind the end";
      return failure();
    }
    return value;
  }

private:
  Error failure() const { return Error::saying(fmt::format("byte {}: {}", at_, why_)); }
  bool fail(const char* why) {
    why_ = why;
    return false;
  }
  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return fail("not a value");
    at_ += word.size();
    return true;
  }

  bool parse_value(JsonValue& value, int depth) {
    if (depth > kDeepest) return fail("too deep");
    skip_blanks();
    if (at_ >= text_.size()) return fail("ends in the middle");
    switch (text_[at_]) {
      case '{': return parse_object(value, depth);
      case '[': return parse_array(value, depth);
      case '"': value.kind_ = Kind::String; return parse_string(value.text_);
      case 't': value.kind_ = Kind::True; return take_word("true");
      case 'f': value.kind_ = Kind::False; return take_word("false");
      case 'n': return take_word("null");
      default: return parse_number(value);
    }
  }

  bool parse_object(JsonValue& value, int depth) {
    value.kind_ = Kind::Object;
    ++at_;
    if (take('}')) return true;
    do {
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '"') return fail("not a name");
      if (!parse_string(value.names_.emplace_back())) return false;
      if (!take(':')) return fail("no colon");
      if (!parse_value(value.items_.emplace_back(), depth + 1)) return false;
    } while (take(','));
    return take('}') || fail("no end of an object");
  }

  bool parse_array(JsonValue& value, int depth) {
    value.kind_ = Kind::Array;
    ++at_;
    if (take(']')) return true;
    do {
      if (!parse_value(value.items_.emplace_back(), depth + 1)) return false;
    } while (take(','));
    return take(']') || fail("no end of an array");
  }

  bool parse_number(JsonValue& value) {
    value.kind_ = Kind::Number;
    const auto end = text_.find_first_not_of("+-.0123456789eE", at_);
    value.text_ = text_.substr(at_, end - at_);
    double checked = 0;
    const char* const last = value.text_.data() + value.text_.size();
    const auto [rest, error] = std::from_chars(value.text_.data(), last, checked);
    if (error != std::errc{} || rest != last) return fail("not a value");
    at_ += value.text_.size();
    return true;
  }

  bool parse_string(std::string& into) {
    SONICTRACE_CHECK(text_[at_] == '"', "a string begins with a quote");
    for (++at_; at_ < text_.size();) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        into += c;
        continue;
      }
      if (at_ >= text_.size()) break;
      static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
      const char letter = text_[at_++];
      if (const auto found = kLetters.find(letter); found != std::string_view::npos) {
        into += kMeant[found];
        continue;
      }
      if (letter != 'u' || !parse_escaped(into)) return fail("not an escape");
    }
    return fail("no end of a string");
  }

  bool parse_escaped(std::string& into) {
    std::uint32_t point = 0;
    if (!parse_hex(point)) return false;
    if (point >= 0xd800 && point < 0xdc00) { // the first of a pair of surrogates
      std::uint32_t second = 0;
      if (!text_.substr(at_).starts_with("\\u")) return false;
      at_ += 2;
      if (!parse_hex(second) || second < 0xdc00 || second > 0xdfff) return false;
      point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
    }
    append_utf8(into, point);
    return true;
  }

  bool parse_hex(std::uint32_t& value) {
    if (text_.size() - at_ < 4) return false;
    const char* const begin = text_.data() + at_;
    const auto [rest, error] = std::from_chars(begin, begin + 4, value, 16);
    at_ += 4;
    return error == std::errc{} && rest == begin + 4;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* why_ = "";
};

Result<JsonValue> JsonValue::parse(std::string_view text) { return Parser(text).run(); }

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue kNull;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return items_[i];
  return kNull;
}

std::vector<std::pair<std::string, const JsonValue*>> JsonValue::members() const {
  std::vector<std::pair<std::string, const JsonValue*>> all;
  for (std::size_t i = 0; i < names_.size(); ++i)
    all.emplace_back(names_[i], &items_[i]);
  return all;
}

std::optional<std::string> JsonValue::string() const {
  if (kind_ != Kind::String) return std::nullopt;
  return text_;
}

std::optional<std::uint64_t> JsonValue::whole() const {
  if (kind_ != Kind::Number) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text_.data() + text_.size();
  const auto [rest, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::optional<double> JsonValue::number() const {
  if (kind_ != Kind::Number) return std::nullopt;
  double value = 0;
  std::from_chars(text_.data(), text_.data() + text_.size(), value);
  return value;
}

std::optional<bool> JsonValue::boolean() const {
  if (kind_ == Kind::True) return true;
  if (kind_ == Kind::False) return false;
  return std::nullopt;
}

} // namespace sonictrace::report
