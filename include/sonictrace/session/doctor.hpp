#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace sonictrace {

/// What was found of one thing that tracing depends on.
struct DoctorCheck {
  enum class Verdict {
    Fine,
    Bad,     ///< forbids tracing
    Unclear, ///< may stand in the way, or takes something away
  };

  Verdict verdict = Verdict::Fine;
  std::string subject; ///< "Yama"
  std::string finding; ///< one line
  std::string remedy;  ///< of a Bad one: the thing to change
};

/// Why tracing works here, or does not.
struct DoctorReport {
  std::vector<DoctorCheck> checks; ///< in the order in which they were made

  bool can_trace() const;
  /// The one thing to change, or that there is none.
  std::string conclusion() const;
  /// A line a check, then the conclusion.
  std::string text() const;
};

/// Looks whether a command of one's own can be traced here, or with `pid` whether that process can
/// be. Traces a child of its own for a moment; the process is seized and let go at once, without a
/// stop.
DoctorReport diagnose(std::optional<pid_t> pid);

} // namespace sonictrace
