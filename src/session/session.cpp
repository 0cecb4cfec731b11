#include "sonictrace/session/session.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "session/interrupts.hpp"
#include "session/tracer.hpp"
#include "sonictrace/base/check.hpp"
#include "sonictrace/base/clock.hpp"
#include "sonictrace/engine/collector.hpp"
#include "sonictrace/engine/make_engine.hpp"
#include "sonictrace/process/launch.hpp"
#include "sonictrace/process/stop_cost.hpp"
#include "sonictrace/stream/limited_sink.hpp"

namespace sonictrace {

namespace {

/// What stops cost the tracee besides the time that they are held.
struct Latencies {
  std::uint64_t breakpoint_ns = 0;
  std::uint64_t syscall_ns = 0;

  static Latencies measure(const SessionOptions& options) {
    Latencies measured;
    // ltrace's times hold its own cost; so do ours when we stand in for it.
    if (options.ltrace) return measured;
    measured.breakpoint_ns = measure_stop_latency();
    if (options.system_calls) measured.syscall_ns = measure_syscall_stop_latency();
    return measured;
  }
};

/// Which engine records. The one place that decides. The inline one uses breakpoints where it has
/// to in a process, and says so. What ltrace shows of registers that no argument is in, and of
/// vfork and setjmp, is what breakpoints find there.
bool is_inline(const SessionOptions& options) {
  if (options.engine == SessionOptions::Engine::Auto) return !options.ltrace;
  return options.engine == SessionOptions::Engine::Inline;
}

CollectorOptions collector_options(const SessionOptions& session) {
  const RecordingOptions& recording = session.recording;
  constexpr std::uint64_t kOften = 100'000'000;    ///< for tables that are to be right
  constexpr std::uint64_t kSeldom = 1'000'000'000; ///< for whoever looks on
  CollectorOptions options;
  // Wakes the tracer from its wait. The collector has seen to a handler.
  options.wake_tracer = [tracer = ::pthread_self()] { ::pthread_kill(tracer, SIGURG); };
  options.most_calls = session.max_calls.value_or(0);
  const bool counts = recording.form == RecordingOptions::Form::Count || recording.thins;
  if (counts) options.counts_every_ns = recording.interval_ns > 0 ? kOften : kSeldom;
  return options;
}

} // namespace

struct Session::Parts {
  Parts(const SessionOptions& wanted, SelectorSet selected, Sink& to, const Latencies& latencies,
        proto::PrototypeLibrary prototypes, Window window)
      : options(wanted), selectors(std::move(selected)),
        limited(to, {wanted.max_calls, wanted.max_log_size}),
        collector(is_inline(wanted)
                      ? std::make_unique<Collector>(wanted.max_calls || wanted.max_log_size
                                                        ? static_cast<Sink&>(limited)
                                                        : to,
                                                    collector_options(wanted))
                      : nullptr),
        sink(collector ? *collector : to),
        functions(std::move(prototypes),
                  {wanted.string_limit, wanted.array_limit, wanted.captures_values}),
        recorder(functions, sink), debug_info(wanted.debug_info),
        engine(make_engine(latencies)), context{selectors,
                                                ProbePlanner(selectors, wanted.ltrace),
                                                {},
                                                recorder,
                                                ModuleBook(recorder),
                                                *engine,
                                                debug_info,
                                                Unwinder{},
                                                {},
                                                {},
                                                0,
                                                wanted.debug,
                                                std::move(window)},
        tracer(options, context, sink) {
    if (!options.cache_directory.empty()) context.images.keep_tables_in(options.cache_directory);
  }

  /// What was recorded beyond the limits, before anybody could look, is not in the log.
  void heed_limits(SessionSummary& summary) const {
    if (!collector) return;
    const bool too_many = options.max_calls && summary.calls >= *options.max_calls;
    if (too_many) summary.calls = *options.max_calls;
    if (!summary.reason.empty()) return;
    if (too_many)
      summary.reason = fmt::format("--max-calls={} reached", *options.max_calls);
    else if (options.max_log_size && sink.bytes_written() >= *options.max_log_size)
      summary.reason = fmt::format("--max-log-size={} reached", *options.max_log_size);
  }

  std::unique_ptr<Engine> make_engine(const Latencies& latencies) {
    EngineParts parts{recorder,
                      latencies.breakpoint_ns,
                      [this](const AddressSpace& space, FunctionId function, TraceeAddress target) {
                        return tracer.see_binding(space, function, target);
                      },
                      context.images,
                      options.frames,
                      latencies.syscall_ns,
                      options.recording,
                      options.python};
    if (collector) return make_inline_engine(std::move(parts), *collector);
    return make_breakpoint_engine(std::move(parts));
  }

  SessionOptions options;
  SelectorSet selectors;
  LimitedSink limited;
  std::unique_ptr<Collector> collector; ///< of the inline engine
  Sink& sink;
  FunctionTable functions;
  Recorder recorder;
  DebugInfo debug_info;
  std::unique_ptr<Engine> engine;
  ProbeContext context;
  Tracer tracer;
  InterruptWatch interrupts;
  LastWords last_words{[this] {
    tracer.abandon();
    recorder.flush();
    if (collector) collector->stop([] { return true; });
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

/// Why ltrace would say that it can't attach: it looks for the program first (a kernel thread has
/// none), then asks the kernel.
int refusal_as_ltrace(pid_t pid) {
  if (::kill(pid, 0) < 0 && errno == ESRCH) return ESRCH;
  char program[1];
  if (::readlink(fmt::format("/proc/{}/exe", pid).c_str(), program, sizeof program) < 0)
    return errno;
  return EPERM;
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
      for (const int signal : seen.terminating())
        ::kill(command, signal);
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
  auto window = Window::of(options);
  if (!window) return StartFailure{std::move(window).error(), 1};
  const auto latencies = Latencies::measure(options);

  const auto open_files = raise_open_files();
  pid_t command = 0;
  if (!options.command.empty()) {
    auto launched = launch({options.command, options.user, &signals, open_files, options.ltrace});
    if (auto* failed = std::get_if<LaunchFailure>(&launched))
      return StartFailure{std::move(failed->error), failed->exit_status, failed->fault,
                          failed->reason, std::move(failed->path)};
    command = std::get<pid_t>(launched);
  }
  std::unique_ptr<Session> session(new Session(std::make_unique<Parts>(
      options, *std::move(selectors), sink, latencies, std::move(prototypes), *std::move(window))));
  Parts& parts = *session->parts_;
  if (command != 0) parts.tracer.add_launched(command);
  for (const pid_t pid : options.attach) {
    if (auto attached = parts.tracer.add_attached(pid); !attached) {
      if (options.ltrace) { // it traces the others
        session->refused_.push_back({pid, refusal_as_ltrace(pid)});
        continue;
      }
      // It stands at its exec and has not run an instruction.
      if (command != 0) ::kill(command, SIGKILL);
      parts.tracer.leave_now();
      return StartFailure{std::move(attached).error(), 1};
    }
    if (options.ltrace && !options.follow_children) continue;
    if (!options.follow_children) {
      if (auto line = name_children(pid); !line.empty())
        parts.context.complaints.push_back(std::move(line));
      continue;
    }
    std::vector<pid_t> descendants;
    add_descendants(pid, descendants);
    for (const pid_t child : descendants) {
      // Born after its parent was seized: the parent tells of it.
      if (const auto status = read_task_status(child); status && status->tracer == ::getpid())
        continue;
      if (auto attached = parts.tracer.add_attached(child); !attached)
        parts.context.complaints.push_back(attached.error().message());
    }
  }
  return session;
}

/// Asked while the log waits for its reader: nobody is to wait for long then.
bool Session::is_told_to_end(Parts& parts) {
  const auto end = parts.tracer.command_end();
  if (end && end->kind == StopKind::Killed && (end->detail == SIGTERM || end->detail == SIGHUP))
    return true;
  const auto seen = parts.interrupts.take();
  const pid_t command = parts.tracer.command();
  const bool command_runs = command != 0 && !end;
  for (const int signal : seen.terminating())
    if (command_runs) ::kill(command, signal);
  return !seen.terminating().empty() || (command == 0 && seen.interrupt());
}

SessionEnd Session::run() {
  Parts& parts = *parts_;
  SessionEnd end;
  end.summary.reason = parts.tracer.run(parts.interrupts);
  parts.recorder.flush();
  bool told_to_leave = end.summary.reason == "interrupted" || end.summary.reason == "terminated";
  if (parts.collector)
    parts.collector->stop([&] {
      told_to_leave = told_to_leave || is_told_to_end(parts);
      return told_to_leave;
    });
  parts.engine->finish();

  auto command_end = parts.tracer.command_end();
  if (!command_end && !parts.options.command.empty())
    command_end = wait_for_command(parts.tracer.command(), parts.interrupts);
  if (command_end && command_end->kind == StopKind::Exited) end.exit_status = command_end->detail;
  if (command_end && command_end->kind == StopKind::Killed) end.killed_by = command_end->detail;

  auto& summary = end.summary;
  const bool command_was_told = end.killed_by == SIGTERM || end.killed_by == SIGHUP;
  end.in_haste = told_to_leave || command_was_told;
  summary.calls = parts.recorder.calls() + parts.engine->calls();
  parts.heed_limits(summary);
  summary.left_out = parts.engine->left_out();
  summary.lost = parts.recorder.lost() + parts.engine->lost();
  summary.modules = parts.context.book.size();
  summary.cost_ns = parts.engine->cost_of_call_ns();
  summary.engine = parts.engine->name();
  summary.time_ns = realtime_ns();
  if (summary.calls == 0 && summary.reason.empty()) summary.reason = parts.tracer.why_nothing();
  end.notes = std::move(parts.context.complaints);
  for (auto& line : parts.debug_info.take_notes())
    end.notes.push_back(std::move(line));
  for (auto& line : parts.engine->take_complaints())
    end.notes.push_back(std::move(line));
  if (!parts.options.ltrace)
    for (auto& line : parts.selectors.unmatched())
      end.notes.push_back(std::move(line));
  return end;
}

} // namespace sonictrace
