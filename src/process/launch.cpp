#include "sonictrace/process/launch.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <string_view>

#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/process/stopped_tracee.hpp"

namespace sonictrace {

const unsigned long kTraceOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                                    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |
                                    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

LaunchFailure failure(std::string text, LaunchFault fault, int reason, std::string path) {
  const int status = fault == LaunchFault::NotFound ? kNotFound : kNotExecutable;
  return {Error::saying(std::move(text)), status, fault, reason, std::move(path)};
}

/// An ELF file that this machine cannot run: exec would say ENOEXEC, and the C library would then
/// feed it to a shell.
std::string foreign_elf(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return {}; // may be executable without being readable
  std::array<unsigned char, 20> head{};
  if (::pread(file->get(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()))
    return {};
  if (std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return {};
  const int machine = head[18] | head[19] << 8;
  if (head[EI_DATA] == ELFDATA2LSB && machine == EM_X86_64) return {};
  if (head[EI_DATA] == ELFDATA2LSB && machine == EM_386)
    return fmt::format("{}: a 32-bit program; this version traces x86-64 programs only", path);
  return fmt::format("{}: a program for another machine (ELF machine {}); run sonictrace there",
                     path, head[EI_DATA] == ELFDATA2MSB ? head[18] << 8 | head[19] : machine);
}

std::variant<FoundCommand, LaunchFailure> check_command(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) < 0) {
    const int why = errno;
    const bool missing = why == ENOENT || why == ENOTDIR;
    return failure(fmt::format("{}: {}; check the name", path, std::strerror(why)),
                   missing ? LaunchFault::NotFound : LaunchFault::NotExecutable, why,
                   missing ? std::string() : path);
  }
  if (S_ISDIR(found.st_mode))
    return failure(fmt::format("{}: is a directory; name the program in it", path),
                   LaunchFault::NotExecutable, EISDIR, path);
  if (::access(path.c_str(), X_OK) < 0) {
    const int why = errno;
    return failure(fmt::format("{}: {}; is it executable (chmod +x)?", path, std::strerror(why)),
                   LaunchFault::NotExecutable, why, path);
  }
  if (auto why = foreign_elf(path); !why.empty())
    return failure(std::move(why), LaunchFault::WrongMachine, ENOEXEC, path);
  return FoundCommand{path};
}

/// Why `path` is no program that was linked dynamically; nothing where it is one, or can't be read.
std::optional<LaunchFailure> check_dynamic(const std::string& path) {
  auto file = UniqueFd::open(path.c_str(), O_RDONLY);
  if (!file) return std::nullopt;
  const auto read = [&](void* into, std::size_t size, std::uint64_t at) {
    return ::pread(file->get(), into, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
  };
  Elf64_Ehdr header{};
  if (!read(&header, EI_NIDENT, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return failure(path + ": no ELF file", LaunchFault::NotElf, ENOEXEC, path);
  if (!read(&header, sizeof header, 0) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
    return failure(path + ": a program for another machine", LaunchFault::WrongMachine, ENOEXEC,
                   path);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read(&segment, sizeof segment, header.e_phoff + i * sizeof segment)) break;
    if (segment.p_type == PT_DYNAMIC) return std::nullopt;
  }
  return failure(path + ": a static program", LaunchFault::NotDynamic, 0, path);
}

struct UserIds {
  uid_t user;
  gid_t group;
};

std::variant<UserIds, LaunchFailure> find_user(const std::string& name) {
  if (::geteuid() != 0)
    return LaunchFailure{
        Error::saying(fmt::format("-u {}: only root may run a command as somebody else", name)), 1,
        LaunchFault::NoRightToBecome};
  const passwd* entry = ::getpwnam(name.c_str());
  if (entry == nullptr)
    return LaunchFailure{Error::saying(fmt::format("-u {}: no such user; see getent passwd", name)),
                         1, LaunchFault::NoSuchUser};
  return UserIds{entry->pw_uid, entry->pw_gid};
}

/// In the child, between fork and exec. Returns only when something failed, with errno.
void become(const LaunchOptions& options, const UserIds* user, const std::string& path,
            char* const* arguments, int go) {
  char byte;
  while (::read(go, &byte, 1) < 0 && errno == EINTR) {}
  if (user != nullptr && (::initgroups(options.user.c_str(), user->group) < 0 ||
                          ::setgid(user->group) < 0 || ::setuid(user->user) < 0))
    return;
  if (options.signals != nullptr) options.signals->restore();
  if (options.open_files) ::setrlimit(RLIMIT_NOFILE, &*options.open_files);
  ::execv(path.c_str(), arguments);
  if (errno != ENOEXEC) return;
  // A script without `#!`: a shell runs it, as execvp(3) and every shell do.
  std::vector<char*> shell = {const_cast<char*>("/bin/sh"), const_cast<char*>(path.c_str())};
  for (char* const* argument = arguments + 1; *argument != nullptr; ++argument)
    shell.push_back(*argument);
  shell.push_back(nullptr);
  ::execv(shell[0], shell.data());
}

/// Signals that reach the child before its exec stop it: it is traced already. They go on.
void pass_signals_on(pid_t child) {
  siginfo_t seen{};
  // Only looked at: the stop of PTRACE_EVENT_EXEC is the session's.
  if (::waitid(P_PID, static_cast<id_t>(child), &seen, WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
    return;
  if (seen.si_pid == 0 || seen.si_status >> 8 != 0) return;
  auto stop = StoppedTracee::poll(child);
  if (!stop || !*stop || !std::holds_alternative<StoppedTracee>(**stop)) return;
  auto tracee = std::get<StoppedTracee>(std::move(**stop));
  const int signal = tracee.stop().kind == StopKind::SignalDelivery ? tracee.stop().detail : 0;
  (void)std::move(tracee).resume(signal);
}

/// Reads the errno of a failed exec. False when the pipe was closed instead: by a successful one,
/// before its PTRACE_EVENT_EXEC stop (fs/exec.c, begin_new_exec).
bool read_when_it_comes(int fd, pid_t child, int& why) {
  constexpr int kPatience = 20; // milliseconds
  for (;;) {
    pollfd wanted = {fd, POLLIN, 0};
    if (::poll(&wanted, 1, kPatience) <= 0) {
      pass_signals_on(child);
      continue;
    }
    const auto n = ::read(fd, &why, sizeof why);
    if (n < 0 && errno == EINTR) continue;
    return n == static_cast<ssize_t>(sizeof why);
  }
}

} // namespace

std::variant<FoundCommand, LaunchFailure> find_command(const std::string& command,
                                                       const char* search_path) {
  if (command.find('/') != std::string::npos) return check_command(command);
  std::optional<LaunchFailure> nearest; // found, but not executable: told if nothing better comes
  std::string_view rest = search_path != nullptr ? search_path : "/bin:/usr/bin";
  for (bool more = !command.empty(); more;) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    more = colon != std::string_view::npos;
    rest.remove_prefix(more ? colon + 1 : rest.size());
    auto checked = check_command(fmt::format("{}/{}", folder.empty() ? "." : folder, command));
    if (std::holds_alternative<FoundCommand>(checked)) return checked;
    auto& failed = std::get<LaunchFailure>(checked);
    if (failed.fault != LaunchFault::NotFound && !nearest) nearest = std::move(failed);
  }
  if (nearest) return *std::move(nearest);
  return failure(fmt::format("{}: command not found; check the name and PATH", command),
                 LaunchFault::NotFound, ENOENT, {});
}

std::optional<rlimit> raise_open_files() {
  rlimit old;
  if (::getrlimit(RLIMIT_NOFILE, &old) < 0) return std::nullopt;
  const rlimit all = {old.rlim_max, old.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &all);
  return old;
}

std::variant<pid_t, LaunchFailure> launch(const LaunchOptions& options) {
  auto found = find_command(options.command.front(), ::getenv("PATH"));
  auto* missing = std::get_if<LaunchFailure>(&found);
  const std::string path = missing ? missing->path : std::get<FoundCommand>(found).path;
  if (options.only_dynamic && !path.empty())
    if (auto refused = check_dynamic(path)) return *std::move(refused);

  std::optional<UserIds> user;
  if (!options.user.empty()) {
    auto ids = find_user(options.user);
    if (auto* failed = std::get_if<LaunchFailure>(&ids)) return std::move(*failed);
    user = std::get<UserIds>(ids);
  }
  if (missing) return std::move(*missing);

  std::vector<char*> arguments;
  for (const auto& argument : options.command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  int go[2];
  int failed[2];
  if (::pipe2(go, O_CLOEXEC) < 0) return LaunchFailure{Error::from_errno("pipe"), 1};
  UniqueFd go_read(go[0]);
  UniqueFd go_write(go[1]);
  if (::pipe2(failed, O_CLOEXEC) < 0) return LaunchFailure{Error::from_errno("pipe"), 1};
  UniqueFd failed_read(failed[0]);
  UniqueFd failed_write(failed[1]);

  const pid_t child = ::fork();
  if (child < 0) return LaunchFailure{Error::from_errno("fork"), 1};
  if (child == 0) {
    go_write = UniqueFd(); // a tracer that dies now ends the wait
    become(options, user ? &*user : nullptr, path, arguments.data(), go_read.get());
    const int why = errno;
    (void)!::write(failed_write.get(), &why, sizeof why);
    ::_exit(kNotFound);
  }

  if (auto seized = seize(child, kTraceOptions); !seized) {
    go_write = UniqueFd();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto error = Error::saying(fmt::format(
        "can't trace {}: {}; does a seccomp filter, SELinux or a container forbid ptrace?", path,
        seized.error().message()));
    return LaunchFailure{std::move(error), 1};
  }
  failed_write = UniqueFd();
  (void)!::write(go_write.get(), "g", 1);
  int why = 0;
  if (read_when_it_comes(failed_read.get(), child, why)) {
    while (auto ended = StoppedTracee::wait(child)) {
      if (std::holds_alternative<Exit>(*ended)) break;
      (void)std::get<StoppedTracee>(std::move(*ended)).resume();
    }
    return failure(fmt::format("{}: {}; can it be executed here?", path, std::strerror(why)),
                   why == ENOENT ? LaunchFault::NotFound : LaunchFault::NotExecutable, why, path);
  }
  return child;
}

} // namespace sonictrace
