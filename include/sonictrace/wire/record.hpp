#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

enum class RecordKind : std::uint8_t {
  Enter = 1,   ///< a call begins; captured arguments follow
  Return = 2,  ///< it returned; captured results follow (the result word first)
  Unwound = 3, ///< it was left by an exception or a longjmp; nothing follows
  Frames = 4, ///< where it was made, directly behind its Enter, or before its Call (kFramesOfNext):
              ///< ids of 4 bytes of FrameDefinitions, innermost first; `detail` is their number
  Call = 5,   ///< a whole call, made known at its end; a CallPayload follows
  Counts = 6, ///< calls that no record of their own tells of; a CountsPayload follows
};

/// Of a Frames: of the Call that is the next record.
constexpr std::uint8_t kFramesOfNext = 1;
/// Of a Call: it was left by an exception or a longjmp, and has no result.
constexpr std::uint8_t kCallUnwound = 1;
/// Of a Call: it has returned, or will, but nobody sees with what and when: functions that return
/// twice or look at who called them. `detail` is 0.
constexpr std::uint8_t kCallResultUnknown = 2;

/// Leads what follows the header of a Call: `entry_size` bytes of fields that were captured at the
/// entry, then those captured at the return up to the record's end. Of a Call the header's
/// `time_ns` is when it began, `call` its return address (nothing is paired with it), `detail` its
/// duration. Calls come in the order of their ends.
struct CallPayload {
  std::uint32_t entry_size;
};
static_assert(sizeof(CallPayload) == 4);

/// Follows the header of a Counts, whose `function` and `thread` they are of: for -c, and of calls
/// that were too frequent and too short to be written (thinning). Behind it, `buckets` times a
/// CountedBucket. What it says comes on top of what earlier ones said.
struct CountsPayload {
  std::uint64_t calls;
  std::uint64_t sum_ns;
  std::uint64_t least_ns;
  std::uint64_t most_ns;
  std::uint64_t buckets;
};
/// So many durations that fall into one bucket of the histogram: see wire/histogram.hpp.
struct CountedBucket {
  std::uint32_t bucket;
  std::uint32_t calls;
};
static_assert(sizeof(CountsPayload) == 40 && sizeof(CountedBucket) == 8);

constexpr std::size_t kRecordAlignment = 8;

/// Leads each record. Little-endian, 8-byte aligned; `size` is a multiple of 8. The bytes that
/// round it up are zero: a FieldHeader of size 0, which no field has.
struct RecordHeader {
  std::uint32_t size; ///< bytes, this header included
  RecordKind kind;
  std::uint8_t flags;  ///< of a Call or a Frames, else 0
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
