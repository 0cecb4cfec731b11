#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/base/address_range.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/probe/module_list.hpp"
#include "sonictrace/probe/planner.hpp"
#include "sonictrace/process/address_space.hpp"
#include "sonictrace/process/stopped_tracee.hpp"
#include "sonictrace/stream/definition.hpp"
#include "sonictrace/stream/sink.hpp"

namespace sonictrace {

/// A planned probe in one address space.
struct SiteProbe {
  ProbeKind kind = ProbeKind::Jump;
  TraceeAddress at;
  std::uint8_t size = 0; ///< bytes of the call instruction, of a Call
  FunctionId function = 0;
  TraceeAddress slot; ///< the GOT slot of a Jump or Call
  /// The module that `at` lies in; null where it is in none of the list.
  const ProbeModule* module = nullptr;
  /// Only calls that return into this range (of an Entry that stands for hoisted calls).
  std::optional<AddressRange> only_from;
};

/// A place that the session or the engine itself wants to see, without a line in the log.
enum class Mark : std::uint8_t {
  Linker,    ///< the dynamic linker changed its list of modules
  Start,     ///< the program's entry point
  Catch,     ///< an exception handler begins: calls below this frame were left
  LongJump,  ///< its first argument is the jump buffer
  Unwinding, ///< an exception was raised
  SetAction, ///< a signal's disposition is set: sigaction(2)
  SetMask,   ///< the signal mask is set: sigprocmask(2)
  Begin,     ///< a call that recording is to begin with; told once, and the mark is gone
  End,       ///< a call that recording ends with; told when it has returned
};

struct MarkSite {
  TraceeAddress at;
  Mark mark = Mark::Linker;
  /// Of Linker: the linker's `r_debug` (<link.h>), if it is known.
  std::optional<TraceeAddress> linker_state = std::nullopt;
  std::uint8_t call_size = 0; ///< of End, where a call instruction stands there: its bytes
};

/// What is new in an address space.
struct Installation {
  std::span<const SiteProbe> probes;
  std::span<const MarkSite> marks;
  /// Modules that came since the last one, also those without a probe.
  std::span<const ProbeModule* const> fresh;
  /// No thread of the process runs, or none can be in the modules that the probes are in.
  bool code_is_quiet = false;
  /// With code_is_quiet: threads may run, but none has been in the `fresh` modules yet. What is in
  /// others (SiteProbe::module) is not quiet.
  bool only_fresh_is_quiet = false;
};

/// What became of a stop that an engine was offered.
struct NotOurs {
  StoppedTracee tracee; ///< as it was, but its pc is never in a place that the program can't know
};
struct Marked {
  /// To be resumed without a signal. Past the place already, but of Begin: there it is before it,
  /// so that what is put in there now sees this call.
  StoppedTracee tracee;
  Mark mark;
};
struct Gone {
  Exit exit; ///< the tracee was killed while we dealt with it
};
struct Resumed {};
/// Whether a thread can be let go.
enum class Settled : std::uint8_t {
  Leave,              ///< with the signal of its stop, if that is one
  LeaveWithoutSignal, ///< its signal was a probe's
  NotYet,             ///< a probe hit is already on its way: resume it, and settle its next stop
};
using Handled = std::variant<Resumed, NotOurs, Marked, Gone>;

/// Records calls in tracees. One tracer thread uses it; every tracee that it is asked about is
/// stopped, the others may run.
class Engine {
public:
  virtual ~Engine() = default;

  /// Whether each `install` in a process that runs, and `remove`, want all its threads to be
  /// stopped. At an attach they are, whichever engine it is.
  virtual bool wants_quiet_threads() const { return false; }
  /// Finds out what `install` will want to know, so that it takes less time. Nothing is stopped,
  /// and nothing is put in.
  virtual void prepare(const Installation&) {}
  /// Before the first `install` in a process that runs, while all its threads are stopped; `tid`:
  /// one of them. True: threads are in code that an earlier session has left, and would be out of
  /// it if they ran for a moment.
  virtual bool is_in_left_code(const std::shared_ptr<AddressSpace>&, pid_t) { return false; }
  /// Puts probes and marks in; threads may run meanwhile unless it wants quiet ones. `stopped`: a
  /// stopped thread of the process, if there is one, which may be used for remote calls; empty
  /// behind it if the thread was killed (then `killed` says how). Returns one line for each probe
  /// that could not be put in.
  virtual std::vector<std::string> install(const std::shared_ptr<AddressSpace>& space,
                                           const Installation& what,
                                           std::optional<StoppedTracee>& stopped,
                                           std::optional<Exit>& killed) = 0;
  /// The same where threads run, of probes in the `fresh` modules only: puts all of it in if no
  /// thread can notice, and without a stop. False where that can't be done; then all of it is to be
  /// given to `install`.
  virtual bool install_unseen(const std::shared_ptr<AddressSpace>&, const Installation&) {
    return false;
  }
  /// At an attach: whether the probe may be put in behind others, when the process has run for a
  /// moment meanwhile, so that no stop of it is long.
  virtual bool may_wait(const SiteProbe&) const { return false; }
  /// Takes all marks of this kind out.
  virtual void remove_marks(const AddressSpace&, Mark) {}
  /// Code of the process that has run and never runs again, 32 bytes of it: for an engine that
  /// cannot map a page of its own (a seccomp filter).
  virtual void set_step_area(const std::shared_ptr<AddressSpace>& space, TraceeAddress area) = 0;
  /// The range was unmapped (dlclose): what was put in there is gone.
  virtual void module_gone(const AddressSpace& space, AddressRange range) = 0;

  /// A thread begins to be traced: of a new or attached process, or born of `parent`'s thread in
  /// the same process. Silent: no records, only kept from harm (a vfork child that is not
  /// followed).
  virtual void thread_started(pid_t tid, std::optional<pid_t> parent,
                              const std::shared_ptr<AddressSpace>& space, bool silent) = 0;
  virtual void thread_gone(pid_t tid) = 0;
  /// A child process was born of `parent`'s thread, with a copy of its memory or with the same
  /// `space`; its open calls go on in the child.
  virtual void child_born(pid_t parent, pid_t child, const std::shared_ptr<AddressSpace>& space,
                          bool silent) = 0;
  /// The thread runs a new program.
  virtual void program_replaced(pid_t tid, const std::shared_ptr<AddressSpace>& space) = 0;

  /// Records system calls too, of threads that are not silent. Their tracees are to be offered with
  /// `follow_system_calls` set.
  virtual void record_system_calls(bool ltrace_names) = 0;
  /// Of a stop that was given back, or that the thread is let go from, in or behind a system call
  /// which was interrupted: it has ended, or the tracer has it `begin_anew`, unseen by the program.
  virtual void settle_system_call(pid_t tid, bool begin_anew) = 0;

  /// Takes a stop, or gives it back.
  virtual Handled handle(StoppedTracee tracee) = 0;

  /// Before `remove`, while all threads are stopped: no call begins to be recorded any more. True:
  /// threads are in code of ours, and would be out of it if they ran for a moment.
  virtual bool withdraw(const AddressSpace&) { return false; }

  /// Takes everything out of the memory of `space`, and forgets it. Each thread must pass `settle`
  /// before it is let go. Unless `code_is_quiet` threads may run meanwhile: what can't be taken out
  /// under them stays, if the program can live with it.
  virtual void remove(const AddressSpace& space, bool code_is_quiet) = 0;
  /// After `remove`, for each thread before it is let go: moves it out of places that the program
  /// does not know.
  virtual Settled settle(StoppedTracee& tracee) = 0;

  /// Where a thread with this pc is in the program, after `remove`: for the last resort.
  virtual TraceeAddress place_in_program(pid_t tid, TraceeAddress pc) = 0;

  /// A thread is about to be told as ended (its Exit was seen), or its program as replaced: its
  /// open calls are to be told before that.
  virtual void thread_ends(pid_t) {}
  /// Processes in which a thread waits, without being stopped, until `install` has dealt with a
  /// list of modules that has changed; then `let_linker_go` is to be called. Empty most of the
  /// time.
  virtual std::vector<std::shared_ptr<AddressSpace>> waiting_in_linker() { return {}; }
  virtual void let_linker_go(const AddressSpace&) {}
  /// Of the thread that waits there: its registers in the linker, behind the call.
  virtual std::optional<Registers> linker_caller(const AddressSpace&) const { return std::nullopt; }
  /// At least twice a second.
  virtual void tick() {}
  /// Before the summary is made: everything recorded has been given to the sink when it returns.
  virtual void finish() {}
  /// "breakpoint", "inline", "inline, breakpoint"
  virtual std::string name() const = 0;
  /// Calls recorded and lost that no Recorder counts.
  virtual std::uint64_t calls() const { return 0; }
  virtual std::uint64_t lost() const { return 0; }
  /// Of `calls`: those that the options leave out, and of which no sink has heard.
  virtual LeftOutCalls left_out() const { return {}; }
  /// What could not be done since it was last asked for, a line each.
  virtual std::vector<std::string> take_complaints() { return {}; }

  /// What a recorded call costs the tracee, by what was measured so far; 0 before the first.
  virtual std::uint64_t cost_of_call_ns() const = 0;
};

} // namespace sonictrace
