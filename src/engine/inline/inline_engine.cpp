#include "engine/inline/inline_engine.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "engine/inline/functions_apart.hpp"
#include "engine/inline/left_agent.hpp"
#include "engine/inline/recorded_stacks.hpp"
#include "sonictrace/base/check.hpp"

namespace sonictrace {

std::unique_ptr<Engine> make_inline_engine(EngineParts parts, Collector& collector) {
  return std::make_unique<InlineEngine>(std::move(parts), collector);
}

InlineEngine::InlineEngine(EngineParts parts, Collector& collector)
    : parts_(parts), collector_(collector),
      setup_(parts_.recording, {parts_.frames, parts_.python}, collector.clock()),
      breakpoints_(std::move(parts)) {}

InlineEngine::~InlineEngine() = default;

InlineEngine::Thread* InlineEngine::find_thread(pid_t tid) {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : &found->second;
}

std::shared_ptr<InlineSpace> InlineEngine::space_of(const std::shared_ptr<AddressSpace>& space) {
  auto& known = spaces_[space.get()];
  if (!known) known = std::make_shared<InlineSpace>(space, parts_.recorder.functions(), images_);
  return known;
}

/// The last thread has left it: an exec, an exit, a child that is let go.
void InlineEngine::forget_unused(const std::shared_ptr<InlineSpace>& space) {
  constexpr long kTableAndCaller = 2;
  if (space.use_count() > kTableAndCaller) return;
  if (space->agent() && !space->is_idle_copy()) collector_.remove_arena(space->agent()->arena());
  spaces_.erase(space->space().get());
}

// ---- probes ----------------------------------------------------------------------------------

void InlineEngine::prepare(const Installation& what) {
  (void)setup_.get(); // whoever needs it says what is wrong with it
  InlineSpace::prepare(what, parts_.recorder.functions(), images_);
}

bool InlineEngine::is_in_left_code(const std::shared_ptr<AddressSpace>& space, pid_t tid) {
  const auto inside = space_of(space);
  if (inside->agent() || inside->why_not()) return false;
  const auto setup = setup_.get();
  if (!setup) return false;
  const auto presence = LeftAgent::look_for(space, tid, (*setup)->image);
  if (presence == LeftAgent::Presence::None) inside->note_nothing_left();
  return presence == LeftAgent::Presence::Busy;
}

namespace {

/// Of a program that has just been executed, which is not stopped for remote calls yet: the mark in
/// its dynamic linker.
bool is_born(const Installation& what, const std::optional<StoppedTracee>& stopped) {
  return !stopped && what.code_is_quiet && !what.only_fresh_is_quiet && what.probes.empty() &&
         what.fresh.empty() && what.marks.size() == 1 && what.marks.front().mark == Mark::Linker;
}

/// Whether the mark in the dynamic linker, which comes before all else, can be the agent's from the
/// beginning: a breakpoint there would kill the process if the tracer were gone. A process that
/// begins has no thread area yet, and knocks.
bool can_watch_linker(const InlineSpace& space, const Installation& what,
                      const std::optional<StoppedTracee>& stopped) {
  if (space.knock() || !stopped || !what.code_is_quiet || what.only_fresh_is_quiet) return false;
  if (std::none_of(what.marks.begin(), what.marks.end(),
                   [](const MarkSite& mark) { return mark.mark == Mark::Linker; }))
    return false;
  const auto registers = stopped->registers();
  return registers && registers->raw().fs_base != 0;
}

} // namespace

std::vector<std::string> InlineEngine::install(const std::shared_ptr<AddressSpace>& space,
                                               const Installation& what,
                                               std::optional<StoppedTracee>& stopped,
                                               std::optional<Exit>& killed) {
  const auto inside = space_of(space);
  std::vector<std::string> refused;
  if (is_born(what, stopped) && inside->knock_in_linker(space->pid(), what.marks.front()))
    return refused;
  inside->note_linker_mark(what);
  bool knocked = false;
  if (!inside->agent() && !inside->why_not() &&
      (!what.fresh.empty() || can_watch_linker(*inside, what, stopped))) {
    if (auto injected = inject(*inside, what, stopped, killed); !injected) {
      if (killed) return refused;
      inside->give_up(injected.error().message());
      knocked = inside->knock().has_value();
      inside->end_knocking();
      complaints_.push_back(fmt::format("process {}: breakpoints are used, which are slow: {}",
                                        space->pid(), injected.error().message()));
    }
  }
  tell_python(*inside, what);
  if (inside->agent())
    for (const auto& probe : what.probes)
      parts_.recorder.announce(probe.function);
  auto left = inside->install(what, stopped, killed, refused);
  if (killed) return refused;
  if (knocked) left.marks.push_back(inside->linker_mark());
  learn_code(*inside);
  if (!left.probes.empty()) used_breakpoints_ = true;
  if (what.code_is_quiet && !what.only_fresh_is_quiet) watch_linker(*inside, stopped, killed, left);
  if (killed) return refused;
  Installation rest = what;
  rest.probes = left.probes;
  rest.marks = left.marks;
  auto more = breakpoints_.install(space, rest, stopped, killed);
  refused.insert(refused.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  return refused;
}

bool InlineEngine::install_unseen(const std::shared_ptr<AddressSpace>& space,
                                  const Installation& what) {
  const auto inside = space_of(space);
  if (!inside->agent() || inside->is_idle_copy()) return false;
  tell_python(*inside, what);
  for (const auto& probe : what.probes)
    parts_.recorder.announce(probe.function);
  std::optional<StoppedTracee> nobody;
  std::optional<Exit> killed;
  std::vector<std::string> refused;
  const auto left = inside->install(what, nobody, killed, refused);
  learn_code(*inside);
  return left.probes.empty() && refused.empty();
}

/// What tells unwinders of thunks has to be there before the first thunk is.
bool InlineEngine::may_wait(const SiteProbe& probe) const {
  return !is_asked_by_unwinders(parts_.recorder.functions().at(probe.function).definition.mangled);
}

/// Of modules that are new, for the backtraces.
void InlineEngine::learn_code(InlineSpace& space) {
  if (parts_.frames == 0 || !space.agent() || space.is_idle_copy()) return;
  const OwnCode own = space.own_code();
  collector_.learn_code(space.agent()->arena(), own.gadgets, space.survey(opener(parts_.images)));
  breakpoints_.set_own_code(space.space(), own);
}

Result<void> InlineEngine::inject(InlineSpace& space, const Installation& what,
                                  std::optional<StoppedTracee>& stopped,
                                  std::optional<Exit>& killed) {
  if (!stopped) return Error::saying("no thread of it is stopped");
  if (!what.code_is_quiet || what.only_fresh_is_quiet)
    return Error::saying("its threads can't be stopped all at once");
  const auto registers = stopped->registers();
  if (!registers || registers->raw().fs_base == 0)
    return Error::saying("it has no thread area (%fs), as before its C library has begun");
  auto setup = setup_.get();
  if (!setup) return std::move(setup).error();
  const pid_t tid = stopped->tid();
  RemoteCaller caller(space.space(), stopped, killed);
  if (auto done = space.inject(caller, **setup); !done) return done;
  (void)space.agent()->threads().announce(registers->raw().fs_base, tid);
  used_inline_ = true;
  tell_code(space);
  collector_.add_arena(space.agent()->arena());
  return {};
}

/// Before code of the new modules is recorded.
void InlineEngine::tell_python(InlineSpace& space, const Installation& what) {
  PythonAtStops* const python = breakpoints_.python();
  if (python == nullptr) return;
  python->learn(space.space(), what.fresh);
  const wire::PythonLayout* const layout = python->layout_of(space.space());
  if (space.agent() && layout != nullptr) (void)space.agent()->show_python(*layout);
}

/// For the backtraces of what is recorded in its arena.
void InlineEngine::tell_code(InlineSpace& space) {
  if (parts_.frames == 0) return;
  const OwnCode own = space.own_code();
  collector_.add_code(space.agent()->arena(),
                      {space.space(), own, space.survey(opener(parts_.images))}, parts_.frames);
  breakpoints_.set_own_code(space.space(), own);
}

/// Turns the breakpoint in the dynamic linker into a jump.
void InlineEngine::watch_linker(InlineSpace& inside, std::optional<StoppedTracee>& stopped,
                                std::optional<Exit>& killed, InlineSpace::Left& left) {
  const auto at = inside.linker_breakpoint();
  if (!at) return;
  inside.end_knocking();
  breakpoints_.remove_mark(*inside.space(), *at);
  const auto patched = inside.patch_rendezvous(stopped, killed);
  if (patched || killed) return;
  complaints_.push_back(fmt::format("process {}: {}: if this tracer were killed, its next dlopen "
                                    "would kill it",
                                    inside.space()->pid(), patched.error().message()));
  left.marks.push_back(inside.linker_mark());
}

void InlineEngine::set_step_area(const std::shared_ptr<AddressSpace>& space, TraceeAddress area) {
  breakpoints_.set_step_area(space, area);
}

void InlineEngine::module_gone(const AddressSpace& space, AddressRange range) {
  if (const auto known = spaces_.find(&space); known != spaces_.end()) {
    InlineSpace& inside = *known->second;
    inside.module_gone(range);
    if (parts_.frames > 0 && inside.agent() && !inside.is_idle_copy())
      collector_.forget_code(inside.agent()->arena(), range);
  }
  breakpoints_.module_gone(space, range);
}

// ---- threads ---------------------------------------------------------------------------------

void InlineEngine::thread_started(pid_t tid, std::optional<pid_t> parent,
                                  const std::shared_ptr<AddressSpace>& space, bool silent) {
  breakpoints_.thread_started(tid, parent, space, silent);
  Thread thread;
  thread.space = space_of(space);
  thread.silent = silent;
  threads_.insert_or_assign(tid, std::move(thread));
}

void InlineEngine::thread_gone(pid_t tid) {
  breakpoints_.thread_gone(tid);
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  end_borrowing(thread->second);
  const auto space = std::move(thread->second.space);
  threads_.erase(thread);
  forget_unused(space);
}

void InlineEngine::thread_ends(pid_t tid) {
  const Thread* const thread = find_thread(tid);
  if (thread == nullptr || !thread->space->agent()) return;
  // The process's first one, which ends last.
  if (tid == thread->space->space()->pid()) tell_bindings(*thread->space);
  const std::uint32_t ring = publish(*thread->space, tid).ring;
  collector_.end_thread(*thread->space->agent()->arena(), ring);
}

/// Whose functions are called is known once they were: until then it is a guess.
void InlineEngine::tell_bindings(InlineSpace& space) {
  if (!parts_.on_binding) return;
  for (const auto& [function, target] : space.take_bound())
    (void)parts_.on_binding(*space.space(), function, target);
}

void InlineEngine::tick() {
  for (const auto& [key, space] : spaces_)
    tell_bindings(*space);
}

InlineEngine::Published InlineEngine::publish(const InlineSpace& space, pid_t tid) {
  const auto& arena = space.agent()->arena();
  const std::uint32_t ring = collector_.ring_of(*arena, tid);
  return {ring, collector_.publish_open_calls(arena, ring)};
}

void InlineEngine::child_born(pid_t parent, pid_t child, const std::shared_ptr<AddressSpace>& space,
                              bool silent) {
  breakpoints_.child_born(parent, child, space, silent);
  Thread* const from = find_thread(parent);
  SONICTRACE_CHECK(from != nullptr, "a child was born of a thread that the engine does not know");
  Thread thread;
  thread.silent = silent;
  if (from->space->space() == space) {
    // It runs in its parent's memory, and with its %fs, until it ends or runs a program.
    thread.space = from->space;
    thread.borrowed_from = parent;
    lend(*from, silent);
  } else {
    thread.space = from->space->copy_for(space);
    spaces_[space.get()] = thread.space;
    if (!silent && thread.space->agent()) {
      auto published = publish(*from->space, parent);
      thread.inherited = std::move(published.calls);
      thread.inherited_ring = published.ring;
      thread.is_copy = true;
      thread.process = collector_.reserve_process();
      // Now, as the parent's calls may end before the child runs.
      for (const auto& call : thread.inherited)
        parts_.recorder.define(InheritedCall{child, call.function,
                                             Collector::inherited_call(thread.process, call.number),
                                             call.depth, call.call});
    }
  }
  threads_.insert_or_assign(child, std::move(thread));
}

/// A child is about to run in the memory of the thread, and as far as anybody knows with its thread
/// area: the calls that it makes are not the thread's.
void InlineEngine::lend(Thread& thread, bool silent) {
  if (!thread.space->agent() || thread.key == 0) return;
  const AgentThreads& table = thread.space->agent()->threads();
  auto block = silent ? table.mute(thread.key) : table.find(thread.key);
  if (!silent) (void)table.forget(thread.key);
  thread.lent = block && *block ? **block : TraceeAddress();
}

/// The child that had borrowed from another thread is gone, or has another memory or thread area.
void InlineEngine::end_borrowing(Thread& thread) {
  if (!thread.borrowed_from) return;
  if (Thread* const lender = find_thread(*thread.borrowed_from))
    take_back(*thread.borrowed_from, *lender);
  thread.borrowed_from.reset();
}

void InlineEngine::take_back(pid_t tid, Thread& thread) {
  if (!thread.lent || !thread.space->agent()) return;
  const AgentThreads& table = thread.space->agent()->threads();
  if (*thread.lent != TraceeAddress()) {
    (void)table.restore(thread.key, *thread.lent);
  } else {
    (void)table.forget(thread.key);
    (void)table.announce(thread.key, tid);
  }
  thread.lent.reset();
}

void InlineEngine::program_replaced(pid_t tid, const std::shared_ptr<AddressSpace>& space) {
  breakpoints_.program_replaced(tid, space);
  Thread thread;
  thread.space = space_of(space);
  thread.is_fresh = false;
  threads_.insert_or_assign(tid, std::move(thread));
}

void InlineEngine::record_system_calls(bool ltrace_names) {
  breakpoints_.record_system_calls(ltrace_names);
}

void InlineEngine::settle_system_call(pid_t tid, bool begin_anew) {
  breakpoints_.settle_system_call(tid, begin_anew);
}

/// The first stop of a thread, before it has run.
void InlineEngine::begin(std::optional<StoppedTracee>& tracee, std::optional<Exit>& killed,
                         Thread& thread) {
  thread.is_fresh = false;
  if (!thread.space->agent()) return;
  const auto registers = tracee->registers();
  if (!registers) return; // killed meanwhile
  const std::uint64_t key = registers->raw().fs_base;
  const pid_t tid = tracee->tid(); // the caller has the stop, as long as it lives
  if (thread.is_copy) {
    RemoteCaller caller(thread.space->space(), tracee, killed);
    if (auto done = thread.space->begin_copy(caller, thread.inherited_ring, thread.inherited);
        !done) {
      if (!killed)
        complaints_.push_back(fmt::format("process {}: its calls are not recorded: {}",
                                          thread.space->space()->pid(), done.error().message()));
      return;
    }
    const auto& arena = thread.space->agent()->arena();
    (void)thread.space->agent()->threads().announce(key, tid);
    tell_code(*thread.space);
    collector_.add_arena(arena, thread.process);
    thread.inherited.clear();
    return;
  }
  if (thread.borrowed_from) {
    const Thread* const lender = find_thread(*thread.borrowed_from);
    if (lender != nullptr && lender->key == key) { // it runs with that one's
      if (!thread.silent) (void)thread.space->agent()->threads().announce(key, tid);
      return;
    }
    end_borrowing(thread);
  }
  // Its thread area may be that of one which has ended.
  const AgentThreads& table = thread.space->agent()->threads();
  if (thread.silent) {
    (void)table.mute(key);
    return;
  }
  (void)table.forget(key);
  (void)table.announce(key, tid);
}

// ---- stops -----------------------------------------------------------------------------------

namespace {

bool is_birth(const Stop& stop) {
  return stop.kind == StopKind::PtraceEvent &&
         (stop.detail == PTRACE_EVENT_FORK || stop.detail == PTRACE_EVENT_VFORK ||
          stop.detail == PTRACE_EVENT_CLONE);
}
bool is_fault(const Stop& stop) {
  return stop == Stop{StopKind::SignalDelivery, SIGSEGV} ||
         stop == Stop{StopKind::SignalDelivery, SIGBUS};
}

} // namespace

Handled InlineEngine::handle(StoppedTracee tracee) {
  Thread* const thread = find_thread(tracee.tid());
  if (thread == nullptr) return breakpoints_.handle(std::move(tracee));
  if (thread->is_fresh) {
    const bool follows = tracee.follows_system_calls();
    std::optional<StoppedTracee> stopped(std::move(tracee));
    std::optional<Exit> killed;
    begin(stopped, killed, *thread);
    if (!stopped) return Gone{*killed};
    tracee = *std::move(stopped);
    if (follows) tracee.follow_system_calls(); // it may be another stop, after remote calls
  }
  if (const auto& knock = thread->space->knock(); knock && knock->is_heard(tracee)) {
    auto outcome = knock->answer(std::move(tracee));
    if (const auto* exit = std::get_if<Exit>(&outcome)) return Gone{*exit};
    return Marked{std::get<StoppedTracee>(std::move(outcome)), Mark::Linker};
  } else if (knock && knock->is_knocking(tracee)) { // a system call of ours
    (void)std::move(tracee).resume();
    return Resumed{};
  }
  if (!thread->space->agent()) return breakpoints_.handle(std::move(tracee));
  const Stop stop = tracee.stop();
  if (is_birth(stop)) {
    if (const auto registers = tracee.registers()) thread->key = registers->raw().fs_base;
  } else if (stop == Stop{StopKind::PtraceEvent, PTRACE_EVENT_VFORK_DONE}) {
    take_back(tracee.tid(), *thread);
  } else if (stop.kind == StopKind::SignalDelivery) {
    auto registers = tracee.registers();
    if (registers && is_fault(stop) && thread->space->repair_fault(*registers)) {
      (void)tracee.set_registers(*registers);
      (void)std::move(tracee).resume();
      return Resumed{};
    }
    // Its handler may unwind: pthread_cancel(3).
    if (registers && thread->space->leave_stub(*registers)) (void)tracee.set_registers(*registers);
  } else if (stop.kind == StopKind::Syscall) {
    const auto registers = tracee.registers();
    if (registers && thread->space->is_in_agent(registers->pc())) { // none of the program's
      (void)std::move(tracee).resume();
      return Resumed{};
    }
    if (registers) breakpoints_.set_outer_depth(tracee.tid(), thread->space->depth_of(*registers));
  }
  return handle_by_breakpoints(std::move(tracee));
}

/// What comes of it is put between what is recorded inside.
Handled InlineEngine::handle_by_breakpoints(StoppedTracee tracee) {
  collector_.hold(tracee.seen_ns());
  auto handled = breakpoints_.handle(std::move(tracee));
  parts_.recorder.flush();
  collector_.release();
  return handled;
}

bool InlineEngine::withdraw(const AddressSpace& space) {
  const auto known = spaces_.find(&space);
  return known != spaces_.end() && known->second->withdraw();
}

void InlineEngine::remove(const AddressSpace& space, bool code_is_quiet) {
  if (const auto known = spaces_.find(&space); known != spaces_.end()) {
    InlineSpace& inside = *known->second;
    tell_bindings(inside);
    if (inside.agent() && !inside.is_idle_copy())
      for (const auto& [tid, thread] : threads_)
        if (thread.space == known->second && !thread.silent) (void)publish(inside, tid);
    if (inside.agent() && !inside.is_idle_copy()) left_.push_back(inside.agent()->arena());
    inside.remove(code_is_quiet);
  }
  breakpoints_.remove(space, code_is_quiet);
}

Settled InlineEngine::settle(StoppedTracee& tracee) {
  if (const Thread* const thread = find_thread(tracee.tid());
      thread != nullptr && thread->space->agent())
    if (auto registers = tracee.registers();
        registers && thread->space->repair_fault(*registers)) // it may fault when we are gone
      (void)tracee.set_registers(*registers);
  return breakpoints_.settle(tracee);
}

TraceeAddress InlineEngine::place_in_program(pid_t tid, TraceeAddress pc) {
  return breakpoints_.place_in_program(tid, pc);
}

// ---- the dynamic linker ------------------------------------------------------------------------

std::vector<std::shared_ptr<AddressSpace>> InlineEngine::waiting_in_linker() {
  std::vector<std::shared_ptr<AddressSpace>> waiting;
  for (const auto& [key, inside] : spaces_)
    if (inside->waits_in_linker()) {
      tell_bindings(*inside); // before a module is gone
      waiting.push_back(inside->space());
    }
  return waiting;
}

void InlineEngine::let_linker_go(const AddressSpace& space) {
  if (const auto known = spaces_.find(&space); known != spaces_.end())
    known->second->let_linker_go();
}

std::optional<Registers> InlineEngine::linker_caller(const AddressSpace& space) const {
  const auto known = spaces_.find(&space);
  return known == spaces_.end() ? std::nullopt : known->second->linker_caller();
}

// ---- the rest ----------------------------------------------------------------------------------

void InlineEngine::finish() {
  collector_.stop();
  for (const auto& arena : left_) // nobody reads there any more
    arena->control().is_over = 1;
}

std::string InlineEngine::name() const {
  if (used_inline_ && used_breakpoints_) return "inline, breakpoint";
  return used_inline_ ? "inline" : "breakpoint";
}

std::uint64_t InlineEngine::calls() const { return collector_.calls(); }
LeftOutCalls InlineEngine::left_out() const { return collector_.left_out(); }
std::uint64_t InlineEngine::lost() const { return collector_.lost(); }

std::vector<std::string> InlineEngine::take_complaints() {
  auto all = std::exchange(complaints_, {});
  for (auto more : {collector_.take_complaints(), breakpoints_.take_complaints()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint64_t InlineEngine::cost_of_call_ns() const {
  return used_inline_ ? setup_.cost_of_call_ns() : breakpoints_.cost_of_call_ns();
}

} // namespace sonictrace
