#include "session/tracer.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>

#include <set>

#include "session/look_ahead.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/attach.hpp"
#include "sonictrace/process/syscall_restart.hpp"

namespace sonictrace {

namespace {

constexpr std::uint64_t kLooks = 64; ///< stops between two looks at the log's size

} // namespace

Tracer::Tracer(const SessionOptions& options, ProbeContext& context, Sink& sink)
    : options_(options), context_(context), sink_(sink), begin_ns_(monotonic_ns()) {
  if (options_.system_calls) context_.engine.record_system_calls(options_.ltrace);
}

void Tracer::add_launched(pid_t pid) {
  command_ = pid;
  if (first_pid_ == 0) first_pid_ = pid;
  auto process = std::make_shared<TracedProcess>();
  process->pid = pid;
  tracees_.add(pid, std::move(process));
  // All else at its PTRACE_EVENT_EXEC, which is its first stop.
}

Result<void> Tracer::add_attached(pid_t pid) {
  // Its threads are to be stopped for a short time only.
  auto ahead = wants_modules() ? look_ahead(context_, pid) : nullptr;
  auto threads = attach(pid);
  if (!threads) return std::move(threads).error();
  if (first_pid_ == 0) first_pid_ = pid;
  auto process = std::make_shared<TracedProcess>();
  process->pid = pid;
  auto space = AddressSpace::open(pid);
  if (space) process->space = *space;
  std::string why;
  if (!space) {
    why = space.error().message();
  } else if (ahead && ahead->move_to(process->space)) {
    process->modules = std::move(ahead);
  } else if (wants_modules()) {
    auto modules = SpaceModules::open(context_, *space);
    if (modules)
      process->modules = *std::move(modules);
    else if (options_.system_calls)
      complain_of_library_calls(pid, modules.error());
    else
      why = modules.error().message();
  }
  process->silent = !why.empty();
  for (const pid_t tid : *threads) {
    tracees_.add(tid, process);
    if (process->space)
      context_.engine.thread_started(tid, std::nullopt, process->space, process->silent);
    if (!process->silent)
      context_.recorder.define(ThreadStarted{pid, tid, realtime_ns(), tid == first_pid_});
  }
  if (process->silent) {
    process->to_be_left = true;
    while (process->threads > 0) {
      auto outcome = StoppedTracee::wait(tracees_.tids_of(*process).front());
      if (!outcome) break;
      dispatch(*std::move(outcome));
    }
    return Error::saying(fmt::format("can't trace process {}: {}", pid, why));
  }
  return {};
}

std::string Tracer::run(InterruptWatch& interrupts) {
  while (!tracees_.empty()) {
    if (!collect()) break;
    answer_queue();
    follow_linkers();
    context_.recorder.flush_if_full(); // while the tracees run
    handle_interrupts(interrupts.take());
  }
  let_orphans_go();
  context_.recorder.flush();
  return reason_;
}

/// Waits for something to answer, or an interruption. False where no child is left (ECHILD): the
/// last tracee was reaped by an exec of another thread.
bool Tracer::collect() {
  if (!queue_.empty()) return true;
  auto next = StoppedTracee::wait_any();
  if (!next) return next.error().is(std::errc::interrupted);
  queue_.push_back(*std::move(next));
  // Everything that has happened meanwhile, before anything is answered: no thread starves.
  while (!tracees_.is_single()) {
    auto more = StoppedTracee::poll(-1);
    if (!more || !*more) break;
    queue_.push_back(**std::move(more));
  }
  return true;
}

void Tracer::answer_queue() {
  while (!queue_.empty()) {
    auto outcome = std::move(queue_.front());
    queue_.pop_front();
    dispatch(std::move(outcome));
  }
}

/// Threads that have changed their list of modules, and wait for us without a stop. The others go
/// on; they are stopped where what the new modules call has to be patched where it is called, in
/// old ones.
void Tracer::follow_linkers() {
  for (const auto& space : context_.engine.waiting_in_linker()) {
    SpaceModules* modules = modules_of(*space);
    if (modules != nullptr) modules->look_ahead(Occasion::Waiting);
    if (modules != nullptr && !modules->update_unseen()) put_in_rest(*space);
    context_.engine.let_linker_go(*space);
    if (SpaceModules* left = modules_of(*space)) left->tidy();
  }
}

void Tracer::put_in_rest(const AddressSpace& space) {
  while_stopped(space, [&](LentTracee& lent, bool quiet) {
    // Not before: the process may have ended meanwhile, or run another program.
    if (SpaceModules* const modules = modules_of(space))
      modules->update_rest(lent, quiet ? Quiet::All : Quiet::Fresh);
  });
}

/// Stops all threads of the space, lends one of them to `work`, and lets them go. `quiet`: none of
/// them runs.
void Tracer::while_stopped(const AddressSpace& space,
                           const std::function<void(LentTracee& lent, bool quiet)>& work) {
  Gathering gathering({queue_, [&] { return tids_in(space); },
                       [&](StoppedTracee::Outcome outcome) { dispatch(std::move(outcome)); }});
  const bool quiet = gathering.gather();
  LentTracee lent{gathering.take()};
  work(lent, quiet);
  if (lent.tracee) gathering.give(*std::move(lent.tracee));
  if (lent.killed) handle_exit(*lent.killed);
}

SpaceModules* Tracer::modules_of(const AddressSpace& space) {
  for (const pid_t tid : tracees_.tids()) {
    const auto& process = *tracees_.find(tid)->process;
    if (process.space.get() == &space && process.modules) return process.modules.get();
  }
  return nullptr;
}

void Tracer::dispatch(StoppedTracee::Outcome outcome) {
  if (auto* exit = std::get_if<Exit>(&outcome)) return handle_exit(*exit);
  auto tracee = std::get<StoppedTracee>(std::move(outcome));
  TraceeThread* thread = tracees_.find(tracee.tid());
  if (thread == nullptr) { // born, but the event that says of whom is still to come
    const pid_t tid = tracee.tid();
    unclaimed_.insert_or_assign(tid, std::move(tracee));
    return;
  }
  handle_stop(std::move(tracee), *thread);
}

void Tracer::handle_stop(StoppedTracee tracee, TraceeThread& thread) {
  if (leaving_ || thread.process->to_be_left) return leave(std::move(tracee), thread);
  if (!ending_ && is_to_begin(thread)) return begin_quietly(std::move(tracee), thread);
  if (options_.system_calls && context_.window.has_begun && !thread.process->silent &&
      !thread.silent)
    tracee.follow_system_calls();
  core_.saw_stop(tracee.tid());
  options_.debug.say(DebugLog::Stops, "thread {}: {} {}", tracee.tid(),
                     to_string(tracee.stop().kind), tracee.stop().detail);
  auto handled = context_.engine.handle(std::move(tracee));
  if (std::holds_alternative<Resumed>(handled)) {
    check_size_limits();
    return;
  }
  if (auto* gone = std::get_if<Gone>(&handled)) return handle_exit(gone->exit);
  if (auto* marked = std::get_if<Marked>(&handled)) return handle_mark(std::move(*marked), thread);
  handle_own_stop(std::move(std::get<NotOurs>(handled).tracee), thread);
}

void Tracer::handle_mark(Marked marked, TraceeThread& thread) {
  if (marked.mark == Mark::Begin) return begin_recording(std::move(marked.tracee));
  if (marked.mark == Mark::End) {
    // It stops again before its next instruction.
    (void)interrupt(marked.tracee.tid());
    (void)std::move(marked.tracee).resume();
    return leave_all(fmt::format("--stop-on={} reached", options_.stop_on));
  }
  LentTracee lent{std::move(marked.tracee)};
  const auto process = thread.process; // by value: the table may move
  if (const auto modules = process->modules) {
    Quiet quiet = is_only_thread(*process) ? Quiet::All : Quiet::Fresh;
    std::optional<Gathering> others;
    // It was attached to while a thread was changing the list: this is the first look at it.
    if (quiet == Quiet::Fresh && context_.engine.wants_quiet_threads() && !ending_ &&
        modules->modules().all().empty()) {
      const auto space = modules->space();
      const pid_t tid = lent.tracee->tid();
      others.emplace(
          Gathering::Work{queue_,
                          [this, space, tid] {
                            auto tids = tids_in(*space);
                            std::erase(tids, tid);
                            return tids;
                          },
                          [&](StoppedTracee::Outcome outcome) { dispatch(std::move(outcome)); }});
      if (others->gather()) quiet = Quiet::All;
    }
    modules->update(Occasion::Changed, lent, quiet);
  }
  if (lent.killed) return handle_exit(*lent.killed);
  // It may be another stop by now, after remote calls.
  if (options_.system_calls && !process->silent && !thread.silent)
    lent.tracee->follow_system_calls();
  (void)std::move(*lent.tracee).resume();
}

/// The call that --start-on is about is the next thing that this thread does.
void Tracer::begin_recording(StoppedTracee tracee) {
  const bool is_first_one = !context_.window.has_begun;
  context_.window.has_begun = true;
  if (is_first_one) (void)interrupt(tracee.tid()); // it stops again before its next instruction
  (void)std::move(tracee).resume();
  if (!is_first_one || ending_) return;
  std::set<SpaceModules*> done;
  for (const pid_t tid : tracees_.tids()) {
    const TraceeThread* thread = tracees_.find(tid);
    if (thread == nullptr) continue; // ended meanwhile
    const auto modules = thread->process->modules;
    if (!modules || !done.insert(modules.get()).second) continue;
    while_stopped(*modules->space(), [&](LentTracee& lent, bool quiet) {
      modules->begin_recording(lent, quiet ? Quiet::All : Quiet::No);
    });
  }
}

void Tracer::handle_own_stop(StoppedTracee tracee, TraceeThread& thread) {
  const bool is_exec = tracee.stop() == Stop{StopKind::PtraceEvent, PTRACE_EVENT_EXEC};
  if (!is_exec) thread.started = true; // whatever its first stop is
  switch (tracee.stop().kind) {
    case StopKind::SignalDelivery: return deliver_signal(std::move(tracee), thread);
    case StopKind::Group: (void)std::move(tracee).listen(); return;
    case StopKind::PtraceEvent: return handle_event(std::move(tracee), thread);
    case StopKind::Syscall: // of a thread that the engine does not know
    case StopKind::Exited:
    case StopKind::Killed: (void)std::move(tracee).resume(); return;
  }
}

void Tracer::deliver_signal(StoppedTracee tracee, TraceeThread& thread) {
  const int signal = tracee.stop().detail;
  const pid_t tid = tracee.tid();
  auto registers = tracee.registers();
  bool begins_anew = false;
  // A signal that the program ignores would not have woken it, had nobody traced it: the kernel
  // queues ignored signals of tracees only (kernel/signal.c, sig_ignored).
  if (registers) {
    auto changed = *registers;
    // A system call that a stop of ours has begun anew, and that this signal would have ended: it
    // must not be begun again behind the handler.
    const bool begun_anew = thread.restarted_at == registers->pc();
    if (begun_anew && !is_ignored(tid, signal)) {
      undo_restart(changed);
      (void)tracee.set_registers(changed);
    } else if (restart_interrupted_call(changed) && is_ignored(tid, signal)) {
      (void)tracee.set_registers(changed);
      begins_anew = true;
    } else {
      begins_anew = begun_anew;
    }
  }
  context_.engine.settle_system_call(tid, begins_anew);
  if (!thread.process->silent && !thread.silent && registers)
    context_.recorder.define(
        SignalDelivered{tid, to_realtime(tracee.seen_ns()), signal, registers->pc().value()});
  thread.restarted_at.reset();
  (void)std::move(tracee).resume(signal);
}

/// The end of a stop that we asked for, or of a thread's first one.
void Tracer::resume_interrupted(StoppedTracee tracee, TraceeThread& thread) {
  thread.restarted_at.reset();
  if (auto registers = tracee.registers())
    if (restart_interrupted_call(*registers)) {
      thread.restarted_at = registers->pc();
      (void)tracee.set_registers(*registers);
      context_.engine.settle_system_call(tracee.tid(), true);
    }
  (void)std::move(tracee).resume();
}

void Tracer::handle_interrupts(const Interrupts& seen) {
  if (seen.interrupt() && command_ == 0 && !leaving_) leave_all("interrupted");
  for (const int signal : seen.terminating()) {
    if (command_ != 0 && !command_end_) ::kill(command_, signal);
    if (command_ == 0 && !leaving_) leave_all("terminated");
  }
  if (!seen.tick && options_.max_calls && !leaving_) check_size_limits(); // calls need no stop
  if (!seen.tick) return;
  context_.recorder.flush();
  context_.engine.tick();
  sink_.tick(realtime_ns());
  check_limits();
  adopt_unclaimed();
}

/// At each stop, so that no more is recorded than was asked for.
void Tracer::check_size_limits() {
  if (options_.max_calls &&
      context_.recorder.calls() + context_.engine.calls() >= *options_.max_calls)
    return leave_all(fmt::format("--max-calls={} reached", *options_.max_calls));
  if (!options_.max_log_size || ++stops_since_look_ < kLooks) return;
  stops_since_look_ = 0;
  context_.recorder.flush();
  if (sink_.bytes_written() >= *options_.max_log_size)
    leave_all(fmt::format("--max-log-size={} reached", *options_.max_log_size));
}

void Tracer::check_limits() {
  if (leaving_) return;
  if (!sink_.is_healthy()) return leave_all("the log can't be written");
  stops_since_look_ = kLooks;
  check_size_limits(); // calls need no stop
  if (leaving_) return;
  if (options_.duration) {
    const auto limit = static_cast<std::uint64_t>(options_.duration->count());
    if (monotonic_ns() - begin_ns_ >= limit)
      return leave_all(fmt::format("--duration={}s is over", static_cast<double>(limit) / 1e9));
  }
}

} // namespace sonictrace
