#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sonictrace/stream/record_reader.hpp"

namespace sonictrace {

/// How a call ended, as a record of any kind tells it.
struct EndOfCall {
  enum class How : std::uint8_t {
    Open, ///< it has not
    Returned,
    Unwound,
    Unknown, ///< nobody saw when, and with what
  };

  How how = How::Open;
  std::uint64_t duration_ns = 0;    ///< 0 where it is not known
  std::span<const std::byte> leave; ///< what was captured at the return

  bool has_duration() const { return how == How::Returned || how == How::Unwound; }
  /// Where the values of a return are; none where there was no return.
  std::optional<std::span<const std::byte>> returned() const {
    if (how != How::Returned) return std::nullopt;
    return leave;
  }
};

/// What a Return or an Unwound tells.
inline EndOfCall call_end(const RecordView& record) {
  const bool returned = record.header.kind == wire::RecordKind::Return;
  return {returned ? EndOfCall::How::Returned : EndOfCall::How::Unwound, record.header.detail,
          record.payload};
}

/// What a Call tells, whose fields are these.
inline EndOfCall call_end(const wire::RecordHeader& call, const CallFields& fields) {
  if ((call.flags & wire::kCallUnwound) != 0) return {EndOfCall::How::Unwound, call.detail, {}};
  if ((call.flags & wire::kCallResultUnknown) != 0) return {EndOfCall::How::Unknown, 0, {}};
  return {EndOfCall::How::Returned, call.detail, fields.leave};
}

} // namespace sonictrace
