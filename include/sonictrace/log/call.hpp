#pragma once

#include <cstdint>
#include <string_view>

#include "sonictrace/log/function_table.hpp"
#include "sonictrace/log/line.hpp"

namespace sonictrace::log {

/// One call, put together from its lines. The texts are valid during the callback only.
struct Call {
  enum class End : std::uint8_t {
    Returned,
    Unwound,    ///< by an exception or a longjmp
    NoReturn,   ///< its thread or its program ended, or the log
    Unfinished, ///< begun, and nothing more said of it
  };

  FunctionId function = 0;
  std::uint32_t tid = kNoTid;
  End end = End::Returned;
  std::uint16_t depth = 0;    ///< calls that were open around it, as far as the lines before tell:
                              ///< 0 for all in a log of whole lines without -n
  std::uint32_t children = 0; ///< completed calls of its thread right inside it: the last so many
                              ///< reported of this thread that are inside no other reported one
  std::uint64_t line = 0;     ///< number of the line that ended it, from 1

  /// Nanoseconds since the midnight before the day of the log's first line (-t, -tt), so that a
  /// call which was entered on the day before has a time too; since 1970 (-ttt); since the first
  /// line
  /// (-r); kNoTime without one.
  std::uint64_t entry_ns = kNoTime;
  std::uint64_t duration_ns = kNoDuration; ///< of -T; kNoDuration without
  std::uint64_t self_ns = kNoDuration;     ///< less that of the calls inside it
  /// Less that of calls of the same function inside it: what adds up to the time that passed in it.
  std::uint64_t outermost_ns = kNoDuration;

  std::string_view caller; ///< of CALLER->NAME, else empty
  std::string_view text;   ///< the line that ended it
  Line parts;              ///< that line taken apart
  std::string_view
      split_arguments; ///< of a call with two lines, with ReaderOptions::keep_arguments

  bool has_duration() const { return duration_ns != kNoDuration; }
  std::uint64_t end_ns() const { return entry_ns + (has_duration() ? duration_ns : 0); }

  /// As they are written. Taken out of the line at each call: not free. Of a call with two lines
  /// only those on the second, unless ReaderOptions::keep_arguments is set.
  std::string_view arguments() const;
  /// Empty where there is none.
  std::string_view result() const;
};

/// A line that is no call.
struct Event {
  LineKind kind = LineKind::Remark; ///< Signal, Exec, Exited, Remark, Closing
  std::uint32_t tid = kNoTid;
  std::uint64_t time_ns = kNoTime; ///< as Call::entry_ns
  std::uint64_t line = 0;
  std::string_view text; ///< without the marks: `exited (status 0)`
};

/// Who is told of what a log says, in the order of the log.
class CallVisitor {
public:
  virtual ~CallVisitor() = default;
  virtual void on_call(const Call& call) = 0;
  /// A call begins that ends on a later line (split lines only).
  virtual void on_begin(const Call& /*call*/) {}
  virtual void on_event(const Event& /*event*/) {}
  /// A frame of the backtrace (-w) of the call that was told last: `libc.so.6(puts+0x1) [0x7f..]`.
  virtual void on_frame(std::string_view /*frame*/) {}
};

/// The arguments one by one: splits at the commas outside of strings and brackets.
class ArgumentSplitter {
public:
  explicit ArgumentSplitter(std::string_view arguments) : rest_(arguments) {}
  /// False when there is no other.
  bool next(std::string_view& argument);

private:
  std::string_view rest_;
};

} // namespace sonictrace::log
