#include "session/doctor_facts.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sonictrace/elf/image.hpp"

namespace sonictrace {
namespace {

/// The text of a file in /proc or /sys without the newline at its end; empty where there is none.
std::string text_of(const std::string& path) {
  auto text = read_file(path);
  if (!text) return {};
  while (!text->empty() && (text->back() == '\n' || text->back() == '\0'))
    text->pop_back();
  return *std::move(text);
}

/// The value of a field of /proc/PID/status.
std::string_view field(std::string_view status, std::string_view name) {
  for (std::size_t at = 0; at < status.size();) {
    const auto end = std::min(status.find('\n', at), status.size());
    auto line = status.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    const auto begin = line.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
  }
  return {};
}

/// The real, effective and saved ids that a status shows are all `wanted` (ptrace(2), "Ptrace
/// access mode checking").
bool all_are(std::string_view ids, std::uint64_t wanted) {
  const auto text = fmt::format("{0}\t{0}\t{0}\t", wanted);
  return ids.starts_with(text);
}

std::uint64_t capabilities(std::string_view status, std::string_view set) {
  return std::strtoull(std::string(field(status, set)).c_str(), nullptr, 16);
}

std::string label_of(const std::string& process) {
  auto label = text_of(fmt::format("/proc/{}/attr/current", process));
  return label == "unconfined" ? std::string() : label;
}

std::string name_of(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : fmt::format("user {}", user);
}

bool same_namespace(const char* kind, pid_t pid) {
  struct stat own, its;
  const auto path = fmt::format("/proc/{}/ns/{}", pid, kind);
  const auto self = fmt::format("/proc/self/ns/{}", kind);
  // What can't be read is no reason by itself.
  if (::stat(path.c_str(), &its) < 0 || ::stat(self.c_str(), &own) < 0) return true;
  return own.st_ino == its.st_ino && own.st_dev == its.st_dev;
}

std::optional<Machine> machine_of(pid_t pid) {
  auto image = elf::Image::open(fmt::format("/proc/{}/exe", pid));
  if (!image) return std::nullopt;
  return (*image)->machine();
}

DoctorTarget look_at(pid_t pid) {
  DoctorTarget target;
  target.pid = pid;
  target.is_ourselves = pid == ::getpid();
  auto status = read_task_status(pid);
  if (!status) return target;
  target.status = *status;
  if (status->tracer != 0) target.tracer_command = command_line(status->tracer);

  const auto text = text_of(fmt::format("/proc/{}/status", pid));
  target.user = name_of(status->real_user);
  target.same_ids =
      all_are(field(text, "Uid"), ::getuid()) && all_are(field(text, "Gid"), ::getgid());
  target.has_more_capabilities =
      (capabilities(text, "CapPrm") & ~capabilities(text_of("/proc/self/status"), "CapPrm")) != 0;
  // The files in /proc/PID belong to root when the process is not dumpable (proc(5); the directory
  // itself never does): to be told only where its own user is another.
  struct stat file;
  if (::stat(fmt::format("/proc/{}/stat", pid).c_str(), &file) == 0 && status->real_user != 0)
    target.is_dumpable = file.st_uid != 0;
  target.same_user_namespace = same_namespace("user", pid);
  target.same_pid_namespace = same_namespace("pid", pid);
  target.same_mount_namespace = same_namespace("mnt", pid);
  target.label = label_of(std::to_string(pid));
  target.machine = machine_of(pid);
  const bool is_dead = status->state == 'Z' || status->state == 'X';
  if (!target.is_ourselves && !is_dead && !status->kernel_thread && status->tracer == 0)
    target.seize = try_seizing(pid);
  return target;
}

} // namespace

DoctorFacts collect_facts(std::optional<pid_t> pid) {
  DoctorFacts facts;
  facts.yama = text_of("/proc/sys/kernel/yama/ptrace_scope");
  const auto status = text_of("/proc/self/status");
  facts.has_capability = (capabilities(status, "CapEff") >> CAP_SYS_PTRACE & 1) != 0;
  // The first namespace maps all ids to themselves (user_namespaces(7)).
  std::array<unsigned long long, 3> map{};
  const auto ids = text_of("/proc/self/uid_map");
  facts.in_user_namespace =
      std::sscanf(ids.c_str(), "%llu %llu %llu", &map[0], &map[1], &map[2]) == 3 &&
      map != std::array<unsigned long long, 3>{0, 0, 0xffff'ffff};
  facts.is_root = ::geteuid() == 0;
  if (const auto own = read_task_status(::getpid())) facts.seccomp = own->seccomp;
  facts.label = label_of("self");
  facts.selinux_denies = text_of("/sys/fs/selinux/booleans/deny_ptrace").starts_with('1');
  const auto lockdown = text_of("/sys/kernel/security/lockdown");
  if (const auto begin = lockdown.find('['); begin != std::string::npos)
    facts.lockdown = lockdown.substr(begin + 1, lockdown.find(']') - begin - 1);
  facts.trial = try_tracing();
  if (pid) facts.target = look_at(*pid);
  return facts;
}

} // namespace sonictrace
