#include "cli/make_sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <utility>

#include "sonictrace/sink/count_sink.hpp"
#include "sonictrace/sink/json_sink.hpp"
#include "sonictrace/sink/status_line.hpp"

namespace sonictrace {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

/// `tracing system calls of 12345 (python3), 12346 (python3)`; empty where no process is attached.
std::string banner(const SessionOptions& session) {
  if (session.attach.empty()) return {};
  const bool only_system_calls = session.system_calls && !session.library_calls;
  std::string text = only_system_calls ? "tracing system calls of " : "tracing ";
  for (const pid_t pid : session.attach) {
    if (pid != session.attach.front()) text += ", ";
    text += std::to_string(pid);
    std::string name; // none: it will turn out soon that there is no such process
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    if (std::getline(comm, name)) text += " (" + name + ")";
  }
  return text;
}

Result<Writer> make_writer(const TraceOptions& options) {
  if (options.output.empty()) {
    const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      return Error::saying("can't write to stderr; use -o FILE");
    UniqueFd fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return Error::from_errno("can't write to stderr; use -o FILE");
    return Writer(std::move(fd), Buffering::Immediate, "the log to stderr");
  }
  auto file = open_log(options.output);
  if (!file) {
    if (options.text.ltrace) return std::move(file).error();
    return Error::saying(file.error().message() + "; name another file with -o");
  }
  // Whoever reads ltrace's line-buffered log looks on while it is written.
  if (options.text.ltrace) return Writer(*std::move(file), Buffering::Immediate, options.output);
  return Writer(*std::move(file), Buffering::Background, options.output,
                compression_of(options.output));
}

CountOptions count_options(const TraceOptions& options) {
  CountOptions count;
  count.percentiles = options.percentiles;
  if (options.interval) count.interval_ns = static_cast<std::uint64_t>(options.interval->count());
  count.json = options.json;
  count.demangle = options.text.demangle;
  count.min_time_ns = options.text.min_time_ns;
  count.max_depth = options.text.max_depth;
  count.ltrace = options.text.ltrace;
  count.closing_lines = options.text.closing_lines;
  count.host = host_name();
  if (count.closing_lines) count.banner = banner(options.session);
  return count;
}

JsonOptions json_options(const TraceOptions& options) {
  const TextOptions& text = options.text;
  JsonOptions json;
  json.host = host_name();
  json.string_limit = text.string_limit;
  json.whole_paths = text.whole_paths;
  json.demangle = text.demangle;
  json.signals = text.signals;
  json.min_time_ns = text.min_time_ns;
  json.max_depth = text.max_depth;
  json.sample = text.sample;
  json.summary = text.closing_lines;
  if (json.summary) json.banner = banner(options.session);
  return json;
}

TextOptions text_options(const TraceOptions& options) {
  TextOptions text = options.text;
  // Without system calls, the log has the form it always had.
  if (text.closing_lines && options.session.system_calls) text.banner = banner(options.session);
  return text;
}

/// `made` is to hold a sink of this kind.
template <class Kind>
Kind* put(MadeSink& made, std::unique_ptr<Kind> sink) {
  Kind* const kind = sink.get();
  made.closing_line = &kind->closing_line();
  made.sink = std::move(sink);
  return kind;
}

} // namespace

Result<MadeSink> make_sink(const TraceOptions& options) {
  const bool to_file = !options.output.empty();
  auto writer = make_writer(options);
  if (!writer) return std::move(writer).error();
  MadeSink made;
  if (options.count) {
    put(made, std::make_unique<CountSink>(*std::move(writer), count_options(options)));
  } else if (options.json) {
    put(made, std::make_unique<JsonSink>(*std::move(writer), json_options(options)));
  } else {
    made.text =
        put(made, std::make_unique<TextSink>(*std::move(writer), text_options(options), to_file));
  }
  const bool watched = to_file && !options.quiet && !options.text.ltrace;
  if (watched && ::isatty(STDERR_FILENO) == 1)
    made.sink = std::make_unique<StatusLine>(std::move(made.sink), STDERR_FILENO);
  return made;
}

} // namespace sonictrace
