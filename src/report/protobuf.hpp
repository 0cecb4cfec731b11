#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonictrace::report {

/// Writes a message in the wire format of Protocol Buffers
/// (https://protobuf.dev/programming-guides/encoding/).
class ProtobufWriter {
public:
  ProtobufWriter& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  /// A string, or a message that is written already.
  ProtobufWriter& bytes(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    out_ += value;
    return *this;
  }
  ProtobufWriter& message(std::uint32_t field, const ProtobufWriter& value) {
    return bytes(field, value.out_);
  }

  const std::string& text() const { return out_; }
  void clear() { out_.clear(); }

private:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

} // namespace sonictrace::report
