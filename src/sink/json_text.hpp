#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "sonictrace/decode/json.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// The version of the objects that docs/JSON.md describes. A new member does not change it.
constexpr unsigned kJsonVersion = 1;

/// The members of one JSON object, in the order in which they are added.
class JsonObject {
public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  void text(std::string_view name, std::string_view value) {
    key(name);
    json_string(out_, value);
  }
  /// null where the text is empty.
  void text_or_null(std::string_view name, std::string_view value) {
    if (!value.empty()) return text(name, value);
    key(name);
    out_ += "null";
  }
  void number(std::string_view name, std::uint64_t value);
  void signed_number(std::string_view name, std::int64_t value);
  void boolean(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  /// The value is to be appended to the text.
  std::string& value(std::string_view name) {
    key(name);
    return out_;
  }
  /// Members that were made before: `"name":1,"other":2`, in any number but none.
  void append(std::string_view members) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_ += members;
  }
  void end() { out_ += '}'; }

private:
  void key(std::string_view name);

  std::string& out_;
  bool is_first_ = true;
};

/// What a session says at its end: the members from `calls` on, in both kinds of summaries.
void append_json_summary(JsonObject& object, const SessionSummary& summary,
                         std::uint64_t damaged_batches);

/// Times as RFC 3339 has them, in UTC: `2026-11-30T03:26:58.757446123Z`.
class JsonTime {
public:
  /// The members `time` and `time_ns`.
  void append(JsonObject& object, std::uint64_t time_ns);

private:
  std::uint64_t cached_second_ = ~std::uint64_t{0};
  char text_[20] = {}; ///< `YYYY-MM-DDTHH:MM:SS.`
};

} // namespace sonictrace
