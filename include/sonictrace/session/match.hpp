#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sonictrace/base/result.hpp"

namespace sonictrace {

struct MatchedProcess {
  pid_t pid = 0;
  std::string command_line; ///< its arguments, joined by blanks
};

/// The processes whose command line holds a match of a POSIX extended regular expression
/// (regex(7)), by pid; never this one, nor one that it descends from, which often have the
/// expression in their own command line. Fails where that is no regular expression.
Result<std::vector<MatchedProcess>> find_processes(const std::string& expression);

/// Whether there is exactly one; else the error is a text for the user: with several, a line for
/// each below the first.
Result<pid_t> choose_process(const std::vector<MatchedProcess>& found,
                             const std::string& expression);

/// For --match: both of these.
Result<pid_t> match_process(const std::string& expression);

} // namespace sonictrace
