#include <array>

#include "sonicreport/command.hpp"

namespace sonictrace::sonicreport {

// A new command: a file NAME_command.cpp that defines make_NAME(), and its line here.
#define SONICREPORT_COMMANDS(COMMAND)                                                              \
  COMMAND(balance, "what was taken and not given back: malloc against free, fopen against fclose") \
  COMMAND(diff, "what changed between two versions: calls exactly, times over several runs")       \
  COMMAND(export, "records and metrics for other programs: JSON, CSV, Prometheus, OpenTelemetry")  \
  COMMAND(fingerprint, "keeps what runs of a version came to, for diff and trend")                 \
  COMMAND(flame, "a flame graph: which calls the time passed in, and inside of which others")      \
  COMMAND(gaps, "the time between two calls, and the longest times without one")                   \
  COMMAND(html, "one page with tables, flame graph and timeline")                                  \
  COMMAND(rules, "rules of thumb: locks, files read again, bursts of writes, waits, memory")       \
  COMMAND(scale, "how time per call grows with a parameter")                                       \
  COMMAND(timeline, "when which call ran: a trace for Perfetto; bursts; stages")                   \
  COMMAND(top, "where the time goes: functions, libraries, threads, stages")                       \
  COMMAND(trend, "how a program came along: one row for each version")

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
