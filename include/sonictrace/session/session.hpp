#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/signal_state.hpp"
#include "sonictrace/proto/prototype_library.hpp"
#include "sonictrace/session/session_options.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// How a session ended, for the exit status of the program.
struct SessionEnd {
  /// Of the launched command; nothing where there was none, or it was left alive.
  std::optional<int> exit_status;
  std::optional<int> killed_by; ///< the signal
  SessionSummary summary;
  std::vector<std::string> notes; ///< to be told to the user, a line each
  /// We were told to end, and so was the command, if there was one: nobody is to wait for long.
  bool in_haste = false;
};

/// What could not be begun.
struct StartFailure {
  Error error;
  int exit_status; ///< 127 not found, 126 not executable, else 1
  LaunchFault fault = LaunchFault::Other;
  int reason = 0;        ///< of the fault: errno, or 0
  std::string path = {}; ///< of the command, where it was found
};

/// A process that could not be attached to while others are traced (only with --ltrace).
struct RefusedAttach {
  pid_t pid;
  int reason; ///< errno
};

/// One run of the tracer: launches or attaches, traces until the end, leaves everything healthy.
class Session {
public:
  /// `signals`: the state that this process was started with, given to a launched command.
  static std::variant<std::unique_ptr<Session>, StartFailure>
  start(const SessionOptions& options, const SignalState& signals, Sink& sink,
        proto::PrototypeLibrary prototypes);
  ~Session();

  SessionEnd run();
  const std::vector<RefusedAttach>& refused() const { return refused_; }

private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  static bool is_told_to_end(Parts& parts);
  std::unique_ptr<Parts> parts_;
  std::vector<RefusedAttach> refused_;
};

} // namespace sonictrace
