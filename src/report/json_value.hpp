#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace::report {

/// A value of JSON (RFC 8259), read back from a file of our own.
class JsonValue {
public:
  /// Fails with `where: what`. At most 32 values deep.
  static Result<JsonValue> parse(std::string_view text);

  /// Of an object: the first member of that name; else, and where there is none, null.
  const JsonValue& operator[](std::string_view name) const;
  /// Of an array; else empty.
  const std::vector<JsonValue>& items() const { return items_; }
  /// Of an object; else empty.
  std::vector<std::pair<std::string, const JsonValue*>> members() const;

  bool is_null() const { return kind_ == Kind::Null; }
  std::optional<std::string> string() const;
  /// A number without sign, fraction and exponent.
  std::optional<std::uint64_t> whole() const;
  std::optional<double> number() const;
  std::optional<bool> boolean() const;

private:
  enum class Kind : std::uint8_t { Null, True, False, Number, String, Array, Object };
  class Parser;

  Kind kind_ = Kind::Null;
  std::string text_;               ///< of a string, unescaped; of a number, as it is written
  std::vector<std::string> names_; ///< of an object's members, which are items_
  std::vector<JsonValue> items_;
};

} // namespace sonictrace::report
