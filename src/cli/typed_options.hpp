#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonictrace {

/// What was typed, each value still as text: an error is to quote it, and the texts of --ltrace
/// differ from ours.
struct TypedOptions {
  std::vector<std::string> calls;
  std::vector<std::string> libraries;
  std::vector<std::string> entries;
  std::vector<std::string> attach;
  std::vector<std::string> conf_files, debug_directories;
  std::optional<std::string> align, indent, string_limit, array_limit, frames, debug, match;
  std::optional<std::string> interval, sample, thin_after, output_format;
  std::optional<std::string> min_time, max_depth, duration, max_calls, max_log_size, start_on,
      stop_on;
  std::optional<std::string> engine, user, output;
  std::string demangle;  ///< "true": without a value
  std::int64_t time = 0; ///< how many t
  bool no_default = false, follow = false, relative = false, durations = false;
  bool instruction_pointer = false, no_signals = false, nanoseconds = false, caller = false;
  bool split_lines = false, whole_lines = false, quiet = false, explain = false, ltrace = false;
  bool system_calls = false, count = false, percentiles = false, doctor = false, list_prototypes = false;
  bool python = false, no_cache = false, no_debug_info = false, help = false, version = false;

  /// Adds every option of sonictrace to `app`, which then fills this.
  void add_to(CLI::App& app);
};

} // namespace sonictrace
