#pragma once

#include <string>
#include <string_view>

namespace sonictrace {

/// `text` without what would act on a terminal: names of processes, files and functions are chosen
/// by others. Newlines stay, and so does UTF-8.
std::string printable(std::string_view text);

/// Writes text to stdout, to stderr, or to stderr as a line of our own (`sonictrace: LINE`). What
/// can't be written is lost, and no reason to end.
void print(std::string_view text);
void print_error(std::string_view text);
void tell(std::string_view line);

/// Gives stdin, stdout and stderr a place where one of them is closed, so that no file of ours
/// becomes one of them and gets our messages. Nothing can be written there, and a command that is
/// run finds them closed as before.
void occupy_standard_streams();

} // namespace sonictrace
