#include "session/interrupts.hpp"

#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <iterator>

namespace sonictrace {
namespace {

// A signal handler can be given no object; these two words are all that it touches.
std::atomic<std::uint64_t> noted_signals{0}; ///< bit N-1: signal N
std::atomic<bool> noted_tick{false};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

constexpr suseconds_t kTick = 100'000; ///< microseconds

/// The first one after `first` microseconds, then every kTick.
void tick_after(suseconds_t first) {
  const itimerval when = {{0, kTick}, {0, first}};
  ::setitimer(ITIMER_REAL, &when, nullptr);
}

void note(int signal) {
  if (signal == SIGALRM) {
    noted_tick = true;
    return;
  }
  noted_signals |= std::uint64_t{1} << (signal - 1);
  // It may have come just before the tracer waits, which it would not interrupt.
  constexpr suseconds_t kSoon = 1000;
  const int error = errno;
  tick_after(kSoon);
  errno = error;
}

constexpr int kWatched[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2,
                            SIGXCPU, SIGALRM, SIGPIPE, SIGXFSZ, SIGCHLD};
static_assert(std::size(kWatched) == InterruptWatch::kSignals);

} // namespace

InterruptWatch::InterruptWatch() {
  for (std::size_t i = 0; i < std::size(kWatched); ++i) {
    struct sigaction action = {};
    action.sa_handler = note;
    // Errors of write(2) instead.
    if (kWatched[i] == SIGPIPE || kWatched[i] == SIGXFSZ) action.sa_handler = SIG_IGN;
    // Inherited as ignored, it would have the kernel reap a command that runs on untraced, and its
    // exit status with it (wait(2)).
    if (kWatched[i] == SIGCHLD) action.sa_handler = SIG_DFL;
    sigemptyset(&action.sa_mask);
    old_[i].signal = kWatched[i];
    ::sigaction(kWatched[i], &action, &old_[i].action);
    // nohup's way of saying that a hang-up must not end it.
    if (kWatched[i] == SIGHUP && old_[i].action.sa_handler == SIG_IGN)
      ::sigaction(SIGHUP, &old_[i].action, nullptr);
  }
  tick_after(kTick);
}

InterruptWatch::~InterruptWatch() {
  const itimerval never = {{0, 0}, {0, 0}};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  for (const auto& old : old_)
    ::sigaction(old.signal, &old.action, nullptr);
}

Interrupts InterruptWatch::take() {
  Interrupts seen;
  seen.tick = noted_tick.exchange(false);
  seen.signals = noted_signals.exchange(0);
  return seen;
}

std::vector<int> Interrupts::terminating() const {
  std::vector<int> all;
  // Whatever else would end us with the breakpoints in place.
  for (const int signal : kWatched)
    if (signal != SIGINT && signal != SIGQUIT && has(signal)) all.push_back(signal);
  return all;
}

} // namespace sonictrace
