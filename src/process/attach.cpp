#include "sonictrace/process/attach.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

constexpr const char* kYama = "/proc/sys/kernel/yama/ptrace_scope";

AttachRefusal facts(pid_t pid, int error) {
  AttachRefusal refusal;
  refusal.pid = pid;
  refusal.error = error;
  refusal.we_are_root = ::geteuid() == 0;
  if (const auto status = read_task_status(pid)) {
    refusal.other_tracer = status->tracer;
    if (status->tracer != 0) refusal.other_tracer_name = command_line(status->tracer);
    refusal.kernel_thread = status->kernel_thread;
    refusal.own_user = status->real_user == ::getuid();
  }
  if (auto yama = read_file(kYama)) {
    refusal.yama = *std::move(yama);
    while (!refusal.yama.empty() && refusal.yama.back() == '\n')
      refusal.yama.pop_back();
  }
  return refusal;
}

bool now_is_dead(pid_t tid) {
  const auto status = read_task_status(tid);
  return !status || status->state == 'Z' || status->state == 'X';
}

} // namespace

std::string explain(const AttachRefusal& refusal) {
  const auto head = fmt::format("can't attach to process {}: ", refusal.pid);
  if (refusal.error == ESRCH) return head + "no such process; see ps";
  if (refusal.kernel_thread) return head + "it is a kernel thread, which has no library calls";
  if (refusal.other_tracer != 0)
    return head + fmt::format("process {} ({}) is tracing it already; end that first",
                              refusal.other_tracer, refusal.other_tracer_name);
  if (!refusal.yama.empty() && refusal.yama != "0" && !refusal.we_are_root) {
    if (refusal.yama == "3")
      return head + "kernel.yama.ptrace_scope is 3, which forbids it until the next boot";
    return head + fmt::format("kernel.yama.ptrace_scope is {}, which lets a tracer attach only to "
                              "its own children; run as root, or: sysctl kernel.yama.ptrace_scope=0",
                              refusal.yama);
  }
  if (refusal.yama == "3")
    return head + "kernel.yama.ptrace_scope is 3, which forbids it until the next boot";
  if (!refusal.own_user && !refusal.we_are_root)
    return head + "it belongs to another user; run sonictrace as that user, or as root";
  if (refusal.we_are_root)
    return head + fmt::format("{}; does a container, SELinux or AppArmor forbid it "
                              "(CAP_SYS_PTRACE)?",
                              std::strerror(refusal.error));
  return head + fmt::format("{}; a program with raised privileges or one that is not dumpable can "
                            "be traced by root only",
                            std::strerror(refusal.error));
}

Result<std::vector<pid_t>> attach(pid_t pid) {
  const auto status = read_task_status(pid);
  if (!status) return Error::saying(explain(facts(pid, ESRCH)));
  if (status->process != pid)
    return Error::saying(fmt::format("can't attach to process {}: it is a thread of process {}; "
                                     "name that",
                                     pid, status->process));
  if (status->kernel_thread) return Error::saying(explain(facts(pid, EPERM)));
  if (status->state == 'Z')
    return Error::saying(fmt::format("can't attach to process {}: it has ended already and waits "
                                     "for its parent",
                                     pid));

  std::vector<pid_t> seized;
  // A thread can be born while we look, by one that is not yet seized: look until nothing is new.
  for (bool found_new = true; found_new;) {
    found_new = false;
    auto threads = list_threads(pid);
    if (!threads) break;
    for (const pid_t tid : *threads) {
      if (std::find(seized.begin(), seized.end(), tid) != seized.end()) continue;
      if (auto done = seize(tid, kTraceOptions); !done) {
        if (done.error().is(std::errc::no_such_process)) continue; // it ended meanwhile
        if (now_is_dead(tid)) continue;
        // Born of a thread that was seized: the kernel has attached it (PTRACE_O_TRACECLONE).
        const auto now = read_task_status(tid);
        if (now && now->tracer == ::getpid()) {
          seized.push_back(tid);
          continue;
        }
        const int why = static_cast<int>(done.error().code());
        auto error = Error::saying(explain(facts(tid == pid ? pid : tid, why)));
        for (const pid_t mine : seized) { // leave nothing behind
          (void)interrupt(mine);
          auto stopped = StoppedTracee::wait(mine);
          if (stopped)
            if (auto* tracee = std::get_if<StoppedTracee>(&*stopped))
              (void)std::move(*tracee).detach(
                  tracee->stop().kind == StopKind::SignalDelivery ? tracee->stop().detail : 0);
        }
        return error;
      }
      seized.push_back(tid);
      (void)interrupt(tid);
      found_new = true;
    }
  }
  if (seized.empty()) return Error::saying(explain(facts(pid, ESRCH)));
  return seized;
}

} // namespace sonictrace
