#pragma once

// Freestanding, as everything in wire/: the tracer and the agent both compile it.

#include <cstddef>
#include <cstdint>

namespace sonictrace::wire {

// One ring for each traced thread, in memory that the process and the tracer share. The thread
// writes records at `head`, which counts bytes and never wraps; the tracer reads them up to `tail`.
// A position's place in the ring is `position % kRingSize`; the last record of a lap may run over
// into the kRingSpill bytes behind the ring, so that every record is in one piece.
//
// The thread takes a place by moving `head`, writes the record, and its `commit` word last. A
// signal handler may take places in between, on the same thread, and commit them first.

constexpr std::size_t kRingSize = std::size_t{1} << 20;
/// The largest record; also how far a record may run over the ring's end.
constexpr std::size_t kRingSpill = std::size_t{1} << 18;
constexpr std::size_t kRingStride = kRingSize + kRingSpill;
constexpr std::size_t kRingAlignment = 8;

enum class RingKind : std::uint8_t {
  Call = 1,    ///< a whole call, written at its end
  Enter = 2,   ///< a call begins
  Return = 3,  ///< of a call that an Enter told of
  Unwound = 4, ///< the same: it was left by an exception or a longjmp
  Thread =
      5,   ///< the records that follow are of thread `call` (a tid); nothing else is set but time
  Pad = 6, ///< nothing
  PythonCode =
      7, ///< a PythonCodeHead and what it says; comes before the first record that needs it
};

/// Flags of a ring record, and of an OpenCall.
constexpr std::uint8_t kRingUnwound = 1;       ///< of a Call
constexpr std::uint8_t kRingResultUnknown = 2; ///< of a Call: no result, no duration
/// The entry's part holds words (rdi rsi rdx rcx r8 r9, then xmm0-7's low halves), as the capture
/// plans number them, and not fields.
constexpr std::uint8_t kRingEntryWords = 4;
/// The return's part holds words (rax rdx xmm0 xmm1), not fields.
constexpr std::uint8_t kRingResultWords = 8;
/// Of a Return, Unwound: the call was begun by the thread that this process was forked from.
constexpr std::uint8_t kRingInherited = 16;
/// Of a Call: it was reached by a jump out of another traced function, and ended with that.
constexpr std::uint8_t kRingTail = 32;

/// Of a Call, an Enter: behind the captured bytes, and before the stack, a RingPython.
constexpr std::uint8_t kRingPython = 64;

/// Leads each record. Times are ticks of the agent's clock.
struct RingRecord {
  /// Stored last. Bits 0-31: sequence_of(position); bits 32-39: RingKind; bits 40-63: bytes of the
  /// record / 8, this header included.
  std::uint64_t commit;
  std::uint64_t time;  ///< Enter: when it began; else: when it ended. In a ring never falls by more
                       ///< than a signal handler's run
  std::uint64_t begin; ///< of a Call
  std::uint64_t ticks; ///< Call, Return, Unwound: the duration, without our own cost
  std::uint64_t where; ///< Call, Enter: the return address
  std::uint32_t function;
  std::uint32_t call; ///< Enter, Return, Unwound: counted up in the ring; pairs them
  std::uint16_t depth;
  std::uint8_t flags;
  /// With kRingEntryWords, kRingResultWords: which of the words that Site::probed_words has lead to
  /// a byte that can be read.
  std::uint8_t readable_words;
  std::uint32_t entry_size;  ///< bytes behind this header, captured at the entry
  std::uint32_t result_size; ///< bytes behind those (rounded up to 8), captured at the return
  std::uint32_t stack_size;  ///< Enter, Call: bytes behind those (likewise): a RingStack, and words
};
static_assert(sizeof(RingRecord) == 64);

/// The stack that a call was made on, and the registers that callees keep. Behind it, what lay on
/// the stack above the return address: as much as was asked for, or as could be read. In a signal
/// handler on a stack of its own (sigaltstack(2)) the interrupted stack follows. Return thunks are
/// replaced by what they stand for.
struct RingStack {
  std::uint64_t slot; ///< address of the return address
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
  std::uint64_t interrupted; ///< address of the first word of the interrupted stack
  std::uint64_t words;       ///< before those
};
static_assert(sizeof(RingStack) == 72);

/// Where in a Python function a call was made.
struct RingPython {
  std::uint64_t key;   ///< of the PythonCodeHead that tells of the function
  std::int64_t offset; ///< of the instruction, in bytes; negative: before the first
};
static_assert(sizeof(RingPython) == 16);

constexpr std::uint32_t sequence_of(std::uint64_t position) {
  return static_cast<std::uint32_t>(position / kRingAlignment) + 1;
}
constexpr std::uint64_t commit_word(std::uint64_t position, RingKind kind, std::size_t size) {
  return sequence_of(position) | std::uint64_t{static_cast<std::uint8_t>(kind)} << 32 |
         std::uint64_t{size / kRingAlignment} << 40;
}

enum RingState : std::uint32_t {
  kRingFree = 0,
  kRingInUse = 1,
  kRingEnded = 2, ///< set by the tracer: its thread is gone; free once all of it was read
};

/// The first line belongs to the thread, the second to the tracer.
struct RingHeader {
  std::uint64_t head;
  std::uint32_t state; ///< RingState; taken by the agent by compare-and-swap
  std::uint32_t tid;
  std::uint32_t incarnation; ///< counted up when a thread takes the ring
  std::uint32_t first_pool;  ///< of the chain of its pools
  std::uint64_t owner;       ///< the thread's %fs:0
  std::uint64_t lost;        ///< calls that were made and not recorded
  std::uint64_t short_calls; ///< left out as AgentControl::min_ticks says
  std::uint64_t deep_calls;  ///< left out as AgentControl::max_depth says
  std::uint64_t reserved;

  std::uint64_t tail;
  std::uint32_t is_waiting; ///< futex(2): the thread waits for `tail` to move
  std::uint32_t reserved2[13];
};
static_assert(sizeof(RingHeader) == 128 && offsetof(RingHeader, tail) == 64);

} // namespace sonictrace::wire
