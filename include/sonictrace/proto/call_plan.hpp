#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sonictrace/proto/prototype.hpp"
#include "sonictrace/wire/capture.hpp"

namespace sonictrace::proto {

/// How the field that a capture step wrote is shown.
enum class Look : std::uint8_t {
  Signed,
  Unsigned,
  Guess,
  Hex,
  Octal,
  Bool,
  BitVector,
  Enumeration,
  Flags,
  Character,
  WideCharacter,
  Float, ///< of `size` 4, 8, or 16 (a long double)
  HexFloat,
  Pointer,     ///< a value that is an address; or a pointer whose body shows what it points to
  ZeroPointer, ///< the same, but a null is `0` where ltrace's ways are kept
  Text,
  TextOrAddress, ///< Text, where it is printable; else the address
  WideText,
  Path,
  Bytes,
  Array,
  Struct,
  Arguments, ///< what a format asks for
  Elided,    ///< `...`: nested deeper than asked for; nothing was captured
  List,      ///< of a Sequence: its elements
  Optional,  ///< of a Sequence: its only element, or that there is none
  Inner,     ///< of a Struct: its fields without braces
  Matrix,    ///< CV_8UC3 640x480
  Readings,  ///< of a Choice: the arguments of the call
  // Of arguments that a format asks for.
  FormatSigned, ///< ltrace shows %hhd as a character
  FormatUnsigned,
  FormatHexFloat, ///< ltrace shows %a as %f
  Binary,         ///< %b
};

/// One for each capture step, at the same index. Together they are all that a renderer needs.
struct RenderStep {
  Look look = Look::Signed;
  std::uint8_t size = 8;                  ///< bytes of a value, of a character
  std::shared_ptr<const NameTable> names; ///< of Enumeration and Flags
};

/// The steps of a parameter or of the result.
struct PlannedValue {
  enum class Shown : std::uint8_t { Value, Void, Hidden };
  Shown shown = Shown::Value;
  bool out = false; ///< shown by its steps at the return; by those at the entry if it never returns
  std::uint16_t entry_begin = 0, entry_steps = 0;
  std::uint16_t return_begin = 0, return_steps = 0;
  /// Of a parameter: it is not there where the one at index `depends_on` - 1 of the plan's
  /// parameters has one of these values. 0: always there.
  std::uint8_t depends_on = 0;
  std::vector<std::int64_t> absent_for = {};
};

/// What is known of how a function's calls are to be read. The right reading is among those that
/// are possible for each call, so that what is ruled out once is ruled out for good.
struct KnownReadings {
  std::uint32_t in_memory = 0;            ///< a bit for each reading whose result is in memory
  std::atomic<std::uint32_t> possible{0}; ///< a bit for each that no call has ruled out
};

/// Which bytes to copy of one call, for wire::run_capture, and how to show them.
struct CallPlan {
  std::vector<wire::CaptureOp> at_entry;
  std::vector<wire::CaptureOp> at_return; ///< the result's steps come first
  std::vector<RenderStep> entry_looks;    ///< as many as at_entry
  std::vector<RenderStep> return_looks;   ///< as many as at_return
  std::vector<PlannedValue> parameters;
  PlannedValue result;
  bool guessed = false;                    ///< from no prototype
  bool has_conditions = false;             ///< some parameter depends on another one
  std::shared_ptr<KnownReadings> readings; ///< where there is a Choice

  // What the engine must have at hand.
  bool vectors_at_entry = false;     ///< xmm0-7 hold arguments (of a printf only if al says so)
  bool has_format = false;           ///< printf: vectors count only where al is not 0 (psABI 3.5.7)
  bool vectors_at_return = false;    ///< xmm0, xmm1
  bool x87_at_return = false;        ///< st0
  bool keeps_words = false;          ///< at_return looks at the words of the entry
  std::uint8_t kept_stack_words = 0; ///< of those, stack words of 8 bytes
  std::uint32_t entry_room = 0;      ///< bytes that at_entry can fill at most
  std::uint32_t return_room = 0;
};

enum class CallingConvention : std::uint8_t {
  SystemV64, ///< psABI for x86-64
  SystemV32, ///< psABI for i386
  Syscall64, ///< rdi rsi rdx r10 r8 r9, which the engine puts where the C registers are
};

struct PlanOptions {
  std::uint32_t string_limit = 32; ///< -s: characters of a string to copy at most
  std::uint32_t array_limit = 4;   ///< -A: elements of an array; levels of one struct in itself
  CallingConvention convention = CallingConvention::SystemV64;
};

/// Paths are copied whole, up to PATH_MAX.
CallPlan compile(const Prototype& prototype, const PlanOptions& options);

/// The plan that captures nothing and shows nothing: for counting.
std::shared_ptr<const CallPlan> empty_plan();

/// The plan that reads nothing of what was captured by another one: `...` for all of it.
std::shared_ptr<const CallPlan> unreadable_plan();

} // namespace sonictrace::proto
