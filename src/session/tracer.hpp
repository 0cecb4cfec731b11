#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/gathering.hpp"
#include "session/interrupts.hpp"
#include "session/space_modules.hpp"
#include "session/tracee_table.hpp"
#include "sonictrace/process/core_follower.hpp"
#include "sonictrace/process/signal_state.hpp"
#include "sonictrace/session/session_options.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// Owns all ptrace state of a session and answers every stop: calls go to the engine, the rest
/// (signals, children, exec, exits) is dealt with here. One thread uses it.
class Tracer {
public:
  Tracer(const SessionOptions& options, ProbeContext& context, Sink& sink);

  /// Begins to trace a command that was launched and has just run exec.
  void add_launched(pid_t pid);
  /// Attaches to a running process. Fails with an explanation, with nothing left behind.
  Result<void> add_attached(pid_t pid);

  /// Until the last tracee is gone, or tracing is over. Returns why it ended early, or nothing.
  std::string run(InterruptWatch& interrupts);

  /// Stops tracing and waits until every thread has been let go.
  void leave_now();
  /// Why no call was seen, as far as can be told.
  std::string why_nothing() const;

  pid_t command() const { return command_; } ///< 0: none was launched
  /// How the launched command ended, if it has.
  std::optional<Stop> command_end() const { return command_end_; }

  /// A call of `function` went to `target`: corrects which module implements it.
  /// Returns which function they are of from now on.
  FunctionId see_binding(const AddressSpace& space, FunctionId function, TraceeAddress target);

  /// Takes all probes out and lets every thread go, whatever state it is in. The last resort, for a
  /// tracer that is about to die of its own fault.
  void abandon();

private:
  // The loop.
  bool collect();
  void answer_queue();
  void dispatch(StoppedTracee::Outcome outcome);
  void handle_stop(StoppedTracee tracee, TraceeThread& thread);
  void handle_mark(Marked marked, TraceeThread& thread);
  void handle_own_stop(StoppedTracee tracee, TraceeThread& thread);
  void deliver_signal(StoppedTracee tracee, TraceeThread& thread);
  void resume_interrupted(StoppedTracee tracee, TraceeThread& thread);
  void handle_interrupts(const Interrupts& seen);
  void check_limits();
  void check_size_limits();
  void follow_linkers();
  void put_in_rest(const AddressSpace& space);
  void while_stopped(const AddressSpace& space,
                     const std::function<void(LentTracee& lent, bool quiet)>& work);
  void begin_recording(StoppedTracee tracee);

  // Births, exec and deaths.
  void handle_event(StoppedTracee tracee, TraceeThread& thread);
  void handle_birth(const StoppedTracee& tracee, TraceeThread& parent);
  void add_thread(pid_t tid, std::optional<pid_t> parent,
                  const std::shared_ptr<TracedProcess>& process);
  void add_child(pid_t parent_tid, pid_t child, const std::shared_ptr<TracedProcess>& parent,
                 bool shares_memory);
  void handle_exec(StoppedTracee tracee, TraceeThread& thread);
  std::vector<pid_t> tids_in(const AddressSpace& space);
  bool is_only_thread(const TracedProcess& process);
  void handle_exit(const Exit& exit);
  void claim(pid_t tid);
  void adopt_unclaimed();
  void begin_program(const std::shared_ptr<TracedProcess>& process);
  bool wants_modules() const;
  void complain_of_library_calls(pid_t pid, const Error& why);
  bool is_to_begin(const TraceeThread& thread) const;
  void begin_quietly(StoppedTracee tracee, TraceeThread& thread);
  bool seize_unseen(const std::shared_ptr<TracedProcess>& process);

  // The end.
  void leave_all(std::string reason);
  bool gather_all(std::optional<Gathering>& quiet);
  void put_in_more(const std::shared_ptr<TracedProcess>& process);
  bool gather_process(const std::shared_ptr<TracedProcess>& process,
                      std::optional<Gathering>& quiet);
  static constexpr int kTrials = 20; ///< to stop threads outside of code that they soon leave
  /// The threads run meanwhile.
  static void pause_between(int trial);
  bool withdraw_all();
  void leave(StoppedTracee tracee, TraceeThread& thread);
  void let_orphans_go();
  void forget(pid_t tid);

  SpaceModules* modules_of(const AddressSpace& space);
  bool is_first(pid_t tid) const { return tid == first_pid_; }

  const SessionOptions& options_;
  ProbeContext& context_;
  Sink& sink_;
  TraceeTable tracees_;
  StopQueue queue_;
  CoreFollower core_;
  /// First stops of children that came before the event which tells whose they are.
  std::unordered_map<pid_t, StoppedTracee> unclaimed_;
  pid_t command_ = 0;   ///< the launched command's pid
  pid_t first_pid_ = 0; ///< the first thread of the session
  std::optional<Stop> command_end_;
  std::uint64_t begin_ns_ = 0; ///< CLOCK_MONOTONIC
  bool ending_ = false;        ///< about to leave, or leaving
  bool leaving_ = false;
  std::string reason_;
  std::uint64_t stops_since_look_ = 0;
  bool saw_static_program_ = false;
};

} // namespace sonictrace
