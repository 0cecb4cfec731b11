#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

enum class RecordKind : std::uint8_t {
  Enter = 1,   ///< a call begins; captured arguments follow
  Return = 2,  ///< it returned; captured results follow (the result word first)
  Unwound = 3, ///< it was left by an exception or a longjmp; nothing follows
  Frames = 4,  ///< where it was made, directly behind its Enter: ids of 4 bytes of FrameDefinitions,
               ///< innermost first; `detail` is their number
};

constexpr std::size_t kRecordAlignment = 8;

/// Leads each record. Little-endian, 8-byte aligned; `size` is a multiple of 8. The bytes that
/// round it up are zero: a FieldHeader of size 0, which no field has.
struct RecordHeader {
  std::uint32_t size; ///< bytes, this header included
  RecordKind kind;
  std::uint8_t reserved;
  std::uint16_t depth; ///< of the call among the open calls of its thread; outermost 1, saturating
  std::uint32_t function; ///< FunctionId, defined before its first use
  std::uint32_t thread;   ///< tid
  std::uint64_t call;     ///< pairs Enter with Return or Unwound; unique in a session
  std::uint64_t time_ns;  ///< CLOCK_REALTIME
  std::uint64_t detail;   ///< Enter: the return address. Return, Unwound: duration in ns
};
static_assert(sizeof(RecordHeader) == 48 - 8);
static_assert(sizeof(RecordHeader) % kRecordAlignment == 0);

/// The least record size that holds `payload` bytes behind the header.
constexpr std::size_t record_size(std::size_t payload) {
  return (sizeof(RecordHeader) + payload + kRecordAlignment - 1) & ~(kRecordAlignment - 1);
}

} // namespace sonictrace::wire
