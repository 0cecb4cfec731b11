#include "sonictrace/process/signal_state.hpp"

namespace sonictrace {

SignalState SignalState::capture() {
  SignalState state;
  ::sigprocmask(SIG_SETMASK, nullptr, &state.mask_);
  state.actions_.resize(static_cast<std::size_t>(NSIG));
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, nullptr, &state.actions_[static_cast<std::size_t>(signal)]);
  return state;
}

void SignalState::restore() const {
  // The C library refuses its own two real-time signals with EINVAL; nobody else set them either.
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, &actions_[static_cast<std::size_t>(signal)], nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

} // namespace sonictrace
