#include "sonicreport/common_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "sonicreport/command.hpp"
#include "sonictrace/base/say.hpp"
#include "sonictrace/base/unique_fd.hpp"
#include "sonictrace/report/quantity.hpp"

namespace sonictrace::sonicreport {
namespace {

Result<void> write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("can't write " + name);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

} // namespace

void tell(std::string_view text) { say(STDERR_FILENO, fmt::format("sonicreport: {}\n", text)); }

void CommonOptions::add_to(CLI::App& app, const std::string& formats) {
  app.add_option("LOG", logs, "logs of sonictrace or ltrace: files, plain, .gz or .zst; - is stdin")
      ->required()
      ->type_name("");
  if (!formats.empty()) {
    std::istringstream words(formats);
    const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
    format = names.front();
    app.add_option("--format", format, "how it is written: " + formats)
        ->check(CLI::IsMember(names).description(""))
        ->type_name("FORMAT");
  }
  app.add_option("-o,--output", output, "a file instead of stdout")->type_name("FILE");
  app.add_option("--func", functions, "only functions that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--lib", libraries, "only functions of libraries that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--exclude", excluded, "no functions that the glob matches")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--tid,--pid", tid,
                 "only the thread of this number; a log does not tell processes from threads")
      ->type_name("N");
  app.add_option("--class", one_class, "only calls of this class: cpu, wait, io, mem")
      ->check(CLI::IsMember({"cpu", "wait", "io", "mem"}).description(""))
      ->type_name("CLASS");
  app.add_option("--window", window,
                 "only calls that began between two times: 0s:5s from the first line on, or "
                 "14:23:05:14:23:10")
      ->type_name("T0:T1");
  app.add_option("--min-time", min_time, "only calls that took at least as long: 100us, 5ms")
      ->type_name("DUR");
  app.add_flag("--demangle,!--no-demangle", demangle,
               "demangle names that the log has as they are in the symbol table");
  app.add_option("--jobs", jobs, "threads; the cores there are by default")->type_name("N");
  app.add_flag("--strict", strict, "a line that can't be used is a failure (exit status 3)");
  app.add_option("--min-coverage", min_coverage,
                 "part of the lines with a time that has to be used, or the exit status is 3; 0.99 "
                 "by default")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("PART");
}

Result<log::LogReader> CommonOptions::open(const std::string& path, bool keep_arguments) const {
  log::ReaderOptions options;
  options.jobs = jobs == 0 ? log::usable_cores() : std::min(jobs, 64U);
  options.keep_arguments = keep_arguments;
  return log::LogReader::open(path, options);
}

Result<report::FilterOptions> CommonOptions::filter() const {
  report::FilterOptions filter;
  filter.functions = functions;
  filter.libraries = libraries;
  filter.excluded = excluded;
  filter.tid = tid;
  if (!one_class.empty()) filter.one_class = report::parse_call_class(one_class);
  filter.window = window;
  if (!min_time.empty()) {
    const auto ns = report::parse_duration_ns(min_time);
    if (!ns)
      return Error::saying(fmt::format("--min-time '{}': not a time like 100us or 5ms", min_time));
    filter.min_time_ns = *ns;
  }
  return filter;
}

int CommonOptions::judge(const std::string& name, const log::Accounting& account,
                         int status) const {
  if (strict && account.skipped + account.unmatched > 0) {
    tell(fmt::format("{}: {} lines could not be used (--strict)", name,
                     account.skipped + account.unmatched));
    return kPoorCoverage;
  }
  if (account.coverage() < min_coverage) {
    tell(fmt::format("{}: only {:.1f} % of the lines that end in a time could be used, less than "
                     "--min-coverage {}",
                     name, 100 * account.coverage(), min_coverage));
    return kPoorCoverage;
  }
  return status;
}

Result<void> CommonOptions::write(std::string_view text) const {
  if (output.empty()) return write_all(STDOUT_FILENO, text, "standard output");
  const UniqueFd fd(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) return Error::from_errno("can't write " + output);
  return write_all(fd.get(), text, output);
}

} // namespace sonictrace::sonicreport
