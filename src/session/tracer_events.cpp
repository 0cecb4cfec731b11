// Births, exec and deaths of tracees.

#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "session/tracer.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

/// Whether two processes have one address space; `guess` where the kernel can't tell
/// (CONFIG_KCMP).
bool share_memory(pid_t a, pid_t b, bool guess) {
  const long order = ::syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
  return order < 0 ? guess : order == 0;
}

} // namespace

void Tracer::handle_event(StoppedTracee tracee, TraceeThread& thread) {
  switch (tracee.stop().detail) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      handle_birth(tracee, thread);
      (void)std::move(tracee).resume();
      return;
    case PTRACE_EVENT_EXEC: return handle_exec(std::move(tracee), thread);
    case PTRACE_EVENT_STOP: return resume_interrupted(std::move(tracee), thread);
    default: (void)std::move(tracee).resume(); return;
  }
}

/// Its process is attached to, and nothing is in its memory yet.
bool Tracer::is_to_begin(const TraceeThread& thread) const {
  const auto& process = *thread.process;
  return process.modules && !thread.started && !process.begun && process.modules->is_untouched();
}

/// Probes go in, once all threads of the process have stopped. Whatever the engine: what a thread
/// was already doing in clone(2) when it was seized, it does as nobody's tracee (kernel/fork.c,
/// kernel_clone asks for the events first). A child that copies the memory after that, breakpoints
/// and all, is one that nobody hears of.
void Tracer::begin_quietly(StoppedTracee tracee, TraceeThread& thread) {
  const auto process = thread.process;
  const auto modules = process->modules;
  process->begun = true;
  queue_.push_front(std::move(tracee));
  std::optional<Gathering> gathering;
  const bool quiet = gather_process(process, gathering);
  if (leaving_ || tids_in(*modules->space()).empty()) return; // ended, or another program runs
  LentTracee lent{gathering->take()};
  modules->update(Occasion::Attached, lent, quiet ? Quiet::All : Quiet::No);
  if (lent.tracee) gathering->give(*std::move(lent.tracee));
  if (lent.killed) handle_exit(*lent.killed);
  gathering.reset();
  put_in_more(process);
}

/// In stops that are short; in between the process runs for as long.
void Tracer::put_in_more(const std::shared_ptr<TracedProcess>& process) {
  const auto modules = process->modules;
  const auto space = modules->space();
  std::uint64_t pause = 1'000'000; // ns
  while (modules->has_more()) {
    for (const std::uint64_t begin = monotonic_ns(); monotonic_ns() - begin < pause;) {
      answer_queue();
      auto next = StoppedTracee::poll(-1);
      if (next && *next)
        queue_.push_back(**std::move(next));
      else
        pause_between(1);
    }
    answer_queue();
    modules->tidy();
    follow_linkers();
    if (leaving_ || tids_in(*space).empty()) return; // ended, or another program runs
    const std::uint64_t begin = monotonic_ns();
    while_stopped(*space, [&](LentTracee& lent, bool quiet) {
      modules->put_in_more(lent, quiet ? Quiet::All : Quiet::No);
    });
    pause = monotonic_ns() - begin;
  }
}

/// Stops all threads of the process, where none is in what an earlier session has left if that can
/// be had.
bool Tracer::gather_process(const std::shared_ptr<TracedProcess>& process,
                            std::optional<Gathering>& quiet) {
  const auto space = process->modules->space();
  // So long a thread waits for a tracer that is dead, and a bit.
  constexpr std::uint64_t kPatience = 2'500'000'000;
  const std::uint64_t begin = monotonic_ns();
  for (int trial = 1;; trial = std::min(trial + 1, kTrials)) {
    quiet.emplace(
        Gathering::Work{queue_, [this, space] { return tids_in(*space); },
                        [this](StoppedTracee::Outcome outcome) { dispatch(std::move(outcome)); }});
    bool all = quiet->gather();
    while (all && seize_unseen(process))
      all = quiet->gather();
    const auto tids = tids_in(*space);
    if (!all || leaving_ || tids.empty() || monotonic_ns() - begin > kPatience ||
        !context_.engine.is_in_left_code(space, tids.front()))
      return all;
    quiet.reset();
    answer_queue();
    pause_between(trial);
  }
}

/// Threads that were born so. Returns whether there were any.
bool Tracer::seize_unseen(const std::shared_ptr<TracedProcess>& process) {
  const auto threads = list_threads(process->pid);
  if (!threads) return false; // ended
  bool any = false;
  for (const pid_t tid : *threads) {
    if (tracees_.find(tid) != nullptr || !seize(tid, kTraceOptions)) continue;
    add_thread(tid, std::nullopt, process);
    any = true;
  }
  return any;
}

std::vector<pid_t> Tracer::tids_in(const AddressSpace& space) {
  std::vector<pid_t> tids;
  for (const pid_t tid : tracees_.tids())
    if (tracees_.find(tid)->process->space.get() == &space) tids.push_back(tid);
  return tids;
}

/// Also counted: those of a vfork child in the same memory.
bool Tracer::is_only_thread(const TracedProcess& process) {
  return process.threads == 1 && (!process.space || tids_in(*process.space).size() == 1);
}

void Tracer::handle_birth(const StoppedTracee& tracee, TraceeThread& parent) {
  const auto message = tracee.event_message();
  if (!message) return; // killed meanwhile; the child shows up by its own stop
  const auto child = static_cast<pid_t>(*message);
  const auto status = read_task_status(child);
  if (!status) {
    if (const auto stop = unclaimed_.find(child); stop != unclaimed_.end()) {
      (void)std::move(stop->second).resume();
      unclaimed_.erase(stop);
    }
    return; // ended already
  }
  const auto process = parent.process; // by value: the table may move
  if (status->process == process->pid) {
    add_thread(child, tracee.tid(), process);
  } else {
    const bool guess = tracee.stop().detail == PTRACE_EVENT_VFORK;
    // By the thread, not the process: its first thread may have ended, and has no memory then.
    add_child(tracee.tid(), child, process, share_memory(tracee.tid(), child, guess));
  }
  claim(child);
}

void Tracer::add_thread(pid_t tid, std::optional<pid_t> parent,
                        const std::shared_ptr<TracedProcess>& process) {
  // LTRACE: without -f the first thread only, and those that are there at an attach.
  const bool silent = process->silent || (options_.ltrace && !options_.follow_children);
  tracees_.add(tid, process).silent = silent;
  options_.debug.say(DebugLog::Processes, "process {}: thread {} begins", process->pid, tid);
  if (process->space) context_.engine.thread_started(tid, parent, process->space, silent);
  if (!silent) context_.recorder.define(ThreadStarted{process->pid, tid, realtime_ns(), false});
}

void Tracer::add_child(pid_t parent_tid, pid_t child, const std::shared_ptr<TracedProcess>& parent,
                       bool shares_memory) {
  auto process = std::make_shared<TracedProcess>();
  process->pid = child;
  const bool followed = options_.follow_children && !parent->silent && !leaving_;
  process->silent = !followed;
  if (shares_memory) {
    process->space = parent->space;
    process->modules = parent->modules;
    process->begun = parent->begun;
  } else {
    auto space = AddressSpace::open(child);
    if (space)
      process->space = *space;
    else if (!space.error().is(std::errc::no_such_file_or_directory)) // not gone already
      context_.complaints.push_back(
          fmt::format("process {} has breakpoints that can't be taken out: {}", child,
                      space.error().message()));
    if (process->space && parent->modules && followed)
      process->modules = parent->modules->copy_for(process->space);
    process->to_be_left = !followed;
  }
  tracees_.add(child, process);
  options_.debug.say(DebugLog::Processes, "process {}: born of thread {}, {}", child, parent_tid,
                     followed ? "followed" : "not followed");
  if (followed) context_.recorder.define(ThreadStarted{child, child, realtime_ns(), false});
  if (process->space && parent->space)
    context_.engine.child_born(parent_tid, child, process->space, process->silent);
  // Its memory is a copy of one with probes in it; it has not run yet.
  if (process->to_be_left && process->space) context_.engine.remove(*process->space, true);
}

/// Answers the first stop of a thread that has just been entered into the table.
void Tracer::claim(pid_t tid) {
  const auto stop = unclaimed_.find(tid);
  if (stop == unclaimed_.end()) return;
  auto tracee = std::move(stop->second);
  unclaimed_.erase(stop);
  if (TraceeThread* thread = tracees_.find(tid))
    handle_stop(std::move(tracee), *thread);
  else
    (void)std::move(tracee).resume();
}

/// A child whose parent was killed before it could tell of it.
void Tracer::adopt_unclaimed() {
  constexpr std::uint64_t kPatience = 500'000'000;
  std::vector<pid_t> late;
  for (const auto& [tid, tracee] : unclaimed_)
    if (monotonic_ns() - tracee.seen_ns() > kPatience) late.push_back(tid);
  for (const pid_t tid : late) {
    const auto status = read_task_status(tid);
    TraceeThread* relative = nullptr;
    if (status) relative = tracees_.find(status->process);
    if (relative != nullptr) add_thread(tid, std::nullopt, relative->process);
    if (relative == nullptr) {
      auto tracee = std::move(unclaimed_.at(tid));
      unclaimed_.erase(tid);
      (void)std::move(tracee).detach();
      continue;
    }
    claim(tid);
  }
}

void Tracer::handle_exec(StoppedTracee tracee, TraceeThread& thread) {
  const auto process = thread.process;
  const pid_t pid = process->pid;
  const bool is_launch = pid == command_ && !process->space;
  for (const pid_t tid : tracees_.tids_of(*process))
    context_.engine.thread_ends(tid);
  // All threads but this one are gone, without an exit of their own; one that was not the leader
  // runs on under the leader's tid (ptrace(2), "execve(2) under ptrace").
  for (const pid_t tid : tracees_.tids_of(*process))
    if (tid != pid) forget(tid);

  const bool followed = !process->silent;
  auto successor = std::make_shared<TracedProcess>();
  successor->pid = pid;
  successor->silent = process->silent;
  tracees_.remove(pid);
  context_.engine.thread_gone(pid);
  auto& entered = tracees_.add(pid, successor);
  entered.started = true;
  if (!followed) { // nothing of ours is in its new memory
    successor->to_be_left = true;
    return leave(std::move(tracee), entered);
  }

  const auto now = to_realtime(tracee.seen_ns());
  if (is_launch) {
    context_.recorder.define(ThreadStarted{pid, pid, now, is_first(pid)});
  } else {
    const auto registers = tracee.registers();
    context_.recorder.define(ProgramReplaced{pid, now, registers ? registers->pc().value() : 0});
  }
  begin_program(successor);
  (void)std::move(tracee).resume();
}

void Tracer::begin_program(const std::shared_ptr<TracedProcess>& process) {
  auto space = AddressSpace::open(process->pid);
  if (!space) return;
  process->space = *space;
  context_.engine.program_replaced(process->pid, process->space);
  if (!wants_modules()) return;
  auto modules = SpaceModules::open(context_, process->space);
  if (!modules) return complain_of_library_calls(process->pid, modules.error());
  process->modules = *std::move(modules);
  if (process->modules->is_static()) saw_static_program_ = true;
  // Not yet for remote calls: the exec is a system call that has not ended.
  LentTracee nobody;
  process->modules->watch(nobody, Quiet::All);
}

/// Whether anything is to be found out of what the program consists of.
bool Tracer::wants_modules() const {
  return options_.library_calls || options_.frames > 0 || options_.python;
}

void Tracer::complain_of_library_calls(pid_t pid, const Error& why) {
  if (options_.system_calls && !options_.library_calls) return; // none were asked for
  const std::string_view what =
      options_.system_calls ? "of its calls only system calls are traced" : "it is not traced";
  context_.complaints.push_back(fmt::format("process {}: {}: {}", pid, what, why.message()));
}

void Tracer::handle_exit(const Exit& exit) {
  if (exit.tid == command_) command_end_ = exit.stop;
  if (const auto stop = unclaimed_.find(exit.tid); stop != unclaimed_.end()) {
    (void)std::move(stop->second).resume(); // it is gone: this only ends the token
    unclaimed_.erase(stop);
  }
  TraceeThread* thread = tracees_.find(exit.tid);
  if (thread == nullptr) return;
  const auto process = thread->process;
  const bool last = process->threads == 1;
  context_.engine.settle_system_call(exit.tid, false);
  context_.engine.thread_ends(exit.tid);
  if (!process->silent && !thread->silent && process->space)
    context_.recorder.define(ThreadEnded{exit.tid, to_realtime(exit.seen_ns), exit.stop.detail,
                                         exit.stop.kind == StopKind::Killed, last});
  options_.debug.say(DebugLog::Processes, "process {}: thread {} {} {}", process->pid, exit.tid,
                     to_string(exit.stop.kind), exit.stop.detail);
  forget(exit.tid);
}

FunctionId Tracer::see_binding(const AddressSpace& space, FunctionId function,
                               TraceeAddress target) {
  for (const pid_t tid : tracees_.tids()) {
    const auto& process = *tracees_.find(tid)->process;
    if (process.space.get() == &space && process.modules)
      return process.modules->rebind(function, target);
  }
  return function;
}

void Tracer::forget(pid_t tid) {
  context_.engine.thread_gone(tid);
  tracees_.remove(tid);
}

} // namespace sonictrace
