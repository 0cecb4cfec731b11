#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonictrace/base/debug_log.hpp"
#include "sonictrace/debuginfo/debug_info.hpp"
#include "sonictrace/engine/make_engine.hpp"
#include "sonictrace/probe/selector.hpp"

namespace sonictrace {

/// What to trace, how, and when to stop: all that the live wing needs to know.
struct SessionOptions {
  enum class Engine { Auto, Inline, Breakpoint };

  std::vector<std::string> command; ///< program and arguments; may be empty with `attach`
  std::vector<pid_t> attach;        ///< -p
  bool follow_children = false;     ///< -f
  std::string user;                 ///< -u: run the command as this user; empty: as we are
  SelectorOptions selectors;
  Engine engine = Engine::Auto;
  unsigned string_limit = 32; ///< -s: most bytes of a string to capture
  unsigned array_limit = 4;   ///< -A: most elements of an array
  RecordingOptions recording;
  bool captures_values = true;         ///< off where calls are only counted (-c)
  std::vector<std::string> conf_files; ///< -F
  DebugInfoOptions debug_info;         ///< prototypes from the modules themselves
  bool system_calls = false;           ///< -S
  bool library_calls = true;           ///< off with -L and nothing selected
  unsigned frames = 0;                 ///< -w: most frames of each call's backtrace
  bool python = false;                 ///< --python: the Python function of each call
  DebugLog debug;                      ///< -D
  std::string cache_directory;         ///< keeps what was found out about files; empty: nowhere
  std::string start_on; ///< --start-on: record from the first such call on; empty: from the start
  std::string stop_on;  ///< --stop-on: stop tracing when such a call has returned; empty: none
  std::optional<std::chrono::nanoseconds> duration; ///< --duration: stop tracing after it
  std::optional<std::uint64_t> max_calls;           ///< --max-calls
  std::optional<std::uint64_t> max_log_size;        ///< --max-log-size, bytes
  bool ltrace = false;                              ///< --ltrace
};

} // namespace sonictrace
