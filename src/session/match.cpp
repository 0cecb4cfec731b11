#include "sonictrace/session/match.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <regex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <string_view>

#include "sonictrace/process/proc_files.hpp"

namespace sonictrace {
namespace {

class Regex {
public:
  static Result<Regex> compile(const std::string& expression) {
    Regex regex;
    if (const int error =
            ::regcomp(&regex.owner_->compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB)) {
      std::array<char, 200> why;
      ::regerror(error, &regex.owner_->compiled, why.data(), why.size());
      return Error::saying(fmt::format("--match={}: {}", expression, why.data()));
    }
    regex.owner_->is_compiled = true;
    return regex;
  }
  bool matches(const std::string& text) const {
    return ::regexec(&owner_->compiled, text.c_str(), 0, nullptr, 0) == 0;
  }

private:
  struct Owner {
    regex_t compiled{};
    bool is_compiled = false;
    ~Owner() {
      if (is_compiled) ::regfree(&compiled);
    }
  };
  std::unique_ptr<Owner> owner_ = std::make_unique<Owner>();
};

pid_t number_of(std::string_view text) {
  pid_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

pid_t parent_of(pid_t pid) {
  const auto status = read_file(fmt::format("/proc/{}/status", pid));
  if (!status) return 0;
  constexpr std::string_view kField = "\nPPid:\t";
  const auto at = status->find(kField);
  return at == std::string::npos ? 0
                                 : number_of(std::string_view(*status).substr(at + kField.size()));
}

/// The first `columns` characters of a line, without what would disturb a terminal.
std::string cut(std::string_view line, std::size_t columns) {
  std::string shown;
  for (const char byte : line) {
    const auto value = static_cast<unsigned char>(byte);
    const bool begins_character = (value & 0xc0) != 0x80; // UTF-8
    if (begins_character && columns-- == 0) return shown;
    shown += value < 0x20 || value == 0x7f ? '?' : byte;
  }
  return shown;
}

} // namespace

Result<std::vector<MatchedProcess>> find_processes(const std::string& expression) {
  const auto regex = Regex::compile(expression);
  if (!regex) return regex.error();
  std::vector<pid_t> ours;
  for (pid_t pid = ::getpid(); pid > 0; pid = parent_of(pid))
    ours.push_back(pid);

  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (!folder) return Error::from_errno("/proc");
  std::vector<MatchedProcess> found;
  while (const dirent* entry = ::readdir(folder.get())) {
    const pid_t pid = number_of(entry->d_name);
    if (pid <= 0 || std::find(ours.begin(), ours.end(), pid) != ours.end()) continue;
    auto line = command_line(pid);
    // Without one it is a kernel thread, or has ended.
    if (!line.empty() && regex->matches(line)) found.push_back({pid, std::move(line)});
  }
  std::sort(found.begin(), found.end(),
            [](const MatchedProcess& a, const MatchedProcess& b) { return a.pid < b.pid; });
  return found;
}

Result<pid_t> choose_process(const std::vector<MatchedProcess>& found,
                             const std::string& expression) {
  if (found.size() == 1) return found.front().pid;
  if (found.empty())
    return Error::saying(
        fmt::format("--match={}: no process has such a command line; see ps -ef", expression));
  constexpr std::size_t kColumns = 100;
  auto text = fmt::format("--match={}: {} processes match; attach to one of them with -p PID",
                          expression, found.size());
  for (const auto& process : found)
    text += fmt::format("\n{:>9} {}", process.pid, cut(process.command_line, kColumns));
  return Error::saying(std::move(text));
}

Result<pid_t> match_process(const std::string& expression) {
  const auto found = find_processes(expression);
  if (!found) return found.error();
  return choose_process(*found, expression);
}

} // namespace sonictrace
