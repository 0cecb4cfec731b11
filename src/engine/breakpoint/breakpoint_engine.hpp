#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/breakpoint/call_recorder.hpp"
#include "engine/breakpoint/patched_space.hpp"
#include "engine/breakpoint/syscall_recorder.hpp"
#include "engine/breakpoint/traced_thread.hpp"
#include "sonictrace/engine/engine.hpp"
#include "sonictrace/engine/make_engine.hpp"

namespace sonictrace {

/// Records calls by breakpoints, two stops a call: one at the call's site, where the jump is
/// emulated, one at its return address, where the overwritten instruction runs displaced.
class BreakpointEngine final : public Engine {
public:
  explicit BreakpointEngine(EngineParts parts);

  std::vector<std::string> install(const std::shared_ptr<AddressSpace>& space,
                                   const Installation& what, std::optional<StoppedTracee>& stopped,
                                   std::optional<Exit>& killed) override;
  /// Null where Python functions are not wanted.
  PythonAtStops* python() { return calls_.python(); }
  std::vector<std::string> take_complaints() override {
    return calls_.python() != nullptr ? calls_.python()->take_complaints()
                                      : std::vector<std::string>();
  }
  /// See Unwinder.
  void set_own_code(const std::shared_ptr<AddressSpace>& space, OwnCode code) {
    calls_.set_own_code(space, std::move(code));
  }
  /// So many calls of the thread are open that this engine has not recorded.
  void set_outer_depth(pid_t tid, std::uint16_t depth);
  /// Takes the marks at `at` out again, and the breakpoint where it stands for nothing else.
  void remove_mark(const AddressSpace& space, TraceeAddress at);
  void remove_marks(const AddressSpace& space, Mark mark) override;
  void set_step_area(const std::shared_ptr<AddressSpace>& space, TraceeAddress area) override;
  void module_gone(const AddressSpace& space, AddressRange range) override;
  void thread_started(pid_t tid, std::optional<pid_t> parent,
                      const std::shared_ptr<AddressSpace>& space, bool silent) override;
  void thread_gone(pid_t tid) override;
  void child_born(pid_t parent, pid_t child, const std::shared_ptr<AddressSpace>& space,
                  bool silent) override;
  void program_replaced(pid_t tid, const std::shared_ptr<AddressSpace>& space) override;
  void record_system_calls(bool ltrace_names) override;
  void settle_system_call(pid_t tid, bool begin_anew) override;
  Handled handle(StoppedTracee tracee) override;
  void remove(const AddressSpace& space, bool code_is_quiet) override;
  Settled settle(StoppedTracee& tracee) override;
  TraceeAddress place_in_program(pid_t tid, TraceeAddress pc) override;
  std::string name() const override { return "breakpoint"; }
  std::uint64_t cost_of_call_ns() const override;

private:
  struct Hit; ///< one stop at a breakpoint, while it is dealt with

  TracedThread* find_thread(pid_t tid);
  std::shared_ptr<PatchedSpace> space_of(const std::shared_ptr<AddressSpace>& space);
  void forget_if_unused(const std::shared_ptr<PatchedSpace>& space);
  StackId stack_of(TracedThread& thread, const Registers& registers);

  Handled handle_hit(StoppedTracee tracee, TracedThread& thread, Breakpoint& breakpoint,
                     Registers registers);
  Handled pass_on(StoppedTracee tracee, TracedThread& thread);
  Handled begin_recording(Hit& hit);
  Handled go_on(Hit& hit);
  Handled let_go(Hit& hit);
  Handled run_in_place(Hit& hit);
  Handled step_past(Hit& hit);
  void see_returns(Hit& hit);
  TracedThread& caller_of(const Hit& hit);
  void see_marks(Hit& hit);
  void see_probe(Hit& hit, const SiteProbe& probe);
  void see_long_jump(Hit& hit);
  void see_last_call(Hit& hit);
  void see_signal_call(Hit& hit, Mark mark);
  void see_target(const Hit& hit, FunctionId function, TraceeAddress target);
  void see_bound(const Hit& hit, const OpenCall& call);

  CallRecorder calls_;
  std::optional<SyscallRecorder> system_calls_; ///< where they are recorded
  BindingObserver on_binding_;
  std::vector<bool> seen_bound_; ///< by FunctionId: see_bound has looked
  std::unordered_map<pid_t, TracedThread> threads_;
  std::unordered_map<const AddressSpace*, std::shared_ptr<PatchedSpace>> spaces_;
};

} // namespace sonictrace
