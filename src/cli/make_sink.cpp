#include "cli/make_sink.hpp"

#include <unistd.h>

#include "sonictrace/sink/status_line.hpp"

namespace sonictrace {

Result<MadeSink> make_sink(const TraceOptions& options) {
  const bool to_file = !options.output.empty();
  UniqueFd fd;
  if (to_file) {
    auto file = open_log(options.output);
    if (!file) return std::move(file).error();
    fd = *std::move(file);
  } else {
    fd = UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return Error::from_errno("can't write to stderr; use -o FILE");
  }
  // Whoever reads a log on stderr, or ltrace's line-buffered one, looks on while it is written.
  const auto buffering =
      to_file && !options.text.ltrace ? Buffering::Blocks : Buffering::Immediate;
  auto text = std::make_unique<TextSink>(
      Writer(std::move(fd), buffering, to_file ? options.output : "stderr"), options.text, to_file);
  MadeSink made;
  made.text = text.get();
  made.sink = std::move(text);
  const bool watched = to_file && !options.quiet && !options.text.ltrace;
  if (watched && ::isatty(STDERR_FILENO) == 1)
    made.sink = std::make_unique<StatusLine>(std::move(made.sink), STDERR_FILENO);
  return made;
}

} // namespace sonictrace
