#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/backtracer.hpp"
#include "engine/breakpoint/call_words.hpp"
#include "engine/breakpoint/traced_thread.hpp"
#include "engine/python_at_stops.hpp"
#include "sonictrace/arch/registers.hpp"
#include "sonictrace/engine/make_engine.hpp"
#include "sonictrace/engine/recorder.hpp"

namespace sonictrace {

/// Writes the records of calls that a stop shows: runs the capture plans, keeps the clocks.
class CallRecorder {
public:
  explicit CallRecorder(const EngineParts& parts);

  Recorder& recorder() { return recorder_; }
  /// Something was unmapped from the address space.
  void forget_code(const AddressSpace& space, AddressRange range);
  /// Modules have come.
  void learn_modules(const std::shared_ptr<AddressSpace>& space,
                     std::span<const ProbeModule* const> fresh);
  /// Nothing where Python functions are not wanted.
  PythonAtStops* python() { return python_ ? &*python_ : nullptr; }
  /// See Unwinder.
  void set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code);
  /// `child` has a copy of the memory of `parent`.
  void copy_code(const std::shared_ptr<AddressSpace>& parent,
                 const std::shared_ptr<AddressSpace>& child);

  /// Opens a call in `thread` and records its beginning. `seen_ns` is when the stop was seen.
  void enter(TracedThread& thread, OpenCall call, const Registers& registers,
             std::uint64_t seen_ns);
  /// Records the ends of calls that have returned (with the result in `registers` of the thread
  /// that is `stopped`), or were left.
  void leave(TracedThread& thread, const std::vector<EndedCall>& ended, const Registers& registers,
             std::uint64_t seen_ns, pid_t stopped);

  // The same, of one call whose words are at hand, which is not put among the thread's open ones.

  /// Gives `call` its id and depth, and records its beginning.
  void record_enter(TracedThread& thread, OpenCall& call, const EntryWords& words,
                    std::uint64_t seen_ns);
  using ResultWords = std::array<std::uint64_t, ReturnWords::kResults>;
  /// Where calls are made is recorded, too.
  bool shows_places() const { return backtracer_.has_value() || python_.has_value(); }
  /// Where the system call just recorded was made.
  void record_syscall_frames(TracedThread& thread, const OpenCall& call, const Registers& registers,
                             std::uint64_t seen_ns);
  /// `ended`: when it ended, by `thread`'s clocks.
  void record_syscall_return(TracedThread& thread, const OpenCall& call, const ResultWords& results,
                             const CallEnd& ended);

  /// The thread is about to be let go of a breakpoint's stop: starts the clocks of the `opened`
  /// newest calls.
  void let_go(TracedThread& thread, std::uint64_t seen_ns, std::size_t opened);
  /// The same of a syscall-stop, without clocks.
  void let_go_of_syscall(TracedThread& thread, std::uint64_t seen_ns);

  /// Of all stops so far, what they cost besides the time that they were held.
  std::uint64_t waited_ns() const { return waited_ns_; }
  /// Of all stops so far: how long they were held, and how many.
  std::uint64_t held_ns() const { return held_ns_; }
  std::uint64_t stops() const { return stops_; }

private:
  void record_return(TracedThread& thread, const OpenCall& call, const ResultWords& results,
                     std::uint64_t seen_ns, std::uint64_t duration_ns);
  void count_stop(TracedThread& thread, std::uint64_t seen_ns, std::uint64_t now,
                  std::uint64_t latency_ns);
  void record_frames(TracedThread& thread, const OpenCall& call, const Registers& registers,
                     std::uint64_t seen_ns, std::span<const std::uint32_t> stack);

  Recorder& recorder_;
  std::optional<Backtracer> backtracer_; ///< nothing: no backtraces are wanted
  std::optional<PythonAtStops> python_;  ///< nothing: Python functions are not
  std::vector<std::uint32_t> frames_;
  std::uint64_t latency_ns_;         ///< of a breakpoint's stop
  std::uint64_t syscall_latency_ns_; ///< of a syscall-stop
  std::uint64_t waited_ns_ = 0;
  std::uint64_t held_ns_ = 0;
  std::uint64_t stops_ = 0;
};

} // namespace sonictrace
