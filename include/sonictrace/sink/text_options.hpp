#pragma once

#include <cstdint>

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
  bool closing_lines = true;     ///< the +++ lines at the end; off with --quiet and --ltrace
  std::uint64_t min_time_ns = 0; ///< --min-time: leave out shorter calls
  unsigned max_depth = 0;        ///< --max-depth: leave out deeper calls; 0: no limit

  bool operator==(const TextOptions&) const = default;
};

} // namespace sonictrace
