#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

/// Stops and exits that were reaped and wait for their answer.
using StopQueue = std::deque<StoppedTracee::Outcome>;

/// Brings threads to a stop, and holds them there. At its end their stops stand in front of the
/// queue, to be answered like all others.
class Gathering {
public:
  struct Work {
    StopQueue& queue;
    std::function<std::vector<pid_t>()> threads; ///< that are to be quiet, as of now
    /// Deals with a stop that a thread can't be held in. It may change which threads there are.
    std::function<void(StoppedTracee::Outcome)> answer;
  };

  explicit Gathering(Work work) : work_(std::move(work)) {}
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// Returns when none of the threads can run an instruction of the program any more, with true; or
  /// with false after a few seconds, when one still could. Threads that can't be stopped where they
  /// are (in a vfork(2) whose child goes on) run nothing either, but are not held.
  bool gather();

  /// One of those that are held, in a stop that allows remote calls.
  std::optional<StoppedTracee> take();
  void give(StoppedTracee tracee);

private:
  void ask(const std::vector<pid_t>& threads);
  void sort_queue(const std::unordered_set<pid_t>& wanted);
  bool take_new(const std::unordered_set<pid_t>& wanted);
  void see(StoppedTracee::Outcome outcome, const std::unordered_set<pid_t>& wanted);
  bool is_quiet(pid_t tid, bool has_waited) const;

  Work work_;
  std::unordered_map<pid_t, StoppedTracee> held_;
  std::unordered_set<pid_t> asked_;
};

} // namespace sonictrace
