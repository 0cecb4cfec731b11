#pragma once

#include <optional>

#include "sonictrace/probe/selector.hpp"
#include "sonictrace/session/session_options.hpp"

namespace sonictrace {

/// The part of a program's run that is recorded: --start-on, --stop-on.
struct Window {
  std::optional<SelectorSet> start_on; ///< calls that it begins with; none: the program's start
  std::optional<SelectorSet> stop_on;  ///< calls that it ends with
  bool has_begun = true;

  static Result<Window> of(const SessionOptions& options);
};

} // namespace sonictrace
