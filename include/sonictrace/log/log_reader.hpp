#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/log/call.hpp"
#include "sonictrace/log/function_table.hpp"

namespace sonictrace::log {

class ModuleMap;

struct ReaderOptions {
  unsigned jobs = 1; ///< threads that take lines apart; the visitor is called in one
  /// Put the arguments of calls of two lines together (Call::arguments).
  bool keep_arguments = false;
  /// What modules functions are in, where the log does not say it; null: nothing is known.
  std::shared_ptr<const ModuleMap> modules = nullptr;
};

/// The cores that this process may use, at most 8: what ReaderOptions::jobs is best set to.
unsigned usable_cores();

/// A line that could not be used.
struct SkippedLine {
  std::uint64_t number = 0; ///< from 1
  std::string text;         ///< its first bytes, what is not printable as `?`

  bool operator==(const SkippedLine&) const = default;
};

/// What became of the lines of a log.
/// Invariant: lines == calls + skipped + unmatched + markers.
struct Accounting {
  std::uint64_t bytes = 0; ///< unpacked
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;     ///< lines that end a call, or say that it does not return
  std::uint64_t skipped = 0;   ///< lines that are nothing of the grammar
  std::uint64_t unmatched = 0; ///< `resumed` without a beginning
  std::uint64_t markers = 0;   ///< beginnings, events, remarks, frames, blank lines

  std::uint64_t unfinished = 0; ///< calls whose end was never seen
  std::uint64_t no_return = 0;  ///< calls that did not return
  std::uint64_t unwound = 0;    ///< calls left by an exception or a longjmp
  std::uint64_t split = 0;      ///< calls of two lines

  std::uint64_t timed_lines = 0; ///< that end in `<t>`
  std::uint64_t timed_calls = 0; ///< of those, that were used

  std::uint64_t thinned_calls = 0; ///< counted by remarks, not in the log
  std::uint64_t thinned_ns = 0;
  std::vector<SkippedLine> first_skipped; ///< the first three

  std::uint64_t threads = 0;
  std::uint64_t first_ns = kNoTime; ///< the earliest time
  std::uint64_t last_ns = kNoTime;  ///< the latest end
  Clock clock = Clock::None;
  std::uint8_t fraction_digits = 0; ///< of the times at the beginnings of lines

  bool is_cut = false;           ///< a packed log without its end
  bool is_closed = false;        ///< with the closing line of sonictrace
  std::uint64_t lost = 0;        ///< calls, by the closing line
  std::uint64_t own_cost_ns = 0; ///< a call, by the closing line
  bool functions_overflowed = false;

  bool adds_up() const { return lines == calls + skipped + unmatched + markers; }
  std::uint64_t span_ns() const {
    return first_ns == kNoTime || last_ns == kNoTime ? 0 : last_ns - first_ns;
  }
  /// Of the lines that end in a time, the part that was used: 1 where there are none.
  double coverage() const {
    return timed_lines == 0 ? 1.0
                            : static_cast<double>(timed_calls) / static_cast<double>(timed_lines);
  }
};

/// Reads a log from its beginning to its end, in bounded memory.
class LogReader {
public:
  /// Fails with one line that says what to do about it. `-` is stdin.
  static Result<LogReader> open(const std::string& path, const ReaderOptions& options);

  LogReader(LogReader&& other) noexcept;
  LogReader& operator=(LogReader&& other) noexcept;
  ~LogReader();

  /// Tells the visitor all of it. May be called once. Fails where the rest of the log can't be
  /// read; what stands before was told.
  Result<void> pump(CallVisitor& visitor);

  const std::string& name() const;
  /// Modules are known for sure only when all was read.
  const FunctionTable& functions() const;
  const Accounting& accounting() const;

private:
  class Reading;
  explicit LogReader(std::unique_ptr<Reading> reading);
  std::unique_ptr<Reading> reading_;
};

} // namespace sonictrace::log
