#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/base/result.hpp"
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
};

/// What could not be begun.
struct StartFailure {
  Error error;
  int exit_status; ///< 127 not found, 126 not executable, else 1
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

private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace sonictrace
