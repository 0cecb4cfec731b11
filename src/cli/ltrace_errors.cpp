#include "cli/ltrace_errors.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonictrace {
namespace {

/// The end of every failed start. ltrace names the child that could not exec; nobody can do
/// anything with its number, and here there is none.
std::string not_initialized(const std::string& command) {
  return fmt::format("failed to initialize process {}: {}\ncouldn't open program '{}': {}\n",
                     ::getpid(), std::strerror(ENOENT), command, std::strerror(ENOENT));
}

} // namespace

std::string as_ltrace(const StartFailure& failure, const SessionOptions& options) {
  const std::string command = options.command.empty() ? std::string() : options.command.front();
  switch (failure.fault) {
    case LaunchFault::NotFound:
    case LaunchFault::NotExecutable:
      return fmt::format("Can't execute `{}': {}\n", command, std::strerror(failure.reason)) +
             not_initialized(command);
    case LaunchFault::NotElf: return fmt::format("\"{}\" is not an ELF file\n", failure.path);
    case LaunchFault::WrongMachine:
      return fmt::format("\"{}\" is ELF from incompatible architecture\n", failure.path);
    case LaunchFault::NotDynamic:
      return fmt::format("Couldn't find .dynsym or .dynstr in \"/proc/{}/exe\"\n", ::getpid());
    case LaunchFault::NoSuchUser:
      return fmt::format("cannot find user `{}'\n", options.user) + not_initialized(command);
    case LaunchFault::NoRightToBecome:
      return "you must be root to use the -u option\n" + not_initialized(command);
    case LaunchFault::Other: break;
  }
  return fmt::format("sonictrace: {}\n", failure.error.message());
}

std::string as_ltrace(const RefusedAttach& refused) {
  return fmt::format("Cannot attach to pid {}: {}\n", refused.pid, std::strerror(refused.reason));
}

std::string without_column(const std::string& error) {
  const auto end = error.find(": error:");
  if (end == std::string::npos) return error;
  const auto column = error.rfind(':', end - 1);
  const auto is_number = [&](std::size_t from, std::size_t to) {
    return from < to && error.find_first_not_of("0123456789", from) >= to;
  };
  if (column == std::string::npos || !is_number(column + 1, end)) return error;
  const auto line = error.rfind(':', column - 1);
  if (column == 0 || line == std::string::npos || !is_number(line + 1, column)) return error;
  return error.substr(0, column) + error.substr(end);
}

} // namespace sonictrace
