#include <unistd.h>

#include <csignal>
#include <exception>
#include <span>
#include <utility>
#include <variant>

#include "cli/conclude.hpp"
#include "cli/explain.hpp"
#include "cli/ltrace_errors.hpp"
#include "cli/make_sink.hpp"
#include "cli/tell.hpp"
#include "cli/trace_options.hpp"
#include "sonictrace/probe/image_cache.hpp"
#include "sonictrace/proto/conf_places.hpp"
#include "sonictrace/session/doctor.hpp"
#include "sonictrace/session/list_prototypes.hpp"
#include "sonictrace/session/match.hpp"
#include "sonictrace/session/session.hpp"

namespace sonictrace {
namespace {

/// The closing line goes to stderr too when somebody is there to read it, and always when it is no
/// good news.
bool deserves_stderr(const TraceOptions& options, const SessionSummary& summary) {
  if (options.quiet || options.text.ltrace || options.output.empty()) return false;
  return ::isatty(STDERR_FILENO) == 1 || summary.lost > 0 || summary.calls == 0;
}

using Started = std::variant<std::unique_ptr<Session>, StartFailure>;

// noexcept: an exception within a session must not unwind it, but end in its last words, which take
// the breakpoints out of living processes.
Started start(const TraceOptions& options, const SignalState& signals, Sink& sink,
              proto::PrototypeLibrary prototypes) noexcept {
  return Session::start(options.session, signals, sink, std::move(prototypes));
}

SessionEnd run(Session& session) noexcept { return session.run(); }

/// What is to be told when the log is complete, or never will be.
void tell_end(const TraceOptions& options, const SessionEnd& end, const Result<void>& finished,
              const std::string& closing_line) {
  if (!options.quiet)
    for (const auto& note : end.notes)
      tell(note);
  if (deserves_stderr(options, end.summary)) print_error(closing_line + "\n");
  if (!finished)
    tell(finished.error().message() + "; tracing has ended there, the program went on without it");
}

int run(std::span<const char* const> arguments) {
  const auto signals = SignalState::capture();
  occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN); // errors of write(2) instead
  std::signal(SIGXFSZ, SIG_IGN);
  auto parsed = parse_trace_options(arguments, Terminal::of_this_process());
  if (const auto* reply = std::get_if<Reply>(&parsed)) {
    (reply->is_error() ? print_error : print)(reply->text);
    return reply->exit_status;
  }
  auto& options = std::get<TraceOptions>(parsed);
  for (const auto& warning : options.warnings)
    print_error(warning + "\n");
  if (options.doctor) {
    const auto report = diagnose(options.patient);
    print(report.text());
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
  if (!options.no_cache)
    options.session.cache_directory = default_cache_directory().value_or(std::string());
  if (options.explain) return explain(options.session);

  auto prototypes = proto::load_prototypes({options.session.conf_files, options.session.ltrace,
                                            proto::ConfEnvironment::of_this_process()});
  if (!prototypes) {
    tell("-F " + prototypes.error().message());
    return 1;
  }
  for (const auto& error : prototypes->errors)
    print_error((options.session.ltrace ? without_column(error) : error) + "\n");
  if (options.list_prototypes) {
    const auto listed = list_prototypes(prototypes->library, options.listed_library);
    if (listed)
      print(*listed);
    else
      tell(listed.error().message());
    return listed ? 0 : 1;
  }

  auto made = make_sink(options);
  if (!made) {
    if (options.session.ltrace)
      print_error(made.error().message() + "\n");
    else
      tell(made.error().message());
    return 1;
  }
  auto started = start(options, signals, *made->sink, std::move(prototypes->library));
  if (auto* failed = std::get_if<StartFailure>(&started)) {
    if (options.session.ltrace) {
      print_error(as_ltrace(*failed, options.session));
      return 1;
    }
    tell(failed->error.message());
    return failed->exit_status;
  }
  auto& session = std::get<std::unique_ptr<Session>>(started);
  // ltrace attaches to the last one first.
  const auto& refused = session->refused();
  for (auto one = refused.rbegin(); one != refused.rend(); ++one)
    print_error(as_ltrace(*one));
  const auto end = run(*session);
  session.reset();
  const auto finished = finish_log(*made->sink, end);
  tell_end(options, end, finished, *made->closing_line);
  made->sink.reset();
  if (options.session.ltrace) return 0; // whatever became of the command, and of the log
  conclude(end, !finished);
}

} // namespace
} // namespace sonictrace

int main(int argc, char** argv) {
  try {
    return sonictrace::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& caught) { // of what runs before a session, or behind it
    sonictrace::tell(caught.what());
    return 1;
  }
}
