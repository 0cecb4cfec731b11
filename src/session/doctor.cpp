#include "sonictrace/session/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "session/doctor_facts.hpp"
#include "sonictrace/session/explain.hpp"

namespace sonictrace {
namespace {

using Verdict = DoctorCheck::Verdict;

DoctorCheck fine(std::string subject, std::string finding) {
  return {Verdict::Fine, std::move(subject), std::move(finding), {}};
}
DoctorCheck unclear(std::string subject, std::string finding) {
  return {Verdict::Unclear, std::move(subject), std::move(finding), {}};
}
DoctorCheck bad(std::string subject, std::string finding, std::string remedy) {
  return {Verdict::Bad, std::move(subject), std::move(finding), std::move(remedy)};
}

constexpr const char* kContainer =
    "allow ptrace where this container was started: docker run --cap-add=SYS_PTRACE";

/// Whether the process could be traced by its ids alone.
bool needs_capability(const DoctorTarget& target) {
  return !target.same_ids || target.has_more_capabilities || !target.is_dumpable ||
         !target.same_user_namespace;
}

/// kernel.yama.ptrace_scope (Documentation/admin-guide/LSM/Yama.rst).
DoctorCheck judge_yama(const DoctorFacts& facts) {
  const char* subject = "Yama";
  if (facts.yama.empty()) return fine(subject, "not in this kernel");
  const auto setting = "kernel.yama.ptrace_scope is " + facts.yama;
  if (facts.yama == "0") return fine(subject, setting + ": no restriction");
  if (facts.yama == "3")
    return bad(subject, setting + ": nothing can be traced until the next boot",
               "boot with kernel.yama.ptrace_scope at 2 or less (it can't be lowered before)");
  if (facts.has_capability) return fine(subject, setting + ", which CAP_SYS_PTRACE overrides");
  const std::string remedy = "run sonictrace as root, or: sysctl kernel.yama.ptrace_scope=0";
  if (facts.yama == "2") return bad(subject, setting + ": tracing needs CAP_SYS_PTRACE", remedy);
  if (facts.target)
    return bad(subject, setting + ": only a tracer's own children can be traced", remedy);
  return fine(subject, setting + ": commands can be traced; -p needs root");
}

DoctorCheck judge_capability(const DoctorFacts& facts) {
  const char* subject = "capabilities";
  const auto where = std::string(facts.in_user_namespace ? ", within a user namespace" : "");
  if (facts.has_capability) return fine(subject, "CAP_SYS_PTRACE is there" + where);
  if (facts.target && facts.target->status && needs_capability(*facts.target))
    return unclear(subject, "no CAP_SYS_PTRACE" + where + ", which this process would need");
  return fine(subject, "no CAP_SYS_PTRACE" + where +
                           ": processes of one's own can be traced, and no others");
}

DoctorCheck judge_seccomp(const DoctorFacts& facts) {
  const char* subject = "seccomp";
  if (facts.seccomp == 0) return fine(subject, "no filter on this process");
  if (facts.trial.seize == 0) return fine(subject, "a filter, which lets ptrace pass");
  return unclear(subject, "a filter, as containers have");
}

DoctorCheck judge_security_modules(const DoctorFacts& facts) {
  const char* subject = "security modules";
  if (facts.selinux_denies)
    return bad(subject, "SELinux: the boolean deny_ptrace is on", "setsebool deny_ptrace off");
  std::string found = facts.label.empty() ? "this process is not confined"
                                          : "this process is confined: " + facts.label;
  if (facts.target && !facts.target->label.empty() && facts.target->label != facts.label)
    found += fmt::format("; process {}: {}", facts.target->pid, facts.target->label);
  if (!facts.lockdown.empty() && facts.lockdown != "none")
    found += "; kernel lockdown: " + facts.lockdown + ", which leaves ptrace alone";
  return fine(subject, found);
}

DoctorCheck judge_ptrace(const DoctorFacts& facts) {
  const char* subject = "ptrace";
  const auto& trial = facts.trial;
  if (trial.seize == 0 && trial.registers == 0)
    return fine(subject, "a child of one's own could be traced");
  const int error = trial.seize != 0 ? trial.seize : trial.registers;
  // What explains it was said before.
  const bool yama = facts.yama == "3" || (facts.yama == "2" && !facts.has_capability);
  return bad(subject, fmt::format("a child of one's own can't be traced: {}", std::strerror(error)),
             yama || facts.selinux_denies ? std::string() : kContainer);
}

DoctorCheck judge_syscall_info(const DoctorFacts& facts) {
  const char* subject = "system calls";
  if (facts.trial.syscall_info == 0) return fine(subject, "PTRACE_GET_SYSCALL_INFO works");
  return unclear(subject, fmt::format("no PTRACE_GET_SYSCALL_INFO ({}), which came with Linux 5.3: "
                                      "-S does without",
                                      std::strerror(facts.trial.syscall_info)));
}

DoctorCheck judge_memory(const DoctorFacts& facts) {
  const char* subject = "memory";
  const auto& trial = facts.trial;
  if (trial.read_memory != 0)
    return bad(subject,
               fmt::format("/proc/PID/mem can't be read: {}", std::strerror(trial.read_memory)),
               "mount /proc so that it shows one's own processes whole (hidepid, proc(5))");
  if (trial.write_code != 0)
    return bad(subject,
               fmt::format("code can't be written through /proc/PID/mem: {}",
                           std::strerror(trial.write_code)),
               "boot with proc_mem.force_override=ptrace, or always");
  if (trial.vm_read != 0)
    return unclear(subject, fmt::format("/proc/PID/mem can be read and written; "
                                        "process_vm_readv can't be used: {}",
                                        std::strerror(trial.vm_read)));
  return fine(subject, "/proc/PID/mem can be read and written, process_vm_readv works");
}

DoctorCheck judge_code_pages(const DoctorFacts& facts) {
  const char* subject = "executable pages";
  if (facts.trial.map_code == 0) return fine(subject, "can be mapped");
  return unclear(subject,
                 fmt::format("can't be mapped: {}; places in code that need one are stepped "
                             "over, which is slower",
                             std::strerror(facts.trial.map_code)));
}

DoctorCheck judge_process(const DoctorTarget& target) {
  const auto subject = fmt::format("process {}", target.pid);
  const auto& status = target.status;
  if (!status)
    return bad(subject, "there is none", "name a process that runs: see ps, or use --match");
  if (target.is_ourselves) return bad(subject, "is this very sonictrace", "name another process");
  if (status->process != target.pid)
    return bad(subject, fmt::format("is a thread of process {}", status->process),
               fmt::format("name process {}: all its threads are traced", status->process));
  if (status->kernel_thread)
    return bad(subject, "is a kernel thread",
               "name a program: a kernel thread has no library calls");
  if (status->state == 'Z' || status->state == 'X')
    return bad(subject, "has ended and waits for its parent", "name a process that runs");
  return fine(subject, "runs: " + command_line(target.pid).substr(0, 80));
}

DoctorCheck judge_tracer(const DoctorTarget& target) {
  const char* subject = "another tracer";
  if (target.status->tracer == 0) return fine(subject, "none");
  return bad(
      subject,
      fmt::format("process {} ({}) is tracing it", target.status->tracer, target.tracer_command),
      fmt::format("end process {}, which is tracing it", target.status->tracer));
}

DoctorCheck judge_user(const DoctorFacts& facts) {
  const auto& target = *facts.target;
  const char* subject = "user";
  if (target.same_ids && !target.has_more_capabilities) return fine(subject, "it is ours");
  const auto found = target.same_ids ? std::string("it is ours, but has capabilities that we lack")
                                     : fmt::format("it belongs to {}", target.user);
  if (facts.has_capability) return fine(subject, found + ", which CAP_SYS_PTRACE overrides");
  if (facts.is_root) return bad(subject, found, kContainer); // a root without the capability
  const bool helps = !target.same_ids && !target.has_more_capabilities && target.user != "root";
  return bad(subject, found,
             helps ? fmt::format("run sonictrace as {}, or as root", target.user)
                   : std::string("run sonictrace as root"));
}

DoctorCheck judge_dumpable(const DoctorFacts& facts) {
  const char* subject = "dumpable";
  if (facts.target->is_dumpable) return fine(subject, "as far as its owner in /proc tells");
  const std::string found = "it is not: it has changed its privileges, or keeps secrets (prctl(2), "
                            "PR_SET_DUMPABLE)";
  if (facts.has_capability) return fine(subject, found + ", which CAP_SYS_PTRACE overrides");
  return bad(subject, found, "run sonictrace as root");
}

DoctorCheck judge_namespaces(const DoctorFacts& facts) {
  const auto& target = *facts.target;
  std::string others;
  if (!target.same_user_namespace) others += " user";
  if (!target.same_pid_namespace) others += " pid";
  if (!target.same_mount_namespace) others += " mount";
  const char* subject = "namespaces";
  if (others.empty()) return fine(subject, "the same as ours");
  return fine(subject,
              "others than ours:" + others + "; its files are read through /proc/PID/root");
}

DoctorCheck judge_program(const DoctorTarget& target) {
  const char* subject = "program";
  if (!target.machine) return unclear(subject, "its file can't be read");
  if (*target.machine == Machine::X86_64) return fine(subject, "for x86-64");
  if (*target.machine == Machine::I386)
    return bad(subject, "a 32-bit one, whose library calls are not traced",
               "trace a 64-bit build of it; system calls only: -S -L");
  return bad(subject, "for another machine", "trace a program built for x86-64");
}

DoctorCheck judge_own_seccomp(const DoctorTarget& target) {
  const char* subject = "its seccomp";
  if (target.status->seccomp == 0) return fine(subject, "no filter");
  return unclear(subject, "it has a filter: what tracing would have it do is left undone where the "
                          "filter might refuse");
}

DoctorCheck judge_attach(const DoctorFacts& facts, bool is_explained) {
  const char* subject = "attach";
  const int error = *facts.target->seize;
  if (error == 0) return fine(subject, "it could be seized, and was let go again");
  // Root is refused in containers, everybody by security modules.
  const std::string remedy =
      facts.has_capability ? "ask what confines it: SELinux or AppArmor (see the audit log), or "
                             "a container's boundary"
                           : "run sonictrace as root";
  return bad(subject, fmt::format("refused: {}", std::strerror(error)),
             is_explained ? std::string() : remedy);
}

bool has_bad(const std::vector<DoctorCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const DoctorCheck& check) { return check.verdict == Verdict::Bad; });
}

void judge_target(const DoctorFacts& facts, std::vector<DoctorCheck>& checks) {
  const auto& target = *facts.target;
  auto process = judge_process(target);
  const bool is_there = process.verdict == Verdict::Fine;
  checks.push_back(std::move(process));
  if (!is_there) return;
  checks.push_back(judge_tracer(target));
  checks.push_back(judge_user(facts));
  checks.push_back(judge_dumpable(facts));
  checks.push_back(judge_namespaces(facts));
  checks.push_back(judge_program(target));
  checks.push_back(judge_own_seccomp(target));
  if (target.seize) checks.push_back(judge_attach(facts, has_bad(checks)));
}

/// What a trace of the process would show.
DoctorCheck look_for_calls(pid_t pid) {
  const char* subject = "what is traced";
  SessionOptions options;
  options.attach.push_back(pid);
  const auto explained = explain_session(options);
  if (const auto* failed = std::get_if<StartFailure>(&explained))
    return bad(subject, failed->error.message(), "run sonictrace as root");
  std::size_t calls = 0, modules = 0;
  for (const auto& module : std::get<Explanation>(explained).modules) {
    calls += module.calls;
    modules += module.calls != 0;
  }
  if (calls == 0)
    return unclear(subject, "no calls into shared libraries (a static program?); -x traces its own "
                            "functions, -S its system calls");
  return fine(subject, fmt::format("calls of {} functions from {} module{}; see --explain", calls,
                                   modules, modules == 1 ? "" : "s"));
}

const char* mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fine: return "ok";
    case Verdict::Bad: return "!!";
    case Verdict::Unclear: break;
  }
  return "??";
}

} // namespace

bool DoctorReport::can_trace() const { return !has_bad(checks); }

std::string DoctorReport::conclusion() const {
  // What is bad about the process itself comes before what is bad for all: nothing else helps then.
  const DoctorCheck* chosen = nullptr;
  for (const auto& check : checks) {
    if (check.verdict != Verdict::Bad || check.remedy.empty()) continue;
    if (chosen == nullptr || check.subject.starts_with("process ")) chosen = &check;
  }
  if (chosen != nullptr) return chosen->remedy;
  return can_trace() ? "nothing: it can be traced" : "unknown: see above";
}

std::string DoctorReport::text() const {
  std::string all;
  for (const auto& check : checks)
    all += fmt::format("{}  {:<17} {}\n", mark(check.verdict), check.subject, check.finding);
  return all + "to change: " + conclusion() + "\n";
}

DoctorReport judge(const DoctorFacts& facts) {
  DoctorReport report;
  report.checks = {judge_yama(facts),    judge_capability(facts),
                   judge_seccomp(facts), judge_security_modules(facts),
                   judge_ptrace(facts),  judge_syscall_info(facts),
                   judge_memory(facts),  judge_code_pages(facts)};
  if (facts.target) judge_target(facts, report.checks);
  return report;
}

DoctorReport diagnose(std::optional<pid_t> pid) {
  auto report = judge(collect_facts(pid));
  if (!report.can_trace()) return report;
  report.checks.push_back(
      pid ? look_for_calls(*pid)
          : fine("what is traced", "commands that sonictrace starts, and processes by -p: name one "
                                   "to have it looked at"));
  return report;
}

} // namespace sonictrace
