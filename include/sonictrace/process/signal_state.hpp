#pragma once

#include <csignal>
#include <vector>

namespace sonictrace {

/// The signal mask and dispositions of this process, to be given back to a child before its exec:
/// dispositions of "ignore" and the mask are inherited through exec (signal(7)).
class SignalState {
public:
  static SignalState capture();
  /// Async-signal-safe: for use between fork and exec.
  void restore() const;

private:
  sigset_t mask_;
  std::vector<struct sigaction> actions_; ///< index: signal number
};

} // namespace sonictrace
