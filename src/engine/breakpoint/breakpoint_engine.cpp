#include "engine/breakpoint/breakpoint_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <csignal>

#include "sonictrace/base/check.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {

/// One stop at a breakpoint. `registers` are as in the program: pc at the breakpoint.
struct BreakpointEngine::Hit {
  std::optional<StoppedTracee> tracee;
  std::optional<Exit> killed;
  TracedThread& thread;
  Breakpoint& breakpoint;
  Registers registers;
  std::uint64_t seen_ns;
  StackId stack;
  std::size_t opened = 0;           ///< calls that this stop has opened
  std::optional<Mark> mark;         ///< for the session
  std::optional<FunctionId> called; ///< by the jump or call at the breakpoint
  bool sets_trap_action = false;    ///< SIGTRAP's disposition is about to be set

  std::uint64_t read(TraceeAddress from) const {
    const auto word = thread.space->space().memory().read_word(from);
    return word ? *word : 0;
  }
};

BreakpointEngine::BreakpointEngine(EngineParts parts)
    : calls_(parts), on_binding_(std::move(parts.on_binding)) {}

std::unique_ptr<Engine> make_breakpoint_engine(EngineParts parts) {
  return std::make_unique<BreakpointEngine>(std::move(parts));
}

std::shared_ptr<PatchedSpace>
BreakpointEngine::space_of(const std::shared_ptr<AddressSpace>& space) {
  auto& patched = spaces_[space.get()];
  if (!patched) patched = std::make_shared<PatchedSpace>(space);
  return patched;
}

TracedThread* BreakpointEngine::find_thread(pid_t tid) {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : &found->second;
}

std::vector<std::string> BreakpointEngine::install(const std::shared_ptr<AddressSpace>& space,
                                                   const Installation& what,
                                                   std::optional<StoppedTracee>& /*stopped*/,
                                                   std::optional<Exit>& /*killed*/) {
  std::vector<std::string> refused;
  const auto patched = space_of(space);
  calls_.learn_modules(space, what.fresh);
  // From here on it is seen when the program sets SIGTRAP's disposition; what it is by now is not
  // known.
  const bool begins_to_see =
      std::any_of(what.marks.begin(), what.marks.end(),
                  [](const MarkSite& site) { return site.mark == Mark::SetAction; });
  if (begins_to_see)
    for (auto& [tid, thread] : threads_)
      if (thread.space == patched && !thread.trap->action)
        TrapGuard(*patched, *thread.trap, thread.trap_mask).begin(tid);
  for (const auto& mark : what.marks) {
    auto breakpoint = patched->insert(mark.at);
    if (!breakpoint) continue; // an aid, not a probe: its absence costs exactness, not calls
    auto& known = (*breakpoint)->marks;
    if (std::find(known.begin(), known.end(), mark.mark) == known.end()) known.push_back(mark.mark);
    if (mark.mark == Mark::End) (*breakpoint)->call_size = mark.call_size;
  }
  for (const auto& probe : what.probes) {
    auto breakpoint = patched->insert(probe.at);
    if (!breakpoint) {
      refused.push_back(
          fmt::format("{}: {}", calls_.recorder().functions().at(probe.function).definition.mangled,
                      breakpoint.error().message()));
      continue;
    }
    (*breakpoint)->probes.push_back(probe);
  }
  return refused;
}

void BreakpointEngine::remove_mark(const AddressSpace& space, TraceeAddress at) {
  const auto patched = spaces_.find(&space);
  if (patched == spaces_.end()) return;
  Breakpoint* breakpoint = patched->second->find(at);
  if (breakpoint == nullptr) return;
  breakpoint->marks.clear();
  if (breakpoint->probes.empty()) patched->second->retire(at);
}

void BreakpointEngine::remove_marks(const AddressSpace& space, Mark mark) {
  const auto patched = spaces_.find(&space);
  if (patched != spaces_.end()) patched->second->remove_marks(mark);
}

void BreakpointEngine::set_step_area(const std::shared_ptr<AddressSpace>& space,
                                     TraceeAddress area) {
  space_of(space)->set_step_area(area);
}

void BreakpointEngine::module_gone(const AddressSpace& space, AddressRange range) {
  calls_.forget_code(space, range);
  const auto patched = spaces_.find(&space);
  if (patched != spaces_.end()) patched->second->forget_range(range);
}

void BreakpointEngine::thread_started(pid_t tid, std::optional<pid_t> parent,
                                      const std::shared_ptr<AddressSpace>& space, bool silent) {
  TracedThread thread;
  thread.tid = tid;
  thread.space = space_of(space);
  thread.silent = silent;
  if (const TracedThread* from = parent ? find_thread(*parent) : nullptr) {
    thread.trap = from->trap;
    thread.trap_mask = from->trap_mask;
    TrapGuard::begin_child(tid, thread.trap_mask);
  } else {
    // Of the same process, if another thread of it is known already.
    for (const auto& [other_tid, other] : threads_)
      if (other.space == thread.space && other_tid != tid) thread.trap = other.trap;
    if (!thread.trap) thread.trap = std::make_shared<TrapDisposition>();
    TrapGuard(*thread.space, *thread.trap, thread.trap_mask).begin(tid);
  }
  thread_gone(tid); // as it was in another program
  threads_.insert_or_assign(tid, std::move(thread));
}

void BreakpointEngine::thread_gone(pid_t tid) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  if (system_calls_) system_calls_->settle_last(thread->second);
  const auto space = std::move(thread->second.space);
  threads_.erase(thread);
  forget_if_unused(space);
}

/// The last thread has left it: an exec, an exit, a child that is let go.
void BreakpointEngine::forget_if_unused(const std::shared_ptr<PatchedSpace>& space) {
  constexpr long kTableAndCaller = 2;
  if (space.use_count() > kTableAndCaller) return;
  space->give_back_slots();
  spaces_.erase(&space->space());
}

void BreakpointEngine::child_born(pid_t parent, pid_t child,
                                  const std::shared_ptr<AddressSpace>& space, bool silent) {
  const TracedThread* from = find_thread(parent);
  SONICTRACE_CHECK(from != nullptr, "a child was born of a thread that the engine does not know");
  TracedThread thread = *from;
  thread.tid = child;
  thread.silent = silent;
  thread.trap = std::make_shared<TrapDisposition>(*from->trap); // copied by fork(2)
  TrapGuard::begin_child(child, thread.trap_mask);
  if (&from->space->space() != space.get()) {
    auto& patched = spaces_[space.get()];
    if (!patched) {
      patched = from->space->copy_for(space);
      calls_.copy_code(from->space->shared_space(), space);
    }
    thread.space = patched;
  }
  OpenCalls calls;
  if (!silent) {
    for (OpenCall call : from->calls.all()) {
      const std::uint64_t parent_call = call.call;
      call.call = calls_.recorder().next_id();
      calls_.recorder().define(
          InheritedCall{child, call.function, call.call, call.depth, parent_call});
      calls.push(call);
    }
  }
  thread.calls = std::move(calls);
  thread.syscall.reset(); // that it was born in: its end is no call of the child's
  threads_.insert_or_assign(child, std::move(thread));
}

void BreakpointEngine::program_replaced(pid_t tid, const std::shared_ptr<AddressSpace>& space) {
  thread_started(tid, std::nullopt, space, false);
}

StackId BreakpointEngine::stack_of(TracedThread& thread, const Registers& registers) {
  const auto sp = registers.sp();
  const AddressSpace& space = thread.space->space();
  // Of a process's first thread it is somewhere else: its stack is the kernel's making.
  const TraceeAddress control_block(thread.tid == space.pid() ? 0 : registers.raw().fs_base);
  if (!thread.stack || !thread.stack->range.contains(sp))
    thread.stack = thread.space->stacks().region_of(space, sp, control_block);
  return thread.stack->id;
}

void BreakpointEngine::set_outer_depth(pid_t tid, std::uint16_t depth) {
  if (TracedThread* thread = find_thread(tid)) thread->outer_depth = depth;
}

void BreakpointEngine::record_system_calls(bool ltrace_names) {
  system_calls_.emplace(calls_, ltrace_names);
}

void BreakpointEngine::settle_system_call(pid_t tid, bool begin_anew) {
  TracedThread* thread = find_thread(tid);
  if (thread == nullptr || !system_calls_) return;
  if (begin_anew)
    system_calls_->begin_anew(*thread);
  else
    system_calls_->settle(*thread);
}

Handled BreakpointEngine::handle(StoppedTracee tracee) {
  TracedThread* thread = find_thread(tracee.tid());
  if (thread == nullptr) return NotOurs{std::move(tracee)};
  if (tracee.stop().kind == StopKind::Syscall) {
    if (system_calls_ && !thread->silent) system_calls_->see(tracee, *thread);
    (void)std::move(tracee).resume();
    return Resumed{};
  }
  if (tracee.stop() != Stop{StopKind::SignalDelivery, SIGTRAP})
    return pass_on(std::move(tracee), *thread);

  auto registers = tracee.registers();
  if (!registers) return NotOurs{std::move(tracee)}; // killed meanwhile
  const TraceeAddress at = registers->pc() + -1;     // an int3 leaves pc behind itself
  Breakpoint* breakpoint = thread->space->find(at);
  if (breakpoint == nullptr && !thread->space->was_at(at))
    return pass_on(std::move(tracee), *thread);
  // Behind the first byte of a longer instruction nothing but our int3 can leave a thread. Else it
  // may be the program's own signal: the kernel's for an int3 says SI_KERNEL, kill's and raise's do
  // not. A SIGTRAP that the thread blocks comes from an int3 only.
  const bool certain = breakpoint != nullptr &&
                       (breakpoint->instruction.size() > 1 || thread->trap_mask.is_blocked());
  if (!certain) {
    const auto info = tracee.signal_info();
    if (!info || info->si_code != SI_KERNEL) return pass_on(std::move(tracee), *thread);
  }

  registers->set_pc(at);
  if (breakpoint == nullptr) { // hit before it was taken out: the instruction is back in its place
    (void)tracee.set_registers(*registers);
    (void)std::move(tracee).resume();
    return Resumed{};
  }
  return handle_hit(std::move(tracee), *thread, *breakpoint, *registers);
}

/// A stop that is the program's own affair: if it happened in a slot, the program must see it at
/// the original place, in its pc and in what the signal says of itself.
Handled BreakpointEngine::pass_on(StoppedTracee tracee, TracedThread& thread) {
  if (tracee.stop().kind != StopKind::SignalDelivery) return NotOurs{std::move(tracee)};
  auto registers = tracee.registers();
  if (!registers) return NotOurs{std::move(tracee)};
  const auto original = thread.space->original_of(registers->pc());
  if (original == registers->pc()) return NotOurs{std::move(tracee)};

  const auto in_slot = registers->pc();
  if (auto info = tracee.signal_info()) {
    // SIGILL, SIGFPE and SIGTRAP name the instruction itself (sigaction(2), si_addr).
    const bool names_code =
        info->si_code > 0 && (info->si_signo == SIGILL || info->si_signo == SIGFPE ||
                              info->si_signo == SIGTRAP || info->si_signo == SIGSEGV);
    if (names_code && reinterpret_cast<std::uint64_t>(info->si_addr) == in_slot.value()) {
      info->si_addr = reinterpret_cast<void*>(original.value());
      (void)tracee.set_signal_info(*info);
    }
  }
  // Where the copy has not run yet, the breakpoint will be hit again behind the handler: once more
  // the same call.
  if (thread.space->find(original) != nullptr) thread.replay = {original, registers->sp()};
  registers->set_pc(original);
  (void)tracee.set_registers(*registers);
  return NotOurs{std::move(tracee)};
}

Handled BreakpointEngine::handle_hit(StoppedTracee tracee, TracedThread& thread,
                                     Breakpoint& breakpoint, Registers registers) {
  const auto seen_ns = tracee.seen_ns();
  Hit hit{std::move(tracee), {}, thread, breakpoint, registers, seen_ns, {}, 0, {}, {}, false};
  hit.stack = stack_of(thread, registers);
  if (system_calls_) system_calls_->settle(thread);
  if (thread.trap->action || thread.trap->must_be_read || thread.trap_mask.may_be_blocked()) {
    TrapGuard(*thread.space, *thread.trap, thread.trap_mask).repair(hit.tracee, hit.killed);
    if (hit.killed) return Gone{*hit.killed};
  }

  const bool is_replay = thread.replay == std::pair(registers.pc(), registers.sp());
  if (is_replay) thread.replay = {};
  const auto& marks = breakpoint.marks;
  if (!thread.silent && std::find(marks.begin(), marks.end(), Mark::Begin) != marks.end())
    return begin_recording(hit);
  if (!thread.silent && !is_replay) {
    see_returns(hit);
    if (thread.last_call == std::pair(registers.pc(), registers.sp() + -8)) hit.mark = Mark::End;
    if (!breakpoint.marks.empty()) see_marks(hit);
    // Two callers' hoisted calls may share a place; a user's -x another.
    for (const auto& probe : breakpoint.probes)
      see_probe(hit, probe);
  } else {
    for (const Mark mark : breakpoint.marks)
      if (mark == Mark::Linker || mark == Mark::Start) hit.mark = mark;
  }

  return go_on(hit);
}

/// The call is yet to be made: what stands there when the thread goes on sees it.
Handled BreakpointEngine::begin_recording(Hit& hit) {
  std::erase(hit.breakpoint.marks, Mark::Begin);
  if (hit.breakpoint.marks.empty() && hit.breakpoint.probes.empty())
    hit.thread.space->retire(hit.breakpoint.at);
  (void)hit.tracee->set_registers(hit.registers);
  return Marked{*std::move(hit.tracee), Mark::Begin};
}

/// Brings the thread past the breakpoint, by what is cheapest.
Handled BreakpointEngine::go_on(Hit& hit) {
  Breakpoint& breakpoint = hit.breakpoint;
  PatchedSpace& space = *hit.thread.space;
  Registers after = hit.registers;
  if (breakpoint.instruction.is_emulated()) {
    if (!breakpoint.instruction.emulate(after, space)) return run_in_place(hit);
    if (hit.called) see_target(hit, *hit.called, after.pc());
  } else {
    const auto passable = space.make_passable(breakpoint, hit.tracee, hit.killed);
    if (hit.killed) return Gone{*hit.killed};
    if (!passable) return step_past(hit);
    after.set_pc(*breakpoint.slot);
  }
  (void)hit.tracee->set_registers(after);
  return let_go(hit);
}

Handled BreakpointEngine::let_go(Hit& hit) {
  calls_.let_go(hit.thread, hit.seen_ns, hit.opened);
  if (hit.mark) return Marked{*std::move(hit.tracee), *hit.mark};
  if (hit.sets_trap_action) {
    TrapGuard guard(*hit.thread.space, *hit.thread.trap, hit.thread.trap_mask);
    const bool seen = guard.follow_action(hit.tracee, hit.killed, [&](const StoppedTracee& tracee) {
      if (system_calls_ && !hit.thread.silent) system_calls_->see(tracee, hit.thread);
    });
    if (hit.killed) return Gone{*hit.killed};
    if (!seen) return handle(*std::move(hit.tracee)); // another stop came first
  }
  (void)std::move(*hit.tracee).resume();
  return Resumed{};
}

/// The instruction itself faults (a wild jump, a stack that is not there), or can't run elsewhere:
/// it runs where it stands, with nothing recorded from there any more.
Handled BreakpointEngine::run_in_place(Hit& hit) {
  if (!hit.breakpoint.probes.empty()) calls_.recorder().count_lost(1);
  hit.thread.space->retire(hit.breakpoint.at);
  (void)hit.tracee->set_registers(hit.registers);
  return let_go(hit);
}

Handled BreakpointEngine::step_past(Hit& hit) {
  (void)hit.tracee->set_registers(hit.registers);
  if (!hit.thread.space->step(hit.breakpoint, hit.tracee, hit.killed)) return run_in_place(hit);
  if (hit.killed) return Gone{*hit.killed};
  if (hit.tracee->stop() != Stop{StopKind::SignalDelivery, SIGTRAP}) {
    // A signal came first, or the instruction faulted: the program's own affair.
    if (const auto now = hit.tracee->registers(); now && now->pc() == hit.breakpoint.at)
      hit.thread.replay = {now->pc(), now->sp()};
    calls_.let_go(hit.thread, hit.seen_ns, hit.opened);
    return NotOurs{*std::move(hit.tracee)};
  }
  return let_go(hit);
}

void BreakpointEngine::see_returns(Hit& hit) {
  TracedThread& caller = caller_of(hit);
  if (caller.calls.empty()) return;
  const auto ended = caller.calls.end_at_return(hit.registers.pc(), hit.registers.sp(), hit.stack,
                                                [&](TraceeAddress from) { return hit.read(from); });
  if (ended.empty()) return;
  // Before it is told: it may have been another module's function.
  for (const auto& [call, returned] : ended)
    if (returned && call.target_slot != TraceeAddress()) see_bound(hit, call);
  calls_.leave(caller, ended, hit.registers, hit.seen_ns, hit.thread.tid);
}

/// Once a function: its first call may have gone to the dynamic linker, which has bound the slot.
void BreakpointEngine::see_bound(const Hit& hit, const OpenCall& call) {
  if (call.function >= seen_bound_.size()) seen_bound_.resize(call.function + 1);
  if (seen_bound_[call.function]) return;
  seen_bound_[call.function] = true;
  if (const auto word = hit.read(call.target_slot); word != 0)
    see_target(hit, call.function, TraceeAddress(word));
}

/// The thread that has made the call which returns here, if any: on a coroutine's stack it may be
/// another one.
TracedThread& BreakpointEngine::caller_of(const Hit& hit) {
  if (hit.stack.exclusive) return hit.thread;
  const auto pc = hit.registers.pc();
  const auto slot = hit.registers.sp() + -8;
  if (hit.thread.calls.find(slot, pc) != nullptr) return hit.thread;
  for (auto& [tid, thread] : threads_)
    if (thread.space == hit.thread.space && !thread.silent &&
        thread.calls.find(slot, pc) != nullptr)
      return thread;
  return hit.thread;
}

void BreakpointEngine::see_marks(Hit& hit) {
  for (const Mark mark : hit.breakpoint.marks) {
    switch (mark) {
      case Mark::Linker:
      case Mark::Start: hit.mark = mark; break;
      case Mark::Unwinding:
        hit.thread.unwound_ns = hit.seen_ns;
        hit.thread.unwound_own_ns = hit.thread.own_ns;
        break;
      case Mark::Catch: {
        hit.thread.unwound_ns = hit.seen_ns;
        hit.thread.unwound_own_ns = hit.thread.own_ns;
        const auto ended = hit.thread.calls.end_below(
            hit.registers.sp(), hit.stack, [&](TraceeAddress from) { return hit.read(from); });
        if (!ended.empty())
          calls_.leave(hit.thread, ended, hit.registers, hit.seen_ns, hit.thread.tid);
        break;
      }
      case Mark::LongJump: see_long_jump(hit); break;
      case Mark::Begin: break; // see begin_recording
      case Mark::End: see_last_call(hit); break;
      case Mark::SetAction:
      case Mark::SetMask: see_signal_call(hit, mark); break;
    }
  }
}

void BreakpointEngine::see_long_jump(Hit& hit) {
  hit.thread.unwound_ns = hit.seen_ns;
  hit.thread.unwound_own_ns = hit.thread.own_ns;
  // The seventh word of a jmp_buf is the stack pointer: plain in musl, in glibc xored with the
  // pointer guard at fs:0x30 and rotated left by 17 (sysdeps/x86_64/jmpbuf-offsets.h,
  // pointer_guard.h).
  const auto stored = hit.read(TraceeAddress(hit.registers.arguments()[0] + 6 * 8));
  const auto guard = hit.read(TraceeAddress(hit.registers.raw().fs_base + 0x30));
  for (const std::uint64_t value : {std::rotr(stored, 17) ^ guard, stored}) {
    const TraceeAddress target(value);
    const auto& open = hit.thread.calls.all();
    // Believed only where it points into a stack that this thread has open calls on.
    const auto mapping = hit.thread.space->stacks().known(target);
    if (!mapping) continue;
    const bool plausible = std::any_of(open.begin(), open.end(), [&](const OpenCall& call) {
      return call.stack.region == mapping->region;
    });
    if (!plausible) continue;
    const auto ended = hit.thread.calls.end_below(
        target, *mapping, [&](TraceeAddress from) { return hit.read(from); });
    if (!ended.empty()) calls_.leave(hit.thread, ended, hit.registers, hit.seen_ns, hit.thread.tid);
    return;
  }
}

void BreakpointEngine::see_last_call(Hit& hit) {
  const std::uint8_t size = hit.breakpoint.call_size;
  const TraceeAddress slot = size > 0 ? hit.registers.sp() + -8 : hit.registers.sp();
  const TraceeAddress back = size > 0 ? hit.breakpoint.at + size : TraceeAddress(hit.read(slot));
  hit.thread.last_call = {back, slot};
  // Else nobody would see it return.
  if (!hit.thread.space->insert_return_site(back)) hit.mark = Mark::End;
}

void BreakpointEngine::see_signal_call(Hit& hit, Mark mark) {
  TrapGuard guard(*hit.thread.space, *hit.thread.trap, hit.thread.trap_mask);
  if (mark == Mark::SetMask) return guard.see_mask_set(hit.registers);
  hit.sets_trap_action = TrapGuard::sets_action(hit.registers);
}

void BreakpointEngine::see_probe(Hit& hit, const SiteProbe& probe) {
  const FunctionId function = hit.thread.space->current(probe.function);
  TraceeAddress slot = hit.registers.sp(); // of the return address
  TraceeAddress return_address;
  if (probe.kind == ProbeKind::Call) {
    slot = slot + -8;
    return_address = probe.at + probe.size;
  } else {
    return_address = TraceeAddress(hit.read(slot));
  }
  if (probe.only_from) {
    if (!probe.only_from->contains(return_address)) return;
    // The same call, already seen where it was made.
    if (const OpenCall* open = hit.thread.calls.find(slot, return_address))
      if (open->function == function) return;
  }
  const auto ended =
      hit.thread.calls.end_at_call(slot, return_address, probe.at, hit.stack, hit.thread.unwound_ns,
                                   [&](TraceeAddress from) { return hit.read(from); });
  if (!ended.empty()) calls_.leave(hit.thread, ended, hit.registers, hit.seen_ns, hit.thread.tid);

  OpenCall place;
  place.function = function;
  place.slot = slot;
  place.return_address = return_address;
  place.site = probe.at;
  if (probe.kind != ProbeKind::Entry) place.target_slot = probe.slot;
  place.stack = hit.stack;
  calls_.enter(hit.thread, place, hit.registers, hit.seen_ns);
  ++hit.opened;

  if (probe.kind != ProbeKind::Entry) hit.called = function;

  // Without a breakpoint there its return is lost: the call stays open in the log.
  if (!hit.thread.space->insert_return_site(return_address)) calls_.recorder().count_lost(1);
}

void BreakpointEngine::see_target(const Hit& hit, FunctionId function, TraceeAddress target) {
  auto& traced = calls_.recorder().functions().at(function);
  if (traced.last_target == target.value()) return;
  traced.last_target = target.value();
  if (!on_binding_) return;
  const FunctionId now = on_binding_(hit.thread.space->space(), function, target);
  if (now == function) return;
  hit.thread.space->rebind(function, now);
  calls_.recorder().functions().at(now).last_target = target.value();
}

/// A breakpoint is a byte, which is changed as a whole.
void BreakpointEngine::remove(const AddressSpace& space, bool /*code_is_quiet*/) {
  const auto patched = spaces_.find(&space);
  if (patched == spaces_.end()) return;
  patched->second->remove_all();
}

Settled BreakpointEngine::settle(StoppedTracee& tracee) {
  TracedThread* thread = find_thread(tracee.tid());
  if (thread == nullptr) return Settled::Leave;
  if (system_calls_ && !thread->silent && tracee.stop().kind == StopKind::Syscall)
    system_calls_->see_last(tracee, *thread);
  auto registers = tracee.registers();
  if (!registers) return Settled::Leave; // killed meanwhile
  const auto before = registers->pc() + -1;
  if (thread->space->was_at(before)) {
    if (tracee.stop() == Stop{StopKind::SignalDelivery, SIGTRAP}) {
      const auto info = tracee.signal_info();
      if (info && info->si_code == SI_KERNEL) {
        registers->set_pc(before);
        (void)tracee.set_registers(*registers);
        return Settled::LeaveWithoutSignal;
      }
    } else if (const auto status = read_task_status(tracee.tid());
               status && (status->pending & (std::uint64_t{1} << (SIGTRAP - 1))) != 0) {
      return Settled::NotYet; // the trap of a breakpoint that it has run into waits behind this
                              // stop
    }
  }
  const auto original = thread->space->original_of(registers->pc());
  if (original != registers->pc()) {
    registers->set_pc(original);
    (void)tracee.set_registers(*registers);
  }
  return Settled::Leave;
}

TraceeAddress BreakpointEngine::place_in_program(pid_t tid, TraceeAddress pc) {
  const TracedThread* thread = find_thread(tid);
  if (thread == nullptr) return pc;
  if (thread->space->was_at(pc + -1)) return pc + -1;
  return thread->space->original_of(pc);
}

std::uint64_t BreakpointEngine::cost_of_call_ns() const {
  if (calls_.stops() == 0) return 0;
  return 2 * (calls_.waited_ns() + calls_.held_ns()) / calls_.stops(); // two stops a call
}

} // namespace sonictrace
