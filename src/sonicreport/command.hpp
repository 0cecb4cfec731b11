#pragma once

#include <memory>
#include <span>

#include "sonictrace/base/result.hpp"

namespace CLI {
class App;
}

namespace sonictrace::sonicreport {

/// How sonicreport ends (sonicreport(1)).
enum ExitStatus : int {
  kOk = 0,
  kGateFailed = 1,   ///< a regression, a gap over its limit, a rule that was hit
  kUnusable = 2,     ///< usage, or a log that can't be read
  kPoorCoverage = 3, ///< too many lines that could not be used
  kExportFailed = 4, ///< a target failed, or records were dropped
};

/// One command of sonicreport: its options, and what it does. One file each.
class Command {
public:
  virtual ~Command() = default;
  /// Adds its options to `app`, which fills this object when it parses.
  virtual void add_options(CLI::App& app) = 0;
  /// An ExitStatus; an Error is printed as one line and ends with kUnusable.
  virtual Result<int> run() = 0;
};

struct CommandEntry {
  const char* name;
  const char* summary; ///< what it answers, for --help
  std::unique_ptr<Command> (*make)();
};

/// All of them, in the order of --help.
std::span<const CommandEntry> all_commands();

} // namespace sonictrace::sonicreport
