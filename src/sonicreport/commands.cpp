#include <array>

#include "sonicreport/command.hpp"

namespace sonictrace::sonicreport {

// A new command: a file NAME_command.cpp that defines make_NAME(), and its line here.
#define SONICREPORT_COMMANDS(COMMAND)                                                              \
  COMMAND(flame, "a flame graph: which calls the time passed in, and inside of which others")      \
  COMMAND(html, "one page with tables, flame graph and timeline")                                  \
  COMMAND(timeline, "when which call ran: a trace for Perfetto; bursts; stages")                   \
  COMMAND(top, "where the time goes: functions, libraries, threads, stages")

#define DECLARE(name, summary) std::unique_ptr<Command> make_##name();
SONICREPORT_COMMANDS(DECLARE)
#undef DECLARE

std::span<const CommandEntry> all_commands() {
#define ENTRY(name, summary) CommandEntry{#name, summary, make_##name},
  static constexpr std::array kCommands = {SONICREPORT_COMMANDS(ENTRY)};
#undef ENTRY
  return kCommands;
}

} // namespace sonictrace::sonicreport
