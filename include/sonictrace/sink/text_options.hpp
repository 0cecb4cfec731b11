#pragma once

#include <cstdint>
#include <string>

#include "sonictrace/names/demangle.hpp"

namespace sonictrace {

/// What stands before each line: nothing, -t, -tt, -ttt, -r.
enum class TimeStamp { None, Seconds, Microseconds, Epoch, Relative };

/// One line a call, written at its return; or ltrace's form, with `<unfinished ...>`.
enum class LineForm { Whole, Split };

/// How the text log looks. The options are those of docs/man/sonictrace.1.
struct TextOptions {
  TimeStamp time = TimeStamp::None;
  bool nanoseconds = false;         ///< --ns: nine digits instead of six
  bool durations = false;           ///< -T
  bool instruction_pointer = false; ///< -i
  unsigned align = 50;              ///< -a: column of `=`, counted from 1
  unsigned indent = 0;              ///< -n: blanks for each level of nesting
  unsigned string_limit = 32;       ///< -s: most characters of a string
  bool whole_paths = true;          ///< file names are not cut; off where -s is given
  LineForm form = LineForm::Split;
  bool pid_prefix = false;        ///< the thread id in front of every line
  bool brackets = true;           ///< that prefix is `[pid N] `, else `N `
  bool thread_after_time = false; ///< no -f: other threads' lines carry it behind the time
  bool signals = true;            ///< off with -b
  bool show_caller = false;       ///< `CALLER->` before the name
  DemangleStyle demangle = DemangleStyle::Short;
  bool ltrace = false;           ///< --ltrace: its form in every corner
  std::string banner;            ///< a remark for the first line of the log; empty: none
  bool closing_lines = true;     ///< the +++ lines at the end; off with --quiet and --ltrace
  std::uint64_t min_time_ns = 0; ///< --min-time: leave out shorter calls
  unsigned max_depth = 0;        ///< --max-depth: leave out deeper calls; 0: no limit
  std::uint64_t sample = 1;      ///< --sample: write every Nth call of each function
  /// --thin-after: from this size of the log on (bytes in the file), calls of a function beyond its
  /// first 10,000 that took less than 100 us are counted instead of written. 0: never.
  std::uint64_t thin_after = std::uint64_t{1} << 30;

  bool operator==(const TextOptions&) const = default;
};

} // namespace sonictrace
