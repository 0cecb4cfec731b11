#include "cli/trace_options.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/quantity.hpp"
#include "cli/typed_options.hpp"
#include "cli/version.hpp"
#include "sonictrace/probe/selector.hpp"

namespace sonictrace {

namespace {

// More would only fill lines with blanks.
constexpr std::int64_t kMostColumns = 4096;
// What a captured field can hold: its size has 16 bits, 16 bytes of them are not text.
constexpr std::int64_t kLongestString = 65519;
constexpr std::int64_t kMostElements = 1000;
constexpr std::int64_t kMostFrames = 256;
constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

/// One of our own errors.
Reply failed(std::string_view text) { return {fmt::format("sonictrace: {}\n", text), 1}; }

/// One of those of ltrace's that end with a hint. `name` is the one we were started under.
Reply failed_as_ltrace(std::string_view name, std::string_view text) {
  return {fmt::format("{0}: {1}\nTry `{0} --help' for more information.\n", name, text), 1};
}

Reply refused(const Arguments& arguments) {
  const std::string& option = arguments.faulty;
  switch (arguments.fault) {
    case Arguments::Fault::None: break;
    case Arguments::Fault::UnknownOption:
      return failed(option + ": no such option; see sonictrace --help");
    case Arguments::Fault::AmbiguousOption:
      return failed(fmt::format("{}: begins more than one option: {}", option,
                                fmt::join(arguments.possibilities, ", ")));
    case Arguments::Fault::ValueMissing:
      return failed(option + ": needs a value; see sonictrace --help");
    case Arguments::Fault::ValueNotAllowed:
      return failed(option + ": takes no value; leave out = and what follows");
  }
  return {};
}

Reply refused_as_ltrace(std::string_view name, const Arguments& arguments) {
  const std::string& option = arguments.faulty;
  const bool is_short = option.size() == 2;
  switch (arguments.fault) {
    case Arguments::Fault::None: break;
    case Arguments::Fault::UnknownOption:
      return failed_as_ltrace(name, is_short ? fmt::format("invalid option -- '{}'", option[1])
                                             : fmt::format("unrecognized option '{}'", option));
    case Arguments::Fault::AmbiguousOption:
      return failed_as_ltrace(name, fmt::format("option '{}' is ambiguous; possibilities: '{}'",
                                                option, fmt::join(arguments.possibilities, "' '")));
    case Arguments::Fault::ValueMissing:
      return failed_as_ltrace(
          name, is_short ? fmt::format("option requires an argument -- '{}'", option[1])
                         : fmt::format("option '{}' requires an argument", option));
    case Arguments::Fault::ValueNotAllowed:
      return failed_as_ltrace(name, fmt::format("option '{}' doesn't allow an argument", option));
  }
  return {};
}

/// Turns what was typed into options. The first thing that is wrong becomes the reply.
class Reader {
public:
  Reader(const TypedOptions& typed, std::string_view name, bool ltrace)
      : typed_(typed), name_(name), ltrace_(ltrace) {}

  std::variant<TraceOptions, Reply> read(std::vector<std::string> command,
                                         const Terminal& terminal) {
    options_.session.command = std::move(command);
    options_.text.align = terminal.default_align();
    read_numbers();
    read_session();
    read_text();
    read_counting();
    read_doctor();
    read_list();
    check_combinations();
    check_forms();
    read_selectors();
    set_recording();
    if (reply_) return *std::move(reply_);
    return std::move(options_);
  }

private:
  void fail(Reply reply) {
    if (!reply_) reply_ = std::move(reply);
  }

  /// A number that ltrace takes too, and then in its way.
  template <class Number>
  void read_number(const char* option, const std::optional<std::string>& typed, std::int64_t least,
                   std::int64_t most, Number& into) {
    if (!typed) return;
    auto value = parse_integer(*typed);
    const bool has_limit = most == kMostIndent || !ltrace_;
    if (value && !has_limit) value = std::min(*value, most);
    if (value && *value >= least && *value <= most) {
      into = static_cast<Number>(*value);
    } else if (ltrace_) {
      const std::string range =
          has_limit ? fmt::format("{}..{}", least, most) : fmt::format(">={}", least);
      fail({fmt::format("Invalid argument to {}: '{}'.  Use integer {}.\n", option, *typed, range),
            1});
    } else if (most == kAnyNumber) {
      fail(failed(fmt::format("{} '{}': not a whole number from {} on", option, *typed, least)));
    } else {
      fail(failed(
          fmt::format("{} '{}': not a whole number from {} to {}", option, *typed, least, most)));
    }
  }

  std::optional<std::chrono::nanoseconds> duration(const char* option,
                                                   const std::optional<std::string>& typed) {
    if (!typed) return std::nullopt;
    const auto value = parse_duration(*typed);
    if (!value)
      fail(failed(fmt::format(
          "{} '{}': not a duration; give a number with its unit, as 10us, 1ms, 0.5s, 2m", option,
          *typed)));
    return value;
  }

  void read_numbers() {
    for (const std::string& typed : typed_.attach) {
      pid_t pid = 0;
      read_number("-p", typed, 1, std::numeric_limits<pid_t>::max(), pid);
      options_.session.attach.push_back(pid);
    }
    read_number("-a", typed_.align, 0, kMostColumns, options_.text.align);
    read_number("-n", typed_.indent, 0, kMostIndent, options_.text.indent);
    read_number("-s", typed_.string_limit, 0, kLongestString, options_.text.string_limit);
    options_.text.whole_paths = !typed_.string_limit;
    options_.session.string_limit = options_.text.string_limit;
    read_number("-A", typed_.array_limit, 0, kMostElements, options_.session.array_limit);
    if (typed_.frames) read_number("-w", typed_.frames, 1, kMostFrames, options_.session.frames);
    read_number("--max-depth", typed_.max_depth, 1, std::numeric_limits<std::int32_t>::max(),
                options_.text.max_depth);
  }

  void read_session() {
    SessionOptions& session = options_.session;
    session.ltrace = ltrace_;
    // A table has no lines that would have to tell processes apart.
    session.follow_children = typed_.follow || (typed_.count && !typed_.attach.empty() && !ltrace_);
    session.user = typed_.user.value_or("");
    session.conf_files = typed_.conf_files;
    DebugInfoOptions& debug_info = session.debug_info;
    debug_info.is_used = !typed_.no_debug_info && !session.ltrace;
    debug_info.may_fetch = true;
    debug_info.directories.insert(debug_info.directories.begin(), typed_.debug_directories.begin(),
                                  typed_.debug_directories.end());
    session.system_calls = typed_.system_calls;
    session.python = typed_.python;
    session.captures_values = !typed_.count;
    read_debug();
    if (typed_.user && typed_.user->empty()) fail(failed("-u '': not the name of a user"));
    if (typed_.engine == "inline") {
      session.engine = SessionOptions::Engine::Inline;
    } else if (typed_.engine == "breakpoint") {
      session.engine = SessionOptions::Engine::Breakpoint;
    } else if (typed_.engine && typed_.engine != "auto") {
      fail(failed(fmt::format("--engine '{}': no such engine; there are auto, breakpoint, inline",
                              *typed_.engine)));
    }
    session.duration = duration("--duration", typed_.duration);
    if (typed_.max_calls)
      read_number("--max-calls", typed_.max_calls, 1, kAnyNumber, session.max_calls.emplace());
    if (typed_.max_log_size) {
      session.max_log_size = parse_size(*typed_.max_log_size);
      if (!session.max_log_size)
        fail(failed(fmt::format("--max-log-size '{}': not a size; give bytes, or a number with K, "
                                "M, G or T behind it, as 64K, 100M",
                                *typed_.max_log_size)));
    }
  }

  void read_debug() {
    if (!typed_.debug) return;
    if (*typed_.debug == "h") return fail({DebugLog::help(), 0});
    const auto debug = DebugLog::parse(*typed_.debug);
    if (debug)
      options_.session.debug = *debug;
    else if (ltrace_)
      fail(failed_as_ltrace(name_, "--debug requires an octal argument"));
    else
      fail(failed(fmt::format("-D '{}': not an octal number; -Dh lists the bits", *typed_.debug)));
  }

  void read_counting() {
    options_.count = typed_.count;
    options_.percentiles = typed_.percentiles;
    options_.interval = duration("--interval", typed_.interval);
    if (options_.interval && options_.interval->count() == 0)
      fail(failed("--interval=0: a table after no time; give a duration, as 5s"));
    if (!typed_.count && typed_.percentiles)
      fail(failed("--percentiles without -c: it adds columns to the table of -c; give both"));
    if (!typed_.count && typed_.interval)
      fail(failed("--interval without -c: it is the time between two tables; give both"));
  }

  /// What would be a promise that is not kept.
  void check_forms() {
    const char* json = "--output-format=json";
    const bool thins = typed_.thin_after && options_.text.thin_after != 0;
    if (typed_.count && typed_.sample)
      fail(failed("--sample with -c: a table counts every call; leave one of them out"));
    if (typed_.count && thins)
      fail(failed("--thin-after with -c: a table does not grow; leave one of them out"));
    if (options_.json && thins)
      fail(failed(fmt::format("--thin-after with {}: such a log is never thinned; leave it out, or "
                              "bound the log with --max-log-size",
                              json)));
    if (typed_.count && typed_.frames && !ltrace_)
      fail(failed("-w with -c: a table has no room for stacks; leave one of them out"));
    if (typed_.count && typed_.python)
      fail(failed("--python with -c: a table has no room for places; leave one of them out"));
    if (options_.json && typed_.split_lines)
      fail(failed(fmt::format("--split-lines with {}: an object is a whole call; leave one of them "
                              "out",
                              json)));
  }

  void read_doctor() {
    options_.doctor = typed_.doctor;
    options_.match = typed_.match.value_or("");
    if (typed_.match && typed_.match->empty())
      fail(failed("--match '': every process would match; give a part of its command line"));
    if (!typed_.doctor) return;
    auto& command = options_.session.command;
    if (!typed_.attach.empty()) options_.patient = options_.session.attach.front();
    if (command.empty()) return;
    const auto pid = parse_integer(command.front());
    if (command.size() > 1 || !pid || *pid < 1 || *pid > std::numeric_limits<pid_t>::max())
      return fail(failed(fmt::format("--doctor '{}': give the number of a process, or nothing",
                                     fmt::join(command, " "))));
    options_.patient = static_cast<pid_t>(*pid);
    command.clear();
  }

  void read_list() {
    options_.list_prototypes = typed_.list_prototypes;
    if (!typed_.list_prototypes) return;
    auto& command = options_.session.command;
    if (command.size() > 1)
      return fail(failed(fmt::format("--list-prototypes '{}': give one library, or nothing",
                                     fmt::join(command, " "))));
    if (!command.empty()) options_.listed_library = command.front();
    command.clear();
  }

  void read_text() {
    TextOptions& text = options_.text;
    options_.quiet = typed_.quiet;
    options_.explain = typed_.explain;
    options_.no_cache = typed_.no_cache;
    read_output();
    const bool to_file = typed_.output.has_value();
    if (typed_.relative)
      text.time = TimeStamp::Relative;
    else if (typed_.time == 1)
      text.time = TimeStamp::Seconds;
    else if (typed_.time == 2)
      text.time = TimeStamp::Microseconds;
    else if (typed_.time > 2)
      text.time = TimeStamp::Epoch;
    text.nanoseconds = typed_.nanoseconds;
    text.durations = typed_.durations;
    text.instruction_pointer = typed_.instruction_pointer;
    const bool whole = typed_.whole_lines || (to_file && !typed_.split_lines && !ltrace_);
    text.form = whole ? LineForm::Whole : LineForm::Split;
    // LTRACE: in a file the pids also stand there with -p.
    text.pid_prefix = typed_.follow || (ltrace_ && to_file && !typed_.attach.empty());
    text.brackets = !to_file;
    text.thread_after_time = !typed_.follow && !ltrace_;
    text.signals = !typed_.no_signals;
    text.ltrace = ltrace_;
    text.closing_lines = !typed_.quiet && !ltrace_;
    if (typed_.sample) read_number("--sample", typed_.sample, 1, kAnyNumber, text.sample);
    if (ltrace_) text.thin_after = 0;
    if (typed_.thin_after) {
      const auto size = parse_size(*typed_.thin_after);
      if (size)
        text.thin_after = *size;
      else
        fail(failed(fmt::format("--thin-after '{}': not a size; give bytes, or a number with K, M, "
                                "G or T behind it, as 100M; 0 for never",
                                *typed_.thin_after)));
    }
    if (const auto least = duration("--min-time", typed_.min_time))
      text.min_time_ns = static_cast<std::uint64_t>(least->count());
    read_demangle();
  }

  void read_output() {
    options_.output = typed_.output.value_or("");
    if (typed_.output && typed_.output->empty())
      fail(ltrace_ ? Reply{"can't open  for writing: No such file or directory\n", 1}
                   : failed("-o '': needs the name of a file"));
    const std::string format = typed_.output_format.value_or("text");
    options_.json = format == "json";
    if (format != "text" && format != "json")
      fail(failed(
          fmt::format("--output-format '{}': no such format; there are text, json", format)));
  }

  void read_demangle() {
    const std::string& typed = typed_.demangle;
    if (typed.empty()) {
      options_.text.demangle = ltrace_ ? DemangleStyle::None : DemangleStyle::Short;
    } else if (typed == "true" || typed == "full") {
      options_.text.demangle = DemangleStyle::Full;
    } else if (typed == "short") {
      options_.text.demangle = DemangleStyle::Short;
    } else if (typed == "none") {
      options_.text.demangle = DemangleStyle::None;
    } else {
      fail(
          failed(fmt::format("--demangle '{}': no such form; there are short, full, none", typed)));
    }
  }

  void check_combinations() {
    if (typed_.no_default && !typed_.calls.empty())
      fail(ltrace_ ? failed_as_ltrace(name_, "Option -L can't be used with -e or -l.")
                   : failed("-L with -e: -L asks for no calls by a filter, -e for some; leave one "
                            "of them out"));
    if (typed_.relative && typed_.time > 0)
      fail(ltrace_ ? failed_as_ltrace(name_, "Options -r and -t can't be used together")
                   : failed("-r with -t: there is room for one time before a line; leave one of "
                            "them out"));
    if (typed_.split_lines && typed_.whole_lines)
      fail(failed("--split-lines with --whole-lines: leave one of them out"));
    if (options_.session.command.empty() && typed_.attach.empty() && !typed_.match &&
        !typed_.doctor && !typed_.list_prototypes)
      fail(ltrace_ ? failed_as_ltrace(name_, "too few arguments")
                   : failed("nothing to trace: give a command to run, or -p PID to attach; see "
                            "sonictrace --help"));
  }

  void read_selectors() {
    SelectorOptions& selectors = options_.session.selectors;
    selectors.calls = typed_.calls;
    selectors.libraries = typed_.libraries;
    selectors.entries = typed_.entries;
    selectors.no_default = typed_.no_default;
    selectors.ltrace = ltrace_;
    // The session compiles them again; here an error ends it before anything is started.
    const auto set = SelectorSet::parse(selectors);
    if (!set) return fail(failed(set.error().message()));
    // With -S -L nobody need look at the modules.
    if (typed_.system_calls)
      options_.session.library_calls =
          set->uses_default() || set->has_call_rules() || set->has_entry_rules();
    read_window("--start-on", typed_.start_on, options_.session.start_on);
    read_window("--stop-on", typed_.stop_on, options_.session.stop_on);
    options_.text.show_caller = typed_.caller || set->shows_caller();
    options_.warnings = set->warnings();
  }

  void read_window(const char* option, const std::optional<std::string>& typed, std::string& into) {
    if (!typed) return;
    into = *typed;
    if (typed->empty())
      return fail(failed(fmt::format("{} '': selects no call; give a filter as for -e", option)));
    SelectorOptions filter;
    filter.calls = {*typed};
    const auto set = SelectorSet::parse(filter);
    if (set) return;
    std::string why = set.error().message();
    if (why.starts_with("-e ")) why = option + why.substr(2);
    fail(failed(why));
  }

  /// What the engine is to know of the form that the log will have.
  void set_recording() {
    using Form = RecordingOptions::Form;
    const TextOptions& text = options_.text;
    RecordingOptions& recording = options_.session.recording;
    if (options_.count)
      recording.form = Form::Count;
    else if (options_.json || text.form == LineForm::Whole)
      recording.form = Form::Whole;
    recording.percentiles = options_.percentiles;
    recording.thins = recording.form == Form::Whole && !options_.json && text.thin_after != 0;
    recording.min_time_ns = text.min_time_ns;
    recording.max_depth = text.max_depth;
    recording.sample = text.sample;
    if (options_.interval)
      recording.interval_ns = static_cast<std::uint64_t>(options_.interval->count());
  }

  static constexpr std::int64_t kMostIndent = 20;

  const TypedOptions& typed_;
  std::string_view name_;
  bool ltrace_;
  TraceOptions options_;
  std::optional<Reply> reply_;
};

std::string help_text(const CLI::App& app) {
  return "Usage: sonictrace [OPTION...] [--] COMMAND [ARG...]\n"
         "       sonictrace [OPTION...] -p PID [-p PID...]\n"
         "Trace the calls that a program makes to functions of shared libraries.\n" +
         options_text(app) +
         "\nOptions for COMMAND follow it. The filters, with examples: man sonictrace\n";
}

} // namespace

Terminal Terminal::of_this_process() {
  Terminal terminal;
  terminal.columns = std::getenv("COLUMNS");
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (terminal.width == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  }
  return terminal;
}

unsigned Terminal::default_align() const {
  constexpr unsigned kWithoutTerminal = 50;
  std::int64_t total = width;
  if (columns != nullptr) total = parse_integer(columns).value_or(0);
  if (total <= 0) return kWithoutTerminal;
  return static_cast<unsigned>(std::min(total, kMostColumns) * 5 / 8);
}

std::variant<TraceOptions, Reply> parse_trace_options(std::span<const char* const> arguments,
                                                      const Terminal& terminal) {
  const std::string_view name = arguments.empty() ? "sonictrace" : arguments.front();
  CLI::App app;
  TypedOptions typed;
  typed.add_to(app);

  Arguments split = Arguments::split(app, arguments.empty() ? arguments : arguments.subspan(1));
  const bool ltrace =
      name.substr(name.rfind('/') + 1) == "ltrace" ||
      std::find(split.options.begin(), split.options.end(), "--ltrace") != split.options.end();
  if (split.fault != Arguments::Fault::None)
    return ltrace ? refused_as_ltrace(name, split) : refused(split);

  std::reverse(split.options.begin(), split.options.end()); // CLI11 takes them from the back
  try {
    app.parse(std::move(split.options));
  } catch (const CLI::Error& error) { return failed(error.what()); }
  if (typed.help) return Reply{help_text(app), 0};
  if (typed.version) return Reply{version_text(), 0};
  return Reader(typed, name, ltrace).read(std::move(split.command), terminal);
}

} // namespace sonictrace
