#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "sonictrace/wire/capture.hpp"

namespace sonictrace {

/// The low bytes of a number, of which at most eight are looked at.
inline std::uint64_t number_in(const std::byte* bytes, std::size_t size) {
  std::uint64_t number = 0;
  // Copies of a constant size are single instructions.
  if (size >= sizeof number)
    std::memcpy(&number, bytes, sizeof number);
  else if (size == 4)
    std::memcpy(&number, bytes, 4);
  else
    std::memcpy(&number, bytes, size);
  return number;
}

/// One captured field: see wire::FieldHeader.
struct CapturedField {
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  const std::byte* bytes = nullptr;
  std::uint16_t size = 0;
  wire::FieldState state = wire::FieldState::Whole;
  std::uint8_t tag = 0;

  std::uint64_t number() const { return number_in(bytes, size); }
  /// A pointer leads it.
  bool has_word() const { return size >= kWord; }
  /// What is behind the pointer.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes) + kWord, size - kWord};
  }
};

/// Goes through what run_capture wrote. Trusts nothing in it.
class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> captured)
      : at_(captured.data()), end_(captured.data() + captured.size()) {}

  /// The next field. False at the end, and from the first malformed one on.
  bool next(CapturedField& field) {
    wire::FieldHeader header;
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < sizeof header) return end();
    std::memcpy(&header, at_, sizeof header);
    // A size of 0: the zeros that fill up a record.
    if (header.size == 0 || header.size > left - sizeof header) return end();
    field = {at_ + sizeof header, header.size, header.state, header.tag};
    at_ += sizeof header + header.size;
    return true;
  }

  /// Of the next field.
  const std::byte* position() const { return at_; }

  /// Nothing follows but a malformed field, or zeros.
  bool at_end() const {
    FieldReader copy = *this;
    CapturedField field;
    return !copy.next(field);
  }

private:
  bool end() {
    at_ = end_;
    return false;
  }

  const std::byte* at_;
  const std::byte* end_;
};

} // namespace sonictrace
