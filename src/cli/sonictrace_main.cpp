#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <span>

#include "cli/conclude.hpp"
#include "cli/explain.hpp"
#include "cli/make_sink.hpp"
#include "cli/trace_options.hpp"
#include "sonictrace/proto/conf_places.hpp"
#include "sonictrace/session/doctor.hpp"
#include "sonictrace/session/match.hpp"
#include "sonictrace/session/session.hpp"

namespace sonictrace {
namespace {

void tell(const std::string& line) { fmt::print(stderr, "sonictrace: {}\n", line); }

/// The closing line goes to stderr too when somebody is there to read it, and always when it is no
/// good news.
bool deserves_stderr(const TraceOptions& options, const SessionSummary& summary) {
  if (options.quiet || options.text.ltrace || options.output.empty()) return false;
  return ::isatty(STDERR_FILENO) == 1 || summary.lost > 0 || summary.calls == 0;
}

int run(std::span<const char* const> arguments) {
  const auto signals = SignalState::capture();
  auto parsed = parse_trace_options(arguments, Terminal::of_this_process());
  if (const auto* reply = std::get_if<Reply>(&parsed)) {
    fmt::print(reply->is_error() ? stderr : stdout, "{}", reply->text);
    return reply->exit_status;
  }
  auto& options = std::get<TraceOptions>(parsed);
  for (const auto& warning : options.warnings)
    fmt::print(stderr, "{}\n", warning);
  if (options.doctor) {
    const auto report = diagnose(options.patient);
    fmt::print("{}", report.text());
    return report.can_trace() ? 0 : 1;
  }
  if (!options.match.empty()) {
    const auto pid = match_process(options.match);
    if (!pid) {
      tell(pid.error().message());
      return 1;
    }
    options.session.attach.push_back(*pid);
  }
  if (options.explain) return explain(options.session);

  auto prototypes = proto::load_prototypes({options.session.conf_files, options.session.ltrace,
                                            proto::ConfEnvironment::of_this_process()});
  if (!prototypes) {
    tell("-F " + prototypes.error().message());
    return 1;
  }
  for (const auto& error : prototypes->errors)
    fmt::print(stderr, "{}\n", error);

  auto made = make_sink(options);
  if (!made) {
    tell(made.error().message());
    return 1;
  }
  auto started = Session::start(options.session, signals, *made->sink,
                                std::move(prototypes->library));
  if (auto* failed = std::get_if<StartFailure>(&started)) {
    tell(failed->error.message());
    return failed->exit_status;
  }
  auto& session = std::get<std::unique_ptr<Session>>(started);
  const auto end = session->run();
  const auto finished = made->sink->finish(end.summary);
  if (!options.quiet)
    for (const auto& note : end.notes)
      tell(note);
  if (deserves_stderr(options, end.summary)) fmt::print(stderr, "{}\n", *made->closing_line);
  if (!finished)
    tell(finished.error().message() + "; tracing has ended there, the program went on without it");
  session.reset();
  made->sink.reset();
  if (options.session.ltrace) return finished ? 0 : 1; // whatever became of the command
  conclude(end, !finished);
}

} // namespace
} // namespace sonictrace

int main(int argc, char** argv) {
  return sonictrace::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
}
