#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sonictrace/base/result.hpp"
#include "sonictrace/process/signal_state.hpp"

namespace sonictrace {

/// What every tracee is seized with: events for children, exec and exits, and nothing that would
/// kill it with us.
extern const unsigned long kTraceOptions;

/// What was in the way, for those who have words of their own for it.
enum class LaunchFault {
  Other,
  NotFound,
  NotExecutable,
  NotElf,          ///< with LaunchOptions::only_dynamic: a script, a text, a directory
  WrongMachine,    ///< or 32 bits
  NotDynamic,      ///< with LaunchOptions::only_dynamic
  NoSuchUser,
  NoRightToBecome, ///< -u, without being root
};

/// Why a command was not started: exit 127 for one that was not found, 126 for one that can't be
/// executed, 1 for anything else, as shells do.
struct LaunchFailure {
  Error error;
  int exit_status;
  LaunchFault fault = LaunchFault::Other;
  int reason = 0;        ///< errno; 0: there is none
  std::string path = {}; ///< of the file; empty: it was not found
};

/// Where `command` is, by PATH unless it holds a slash, and that it can run here: exists, is no
/// directory, may be executed, and is no ELF file for another machine.
struct FoundCommand {
  std::string path;
};
std::variant<FoundCommand, LaunchFailure> find_command(const std::string& command,
                                                       const char* search_path);

struct LaunchOptions {
  std::vector<std::string> command; ///< not empty
  std::string user;                 ///< -u, empty: as we are
  const SignalState* signals = nullptr; ///< given back to the child
  std::optional<rlimit> open_files;     ///< RLIMIT_NOFILE, given back to the child
  bool only_dynamic = false; ///< refuse what is no dynamically linked ELF file, as ltrace does
};

/// Raises this process's own limit of open files as far as it may: each traced process takes one.
/// Returns the old one.
std::optional<rlimit> raise_open_files();

/// Forks a child, seizes it, and lets it exec. Its first stop is PTRACE_EVENT_EXEC.
std::variant<pid_t, LaunchFailure> launch(const LaunchOptions& options);

} // namespace sonictrace
