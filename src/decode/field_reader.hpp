#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// One captured value: the word, and the text behind it where it was followed.
struct CapturedField {
  std::uint64_t word = 0;
  wire::FieldState state = wire::FieldState::Whole;
  std::string_view text;
};

/// Goes through what run_capture wrote. Trusts nothing in it.
class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> captured) : rest_(captured) {}

  /// The next field; none at the end, and none from the first malformed one on.
  std::optional<CapturedField> next() {
    wire::FieldHeader header;
    if (rest_.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, rest_.data(), sizeof header);
    CapturedField field;
    if (header.size < sizeof field.word || header.size > rest_.size() - sizeof header) {
      rest_ = {};
      return std::nullopt;
    }
    const auto content = rest_.subspan(sizeof header, header.size);
    std::memcpy(&field.word, content.data(), sizeof field.word);
    field.state = header.state;
    field.text = std::string_view(reinterpret_cast<const char*>(content.data()), content.size())
                     .substr(sizeof field.word);
    rest_ = rest_.subspan(sizeof header + header.size);
    return field;
  }

private:
  std::span<const std::byte> rest_;
};

} // namespace sonictrace
