#include "session/gathering.hpp"

#include <sys/ptrace.h>

#include <algorithm>
#include <ctime>

#include "sonictrace/base/clock.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

/// In it a thread has no signal and no system call under way that an answer would have to care for.
bool can_be_held(const StoppedTracee& tracee) {
  return tracee.stop().kind == StopKind::Group ||
         tracee.stop() == Stop{StopKind::PtraceEvent, PTRACE_EVENT_STOP};
}

pid_t tid_of(const StoppedTracee::Outcome& outcome) {
  if (const auto* exit = std::get_if<Exit>(&outcome)) return exit->tid;
  return std::get<StoppedTracee>(outcome).tid();
}

void pause_for(std::uint64_t ns) {
  const timespec time = {0, static_cast<long>(ns)};
  ::nanosleep(&time, nullptr);
}

} // namespace

Gathering::~Gathering() {
  for (auto& [tid, tracee] : held_)
    work_.queue.emplace_front(std::move(tracee));
}

bool Gathering::gather() {
  constexpr std::uint64_t kPatience = 5'000'000'000; ///< for a thread that gets no core to stop on
  constexpr std::uint64_t kMostUsual = 20'000'000;   ///< that a thread takes to stop
  const std::uint64_t begin = monotonic_ns();
  for (std::uint64_t pause = 20'000;;) {
    auto threads = work_.threads();
    const std::unordered_set<pid_t> wanted(threads.begin(), threads.end());
    sort_queue(wanted);
    // Before they are asked: one that is stopped already would stop once more when it is let go.
    (void)take_new(wanted);
    threads = work_.threads();
    ask(threads);
    const std::uint64_t waited = monotonic_ns() - begin;
    const bool all = std::all_of(threads.begin(), threads.end(),
                                 [&](pid_t tid) { return is_quiet(tid, waited > kMostUsual); });
    // One that was seen to be stopped has a stop to be taken.
    if (take_new(wanted)) continue;
    if (all) return true;
    if (waited > kPatience) return false;
    pause_for(pause);
    pause = std::min<std::uint64_t>(2 * pause, 1'000'000);
  }
}

/// What has happened by now. Returns whether there was anything.
bool Gathering::take_new(const std::unordered_set<pid_t>& wanted) {
  bool any = false;
  for (;;) {
    auto next = StoppedTracee::poll(-1);
    if (!next || !*next) return any;
    any = true;
    see(**std::move(next), wanted);
  }
}

void Gathering::ask(const std::vector<pid_t>& threads) {
  for (const pid_t tid : threads)
    if (asked_.insert(tid).second && !held_.contains(tid)) (void)interrupt(tid);
}

void Gathering::sort_queue(const std::unordered_set<pid_t>& wanted) {
  StopQueue all;
  all.swap(work_.queue);
  for (auto& outcome : all)
    see(std::move(outcome), wanted);
}

void Gathering::see(StoppedTracee::Outcome outcome, const std::unordered_set<pid_t>& wanted) {
  const pid_t tid = tid_of(outcome);
  if (!wanted.contains(tid)) {
    work_.queue.push_back(std::move(outcome));
    return;
  }
  // It was killed in the stop that we hold; or another thread's exec has taken over its number.
  if (const auto before = held_.find(tid); before != held_.end()) {
    std::move(before->second).lapse();
    held_.erase(before);
  }
  auto* tracee = std::get_if<StoppedTracee>(&outcome);
  if (tracee != nullptr && can_be_held(*tracee)) {
    held_.emplace(tid, std::move(*tracee));
    return;
  }
  // A stop takes back that another one was asked for (ptrace(2), PTRACE_INTERRUPT). Asked again
  // now, it stops before it gets back into the program.
  if (tracee != nullptr) (void)interrupt(tid);
  work_.answer(std::move(outcome));
}

bool Gathering::is_quiet(pid_t tid, bool has_waited) const {
  if (held_.contains(tid)) return true;
  if (!asked_.contains(tid)) return false;
  const auto status = read_task_status(tid);
  if (!status) return true;
  switch (status->state) {
    case 'Z':
    case 'X': return true;
    // In the kernel, where it has been told: it stops before it leaves it. That may be long after,
    // in a vfork(2); mostly it is soon.
    case 'D':
    case 't':
    case 'T': return has_waited;
    default: return false;
  }
}

std::optional<StoppedTracee> Gathering::take() {
  auto best = held_.begin();
  for (auto at = held_.begin(); at != held_.end(); ++at)
    if (at->second.stop().kind == StopKind::PtraceEvent) best = at;
  if (best == held_.end()) return std::nullopt;
  // The first thread has the stack that is known best (process/remote_call.hpp).
  if (const auto status = read_task_status(best->first))
    if (const auto first = held_.find(status->process);
        first != held_.end() && first->second.stop().kind == StopKind::PtraceEvent)
      best = first;
  std::optional<StoppedTracee> taken(std::move(best->second));
  held_.erase(best);
  return taken;
}

void Gathering::give(StoppedTracee tracee) {
  const pid_t tid = tracee.tid();
  held_.emplace(tid, std::move(tracee));
}

} // namespace sonictrace
