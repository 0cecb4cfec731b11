#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/session/session_options.hpp"
#include "sonictrace/sink/text_options.hpp"

namespace sonictrace {

/// All that the command line of sonictrace says.
struct TraceOptions {
  SessionOptions session;
  TextOptions text;
  std::string output;           ///< -o; empty: stderr
  bool explain = false;         ///< --explain: say what would be traced, run nothing
  bool no_cache = false;        ///< --no-cache: keep nothing for the next session
  bool doctor = false;          ///< --doctor: say what keeps from tracing, run nothing
  std::optional<pid_t> patient; ///< of --doctor
  bool list_prototypes = false; ///< --list-prototypes: print what is known, run nothing
  std::string listed_library;   ///< of --list-prototypes; empty: all
  std::string match;            ///< --match: attach to the process with such a command line
  bool json = false;            ///< --output-format=json
  bool count = false;           ///< -c: a table instead of a log
  bool percentiles = false;     ///< --percentiles
  std::optional<std::chrono::nanoseconds> interval; ///< --interval
  bool quiet = false;                               ///< --quiet: no status line, nothing at the end
  /// To be shown before tracing begins: filters that can't be used. Only with --ltrace.
  std::vector<std::string> warnings;
};

/// What to print instead of tracing: help, the version, or what is wrong with the options.
struct Reply {
  std::string text; ///< ends with a newline
  int exit_status = 0;

  bool is_error() const { return exit_status != 0; } ///< then it goes to stderr
};

/// What the width of the log depends on.
struct Terminal {
  const char* columns = nullptr; ///< the variable COLUMNS; null: not set
  unsigned width = 0;            ///< of the terminal on stdout, else stderr; 0: neither is one

  static Terminal of_this_process();
  /// The column of `=` when -a is not given.
  unsigned default_align() const;
};

/// `arguments` begins with the name the program was started under; under `ltrace` it behaves as
/// with --ltrace. Touches nothing outside: no file is opened and no user looked up.
std::variant<TraceOptions, Reply> parse_trace_options(std::span<const char* const> arguments,
                                                      const Terminal& terminal);

} // namespace sonictrace
