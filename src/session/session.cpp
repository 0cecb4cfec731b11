#include "sonictrace/session/session.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>

#include "session/interrupts.hpp"
#include "session/tracer.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/engine/make_engine.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/stop_cost.hpp"

namespace sonictrace {

struct Session::Parts {
  Parts(const SessionOptions& wanted, SelectorSet selected, Sink& to, std::uint64_t latency_ns,
        proto::PrototypeLibrary prototypes)
      : options(wanted), selectors(std::move(selected)), sink(to),
        functions(std::move(prototypes),
                  {wanted.string_limit, wanted.array_limit, wanted.captures_values}),
        recorder(functions, to),
        engine(make_breakpoint_engine(
            {recorder, latency_ns,
             [this](const AddressSpace& space, FunctionId function, TraceeAddress target) {
               tracer.see_binding(space, function, target);
             },
             context.images, wanted.frames})),
        context{selectors,           ProbePlanner(selectors, wanted.ltrace), {}, recorder,
                ModuleBook(recorder), *engine, Unwinder{}, {}, {}, 0, wanted.debug},
        tracer(options, context, to) {}

  SessionOptions options;
  SelectorSet selectors;
  Sink& sink;
  FunctionTable functions;
  Recorder recorder;
  std::unique_ptr<Engine> engine;
  ProbeContext context;
  Tracer tracer;
  InterruptWatch interrupts;
  LastWords last_words{[this] {
    tracer.abandon();
    recorder.flush();
    sink.tick(realtime_ns()); // so that the log is complete
  }};
};

Session::Session(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Session::~Session() = default;

namespace {

/// Descendants that are not traced, as one line; empty where there are none.
std::string name_children(pid_t pid) {
  std::string names;
  for (const pid_t child : list_children(pid)) {
    if (!names.empty()) names += ", ";
    names += fmt::format("{} ({})", child, command_line(child));
  }
  if (names.empty()) return {};
  return fmt::format("process {} has children that are not traced without -f: {}", pid, names);
}

void add_descendants(pid_t pid, std::vector<pid_t>& all) {
  for (const pid_t child : list_children(pid)) {
    if (std::find(all.begin(), all.end(), child) != all.end()) continue;
    all.push_back(child);
    add_descendants(child, all);
  }
}

/// Waits for a command that runs on untraced, and passes signals on to it meanwhile.
Stop wait_for_command(pid_t command, InterruptWatch& interrupts) {
  for (;;) {
    auto next = StoppedTracee::wait_any();
    if (!next) {
      if (!next.error().is(std::errc::interrupted)) return {StopKind::Exited, 0};
      const auto seen = interrupts.take();
      if (seen.terminate) ::kill(command, seen.signal);
      continue;
    }
    if (const auto* exit = std::get_if<Exit>(&*next)) {
      if (exit->tid == command) return exit->stop;
    } else {
      (void)std::move(std::get<StoppedTracee>(*next)).detach();
    }
  }
}

} // namespace

std::variant<std::unique_ptr<Session>, StartFailure>
Session::start(const SessionOptions& options, const SignalState& signals, Sink& sink,
               proto::PrototypeLibrary prototypes) {
  auto selectors = SelectorSet::parse(options.selectors);
  if (!selectors) return StartFailure{std::move(selectors).error(), 1};
  // ltrace's times hold its own cost; so do ours when we stand in for it.
  const auto latency_ns = options.ltrace ? 0 : measure_stop_latency();

  const auto open_files = raise_open_files();
  pid_t command = 0;
  if (!options.command.empty()) {
    auto launched = launch({options.command, options.user, &signals, open_files});
    if (auto* failed = std::get_if<LaunchFailure>(&launched))
      return StartFailure{std::move(failed->error), failed->exit_status};
    command = std::get<pid_t>(launched);
  }
  std::unique_ptr<Session> session(
      new Session(std::make_unique<Parts>(options, *std::move(selectors), sink, latency_ns,
                                          std::move(prototypes))));
  Parts& parts = *session->parts_;
  if (command != 0) parts.tracer.add_launched(command);
  for (const pid_t pid : options.attach) {
    if (auto attached = parts.tracer.add_attached(pid); !attached) {
      // It stands at its exec and has not run an instruction.
      if (command != 0) ::kill(command, SIGKILL);
      parts.tracer.leave_now();
      return StartFailure{std::move(attached).error(), 1};
    }
    if (!options.follow_children) {
      if (auto line = name_children(pid); !line.empty())
        parts.context.complaints.push_back(std::move(line));
      continue;
    }
    std::vector<pid_t> descendants;
    add_descendants(pid, descendants);
    for (const pid_t child : descendants)
      if (auto attached = parts.tracer.add_attached(child); !attached)
        parts.context.complaints.push_back(attached.error().message());
  }
  return session;
}

SessionEnd Session::run() {
  Parts& parts = *parts_;
  SessionEnd end;
  end.summary.reason = parts.tracer.run(parts.interrupts);
  parts.recorder.flush();

  auto command_end = parts.tracer.command_end();
  if (!command_end && !parts.options.command.empty())
    command_end = wait_for_command(parts.tracer.command(), parts.interrupts);
  if (command_end && command_end->kind == StopKind::Exited) end.exit_status = command_end->detail;
  if (command_end && command_end->kind == StopKind::Killed) end.killed_by = command_end->detail;

  auto& summary = end.summary;
  summary.calls = parts.recorder.calls();
  summary.lost = parts.recorder.lost();
  summary.modules = parts.context.book.size();
  summary.cost_ns = parts.engine->cost_of_call_ns();
  summary.engine = "breakpoint";
  summary.time_ns = realtime_ns();
  if (summary.calls == 0 && summary.reason.empty()) summary.reason = parts.tracer.why_nothing();
  end.notes = std::move(parts.context.complaints);
  if (!parts.options.ltrace)
    for (auto& line : parts.selectors.unmatched())
      end.notes.push_back(std::move(line));
  return end;
}

} // namespace sonictrace
