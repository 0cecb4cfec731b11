#include "sonictrace/process/proc_files.hpp"

#include <dirent.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "sonictrace/base/unique_fd.hpp"

namespace sonictrace {
namespace {

template <class Number>
Number number_at(std::string_view text, int base = 10) {
  Number value{};
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return value;
  std::from_chars(text.data() + begin, text.data() + text.size(), value, base);
  return value;
}

} // namespace

Result<std::string> read_file(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return std::move(file).error();
  std::string text;
  std::array<char, 16384> chunk;
  for (;;) {
    const auto n = ::read(file->get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno(path);
    if (n == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

Result<TaskStatus> read_task_status(pid_t tid) {
  auto text = read_file(fmt::format("/proc/{}/status", tid));
  if (!text) return std::move(text).error();
  TaskStatus status;
  bool has_memory = false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = line.substr(0, colon);
    const auto value = line.substr(colon + 1);
    if (key == "Tgid") status.process = number_at<pid_t>(value);
    else if (key == "TracerPid") status.tracer = number_at<pid_t>(value);
    else if (key == "Uid") status.real_user = number_at<uid_t>(value);
    else if (key == "State") status.state = value.size() > 1 ? value[1] : '?';
    else if (key == "VmSize") has_memory = true;
    else if (key == "Seccomp") status.seccomp = number_at<int>(value);
    else if (key == "SigPnd") status.pending = number_at<std::uint64_t>(value, 16);
    else if (key == "SigBlk") status.blocked = number_at<std::uint64_t>(value, 16);
    else if (key == "ShdPnd") status.shared_pending = number_at<std::uint64_t>(value, 16);
    else if (key == "SigIgn") status.ignored = number_at<std::uint64_t>(value, 16);
    else if (key == "SigCgt") status.caught = number_at<std::uint64_t>(value, 16);
  }
  // A zombie has no memory either, and says so itself.
  status.kernel_thread = !has_memory && status.state != 'Z' && status.state != 'X';
  return status;
}

Result<std::vector<pid_t>> list_threads(pid_t pid) {
  const auto path = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) return Error::from_errno(path);
  std::vector<pid_t> threads;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const auto tid = number_at<pid_t>(entry->d_name); tid > 0) threads.push_back(tid);
  return threads;
}

std::vector<pid_t> list_children(pid_t pid) {
  std::vector<pid_t> children;
  const auto threads = list_threads(pid);
  if (!threads) return children;
  for (const pid_t tid : *threads) {
    const auto text = read_file(fmt::format("/proc/{}/task/{}/children", pid, tid));
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const auto word = rest.substr(0, rest.find(' '));
      if (const auto child = number_at<pid_t>(word); child > 0) children.push_back(child);
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
  }
  return children;
}

std::string command_line(pid_t pid) {
  auto text = read_file(fmt::format("/proc/{}/cmdline", pid));
  if (!text) return {};
  while (!text->empty() && text->back() == '\0')
    text->pop_back();
  std::replace(text->begin(), text->end(), '\0', ' ');
  return *std::move(text);
}

std::optional<int> core_of(pid_t tid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", tid));
  if (!text) return std::nullopt;
  // Field 39, "processor"; field 2 is a name in parentheses that may hold blanks (proc(5)).
  auto at = text->rfind(')');
  if (at == std::string::npos) return std::nullopt;
  for (int field = 2; field < 39; ++field) {
    at = text->find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  return number_at<int>(std::string_view(*text).substr(at));
}

Result<AuxiliaryVector> read_auxiliary_vector(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/auxv", pid));
  if (!text) return text.error();
  AuxiliaryVector result;
  for (std::size_t at = 0; at + 16 <= text->size(); at += 16) {
    std::uint64_t pair[2];
    std::memcpy(pair, text->data() + at, sizeof pair);
    switch (pair[0]) {
      case AT_PHDR: result.program_headers = TraceeAddress(pair[1]); break;
      case AT_PHNUM: result.program_header_count = pair[1]; break;
      case AT_BASE: result.linker_base = TraceeAddress(pair[1]); break;
      case AT_ENTRY: result.entry = TraceeAddress(pair[1]); break;
      case AT_SYSINFO_EHDR: result.vdso = TraceeAddress(pair[1]); break;
      default: break;
    }
  }
  return result;
}

} // namespace sonictrace
