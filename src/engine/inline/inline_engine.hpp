#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/breakpoint/breakpoint_engine.hpp"
#include "engine/inline/inline_setup.hpp"
#include "engine/inline/inline_space.hpp"
#include "sonictrace/engine/collector.hpp"
#include "sonictrace/engine/engine.hpp"
#include "sonictrace/engine/make_engine.hpp"

namespace sonictrace {

/// Records calls by code of ours inside the traced process: no call stops. What can't be done there
/// is left to breakpoints, of which it has an engine: entry points that can't be patched, processes
/// that the agent can't be put into, system calls.
class InlineEngine final : public Engine {
public:
  InlineEngine(EngineParts parts, Collector& collector);
  ~InlineEngine() override;

  bool wants_quiet_threads() const override { return true; }
  void prepare(const Installation& what) override;
  bool is_in_left_code(const std::shared_ptr<AddressSpace>& space, pid_t tid) override;
  std::vector<std::string> install(const std::shared_ptr<AddressSpace>& space,
                                   const Installation& what, std::optional<StoppedTracee>& stopped,
                                   std::optional<Exit>& killed) override;
  bool install_unseen(const std::shared_ptr<AddressSpace>& space,
                      const Installation& what) override;
  bool may_wait(const SiteProbe& probe) const override;
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
  bool withdraw(const AddressSpace& space) override;
  void remove(const AddressSpace& space, bool code_is_quiet) override;
  void remove_marks(const AddressSpace& space, Mark mark) override {
    breakpoints_.remove_marks(space, mark);
  }
  Settled settle(StoppedTracee& tracee) override;
  TraceeAddress place_in_program(pid_t tid, TraceeAddress pc) override;

  void thread_ends(pid_t tid) override;
  std::vector<std::shared_ptr<AddressSpace>> waiting_in_linker() override;
  void tick() override;
  void let_linker_go(const AddressSpace& space) override;
  std::optional<Registers> linker_caller(const AddressSpace& space) const override;
  void finish() override;
  std::string name() const override;
  std::uint64_t calls() const override;
  std::uint64_t lost() const override;
  LeftOutCalls left_out() const override;
  std::vector<std::string> take_complaints() override;
  std::uint64_t cost_of_call_ns() const override;

private:
  struct Thread {
    std::shared_ptr<InlineSpace> space; ///< never null
    bool silent = false;
    bool is_fresh = true; ///< its first stop has not been seen
    /// The first thread of a fork child that is followed: with what it has inherited.
    bool is_copy = false;
    std::vector<OpenCallFound> inherited = {};
    std::uint32_t inherited_ring = 0; ///< of the thread that it was forked from
    std::uint32_t process = 0;        ///< its number at the collector
    /// It was born in the memory of this thread's process, with a thread area that is the same as
    /// far as is known.
    std::optional<pid_t> borrowed_from = std::nullopt;
    std::uint64_t key = 0; ///< its %fs:0, as of its last child's birth
    /// While a child runs with its thread area: the block to come back to; address 0: there was
    /// none.
    std::optional<TraceeAddress> lent = std::nullopt;
  };

  Handled handle_by_breakpoints(StoppedTracee tracee);
  Thread* find_thread(pid_t tid);
  std::shared_ptr<InlineSpace> space_of(const std::shared_ptr<AddressSpace>& space);
  void forget_unused(const std::shared_ptr<InlineSpace>& space);
  Result<void> inject(InlineSpace& space, const Installation& what,
                      std::optional<StoppedTracee>& stopped, std::optional<Exit>& killed);
  void tell_python(InlineSpace& space, const Installation& what);
  void tell_code(InlineSpace& space);
  void learn_code(InlineSpace& space);
  void watch_linker(InlineSpace& inside, std::optional<StoppedTracee>& stopped,
                    std::optional<Exit>& killed, InlineSpace::Left& left);
  void begin(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed, Thread& thread);
  struct Published {
    std::uint32_t ring; ///< of the thread; one that there is not where it has none
    std::vector<OpenCallFound> calls;
  };
  void tell_bindings(InlineSpace& space);
  Published publish(const InlineSpace& space, pid_t tid);
  void lend(Thread& thread, bool silent);
  void end_borrowing(Thread& thread);
  void take_back(pid_t tid, Thread& thread);

  EngineParts parts_;
  Collector& collector_;
  InlineSetup setup_;
  BreakpointEngine breakpoints_;
  ImageKnowledge images_; ///< the spaces refer to it
  std::unordered_map<pid_t, Thread> threads_;
  std::unordered_map<const AddressSpace*, std::shared_ptr<InlineSpace>> spaces_;
  std::vector<std::shared_ptr<Arena>> left_; ///< of processes that go on untraced
  std::vector<std::string> complaints_;
  bool used_inline_ = false, used_breakpoints_ = false;
};

} // namespace sonictrace
